/**
 * Infers which items belong to one response, because a foreign history does not say. Consecutive items of the model, up to
 * an input or an output, count as one response if a thought is among them. The API accepts a thought with its id followed by
 * a call without one (failures.md law 1), and the AI SDK sends that. It refuses a thought without its id next to items with
 * ids (P05). Only in that case do the rules get the group.
 */

import { isOutputType } from "../../../runtime/rules/index.ts";
import type { Piece } from "../history.ts";
import { textMember } from "../json-text.ts";

export function inferGroups(pieces: readonly Piece[]): readonly Piece[] {
  const runs: (string | undefined)[] = pieces.map(() => undefined);
  const uneven = new Set<string>();
  let start = 0;
  for (let at = 0; at <= pieces.length; at += 1) {
    const piece = pieces[at];
    if (piece !== undefined && isMade(piece.text)) continue;
    const run = pieces.slice(start, at);
    const thoughts = run.filter(({ text }) => textMember(text, "type") === "reasoning");
    if (thoughts.length > 0) {
      for (let index = start; index < at; index += 1) runs[index] = `run ${start}`;
      if (thoughts.some(({ text }) => textMember(text, "id") === undefined)) uneven.add(`run ${start}`);
    }
    start = at + 1;
  }
  return pieces.map((piece, index) => {
    const run = runs[index];
    if (run === undefined) return piece;
    return uneven.has(run) ? { ...piece, run, context: { ...piece.context, group: run } } : { ...piece, run };
  });
}

/** Whether the model or the provider made the item. A reference is neither: it may stand for anything. */
export function isMade(text: string): boolean {
  const role = textMember(text, "role");
  const type = textMember(text, "type") ?? "message";
  return type === "message" ? role === "assistant" : !isOutputType(type) && !GIVEN.has(type);
}

/** Items that the client makes, besides messages and the outputs of calls. */
const GIVEN: ReadonlySet<string> = new Set([
  "item_reference",
  "computer_call_output",
  "mcp_approval_response",
  "additional_tools",
  "configuration_update",
  "compaction_trigger",
]);
