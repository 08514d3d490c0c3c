/** Tool calls and their results (C07): all results of a message come first in the next one, each once. */

import { stringOf } from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import { repeatedResult, repeatedToolId, resultsMissing, unexpectedResult } from "../refusals.ts";
import type { LocatedBlock } from "./context.ts";

/** Neighbouring messages of one role, as the API joins them. */
export interface JoinedMessage {
  readonly role: string;
  /** The position of its first block in the row. */
  readonly start: number;
  readonly blocks: readonly LocatedBlock[];
}

export function joined(blocks: readonly LocatedBlock[]): readonly JoinedMessage[] {
  const all: { role: string; start: number; blocks: LocatedBlock[] }[] = [];
  for (const [position, block] of blocks.entries()) {
    const last = all.at(-1);
    if (last?.role === block.role) last.blocks.push(block);
    else all.push({ role: block.role, start: position, blocks: [block] });
  }
  return all;
}

export function* checkTools(messages: readonly JoinedMessage[]): Generator<ApiRefusal> {
  const used = new Set<string>();
  for (const [index, message] of messages.entries()) {
    for (const block of message.blocks) {
      if (block.type !== "tool_use") continue;
      const id = callId(block);
      if (used.has(id)) yield repeatedToolId(block.path);
      used.add(id);
    }
    const next = messages[index + 1];
    const calls = message.blocks.filter((block) => block.type === "tool_use");
    const answered = new Set(leadingResults(next).map(resultId));
    const open = calls.map(callId).filter((id) => !answered.has(id));
    const [first] = calls;
    if (first !== undefined && open.length > 0) yield resultsMissing(first.message, open);
    yield* checkResults(message, messages[index - 1]);
  }
}

function* checkResults(message: JoinedMessage, before: JoinedMessage | undefined): Generator<ApiRefusal> {
  const calls = new Set((before?.blocks ?? []).filter((one) => one.type === "tool_use").map(callId));
  const seen = new Set<string>();
  for (const block of message.blocks) {
    if (block.type !== "tool_result") continue;
    const id = resultId(block);
    if (!calls.has(id)) yield unexpectedResult(block.path, id);
    else if (seen.has(id)) yield repeatedResult(block.path, id);
    seen.add(id);
  }
}

/** Results count only at the beginning: text before them hides them. */
function leadingResults(message: JoinedMessage | undefined): readonly LocatedBlock[] {
  if (message === undefined) return [];
  const end = message.blocks.findIndex((block) => block.type !== "tool_result");
  return end === -1 ? message.blocks : message.blocks.slice(0, end);
}

function callId(block: LocatedBlock): string {
  return stringOf(block.block["id"]) ?? "";
}

function resultId(block: LocatedBlock): string {
  return stringOf(block.block["tool_use_id"]) ?? "";
}
