/** Opens a history: detects its format and reads it. */

import { isObject, messageOf, tryParseJson, codedError } from "../../../base/support/index.ts";
import type { History } from "../history.ts";
import { openAgentsSdk } from "./agents-sdk.ts";
import { openAiSdkModel } from "./ai-sdk-model.ts";
import { openAiSdkUi } from "./ai-sdk-ui.ts";
import { openClaudeCode } from "./claude-code.ts";
import { openCodexRollout } from "./codex-rollout.ts";
import { detectFormat } from "./detect.ts";
import { openLangchain } from "./langchain.ts";
import type { FormatName } from "./names.ts";
import { openPiSession } from "./pi-session.ts";
import { openRaw } from "./raw.ts";
import { readText } from "./read-text.ts";

const OPEN: Readonly<Record<FormatName, (text: string) => History>> = {
  responses: (text) => openRaw(text, "responses"),
  messages: (text) => openRaw(text, "messages"),
  chat: (text) => openRaw(text, "chat"),
  "codex-rollout": openCodexRollout,
  "pi-session": openPiSession,
  "claude-code": openClaudeCode,
  "ai-sdk-ui": openAiSdkUi,
  "ai-sdk-model": openAiSdkModel,
  langchain: openLangchain,
  "agents-sdk": openAgentsSdk,
};

export interface OpenedHistory extends History {
  /** The whole file as text. */
  readonly text: string;
}

export function openHistory(content: string | Uint8Array, format?: FormatName): OpenedHistory {
  const text = readText(content);
  const name = format ?? detectFormat(text);
  if (name === undefined) {
    assertJson(text);
    throw codedError(
      "input_invalid",
      "not a history of a known format. Name the format with --format, or give a request body or its array of items or messages",
    );
  }
  return { ...OPEN[name](text), text };
}

/** Throws for a file that is cut off or not JSON at all. In a file of lines, at least one line parses. */
function assertJson(text: string): void {
  if (text.split("\n", 50).some((line) => isObject(tryParseJson(line)))) return;
  let problem: string;
  try {
    JSON.parse(text);
    return;
  } catch (error) {
    problem = messageOf(error); // it may quote the file, so only the position is used
  }
  const end = text.trimEnd().length;
  const told = /at position (\d+)/.exec(problem)?.[1];
  const at = told === undefined ? undefined : Number(told);
  const cut = problem.includes("end of JSON input") || problem.includes("Unterminated") || (at ?? 0) >= end;
  const before = text.slice(0, cut ? end : at).split("\n");
  const where = `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
  throw codedError(
    "input_invalid",
    cut
      ? `the JSON is incomplete: it ends at ${where}, in the middle of a value. Copy or export the file again`
      : `it is not JSON${at === undefined ? "" : ` (${where})`}: give a history, or a request body`,
  );
}
