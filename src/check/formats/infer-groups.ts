/**
 * A foreign history does not say which items one response made. Items the model made that stand together, up to an input or
 * an output, are taken for one response where there is a thought among them: ids and reasoning belong together there.
 *
 * @module
 */

import type { Piece } from "../history.ts";
import { isOutputType } from "../item-kinds.ts";
import { textMember } from "../json-text.ts";

export function inferGroups(pieces: readonly Piece[]): readonly Piece[] {
  const groups: (string | undefined)[] = pieces.map(() => undefined);
  let start = 0;
  for (let at = 0; at <= pieces.length; at += 1) {
    const piece = pieces[at];
    if (piece !== undefined && isMade(piece.text)) continue;
    const run = pieces.slice(start, at);
    if (run.some(({ text }) => textMember(text, "type") === "reasoning")) {
      for (let index = start; index < at; index += 1) groups[index] = `run ${start}`;
    }
    start = at + 1;
  }
  return pieces.map((piece, index) => {
    const group = groups[index];
    return group === undefined ? piece : { ...piece, context: { ...piece.context, group } };
  });
}

function isMade(text: string): boolean {
  const role = textMember(text, "role");
  const type = textMember(text, "type") ?? "message";
  return type === "message" ? role === "assistant" : !isOutputType(type) && type !== "item_reference";
}
