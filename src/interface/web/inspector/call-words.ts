/** What a call did and how it ended, in the words that every interface has for it. Pure. */

import type { McpToolName, ToolStatus } from "../../../base/events/index.ts";
import { type ToolTitle, toolTitle } from "../../fragments/index.ts";

interface Call {
  readonly name: string;
  readonly arguments: string;
  readonly mcp?: McpToolName | undefined;
}

interface Result {
  readonly status: ToolStatus;
  readonly text: string;
}

/** Returns "Read core/tsconfig.json" or, for an unknown tool, its name and first text argument. */
export function callTitle(call: Call): string {
  const { verb, subject } = titleOf(call, undefined);
  return subject === "" ? verb : `${verb} ${endOfPath(subject)}`;
}

/** The last two names of a path: enough to know the file again. */
function endOfPath(subject: string): string {
  return /^\S*\/\S+$/.test(subject) ? subject.split("/").slice(-2).join("/") : subject;
}

export function callFailed(call: Call, result: Result | undefined): boolean {
  return result !== undefined && titleOf(call, result).outcome !== "ok";
}

/** Returns "exit 3", "+1 −1", "12 lines", "denied". */
export function resultWords(call: Call, result: Result): string {
  const { facts } = titleOf(call, result);
  if (facts.length > 0) return facts.join(", ");
  const lines = result.text === "" ? 0 : result.text.replace(/\n$/, "").split("\n").length;
  return lines === 1 ? "1 line" : `${lines} lines`;
}

function titleOf({ name, arguments: text, mcp }: Call, result: Result | undefined): ToolTitle {
  return toolTitle({
    kind: "tool",
    id: "",
    generating: false,
    superseded: false,
    seq: undefined,
    callId: undefined,
    name,
    mcp,
    arguments: text,
    progress: "",
    startedAt: undefined,
    askedAt: undefined,
    waitedMs: 0,
    pausedMs: 0,
    pending: false,
    permission: undefined,
    result: result && { status: result.status, text: result.text, durationMs: undefined },
    cut: false,
  });
}
