/** What a person or a program said, the same in every dialect. */

import { contentText, gistOf } from "./canonical-text.ts";
import type { InputPiece, Spot } from "./piece.ts";

export function inputPiece(at: Spot, role: string, content: unknown): InputPiece {
  return { kind: "input", at, role, text: contentText(content), gist: gistOf(content) };
}
