/**
 * Reads a history of any known format as entries, so that a session can be made from it. Refuses a file that is damaged
 * or of a version that this program does not know: half a history would look like a whole one.
 */

import {
  checkArgument,
  codedError,
  isObject,
  sliceArray,
  sliceMember,
  stringOf,
  tryParseJson,
} from "../../../base/support/index.ts";
import { openHistory } from "../formats/index.ts";
import { aFormat, FORMATS, type FormatName } from "../formats/names.ts";
import type { History } from "../history.ts";
import { textMember } from "../json-text.ts";
import { readAgentsSdk } from "./agents-sdk.ts";
import { isAiSdk4, readAiSdkModel, readAiSdkUi } from "./ai-sdk.ts";
import { readClaudeCode } from "./claude-code.ts";
import { readCodex } from "./codex.ts";
import { type EntryList, type HistoryEntry, LeftOutList } from "./entry.ts";
import { ItemReader } from "./from-items.ts";
import { chatEntries, claudeEntries } from "./from-messages.ts";
import { readLangchain } from "./langchain.ts";
import { readPi, unknownPiVersion } from "./pi.ts";

/** A history of another tool, read whole. */
export interface ReadHistory {
  readonly format: FormatName;
  /** The version that the file states. */
  readonly version?: string | undefined;
  readonly entries: readonly HistoryEntry[];
  readonly title?: string | undefined;
  /** The working directory that the file names. */
  readonly cwd?: string | undefined;
  /** What of the file is not among the entries, each with its number: `2 system messages`. */
  readonly leftOut: readonly string[];
}

const READ: Readonly<Record<FormatName, (text: string, left: LeftOutList, history: History) => EntryList>> = {
  responses: readResponses,
  messages: (text, left, history) => ({
    entries: claudeEntries(
      elementsOf(history),
      { provider: "anthropic", model: modelOf(history) },
      headLeft(history, left),
    ),
  }),
  chat: (text, left, history) => ({
    entries: chatEntries(elementsOf(history), { model: modelOf(history) }, headLeft(history, left)),
  }),
  "codex-rollout": readCodex,
  "pi-session": readPi,
  "claude-code": readClaudeCode,
  "ai-sdk-ui": readAiSdkUi,
  "ai-sdk-model": readAiSdkModel,
  langchain: readLangchain,
  "agents-sdk": readAgentsSdk,
};

/**
 * Reads a history as entries: messages, answers with the exact JSON of their items, results, and cuts. Throws
 * `input_invalid`, `history_damaged` or `history_version_unknown`.
 */
export function readHistory(content: string | Uint8Array, format?: FormatName): ReadHistory {
  if (format !== undefined) checkArgument("readHistory", "format", format, aFormat);
  const history = openHistory(content, format);
  const { text, version, damage } = history;
  const [first] = damage;
  if (first !== undefined)
    throw codedError(
      "history_damaged",
      `${first.where}: ${first.problem}${damage.length === 1 ? "" : `, and ${damage.length - 1} more`}. The file may be cut off`,
    );
  const unknown = unknownVersion(history.format, text);
  if (unknown !== undefined)
    throw codedError(
      "history_version_unknown",
      `${FORMATS[history.format]}: this version does not know ${unknown}`,
    );
  const left = new LeftOutList();
  const { entries, title, cwd } = READ[history.format](text, left, history);
  if (!entries.some(({ kind }) => kind === "user" || kind === "answer"))
    throw codedError("input_invalid", "the history has no message and no answer");
  return { format: history.format, version, entries, title, cwd, leftOut: left.names };
}

function unknownVersion(format: FormatName, text: string): string | undefined {
  if (format === "pi-session") {
    const version = unknownPiVersion(text);
    return version === undefined ? undefined : `its version ${version}`;
  }
  if (format === "ai-sdk-ui" && isAiSdk4(text))
    return "messages of version 4. Convert them with the AI SDK first";
  return undefined;
}

function elementsOf({ pieces }: History): readonly string[] {
  return pieces.map(({ text }) => text);
}

function modelOf({ head }: History): string | undefined {
  return head === undefined ? undefined : textMember(head, "model");
}

/** The instructions of a request belong to the program that made it. */
function headLeft({ head = "{}" }: History, left: LeftOutList): LeftOutList {
  for (const name of ["instructions", "system"]) {
    const value = sliceMember(head, name);
    if (value !== undefined && value !== "null" && value !== '""')
      left.add("system prompt", "system prompts");
  }
  left.add("tool definition", "tool definitions", sliceArray(sliceMember(head, "tools") ?? "").length);
  for (const name of ["previous_response_id", "conversation"])
    if ((textMember(head, name) ?? "") !== "" || isObject(tryParseJson(sliceMember(head, name) ?? "")))
      left.add("conversation that only the server has", "conversations that only the server has");
  return left;
}

function readResponses(text: string, left: LeftOutList, history: History): EntryList {
  const reader = new ItemReader(headLeft(history, left));
  // A plain string is a message of the user.
  const said = stringOf(tryParseJson(sliceMember(text.trim(), "input") ?? "null"));
  if (said !== undefined) reader.add({ text: JSON.stringify({ role: "user", content: said }) });
  const model = modelOf(history);
  for (const item of elementsOf(history)) reader.add({ text: item, provider: "openai", model });
  reader.end();
  return { entries: reader.entries };
}
