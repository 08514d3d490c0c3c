/** A request or an answer as pieces, marks and chains: the same for every dialect (pure). */

export {
  type Answer,
  idMark,
  type IssuedThought,
  type Member,
  memberMark,
  readIssued,
  thoughtMarks,
} from "./answer.ts";
export { type Atom, type Keys } from "./chain.ts";
export { canonicalJson } from "./canonical-text.ts";
export type { Mark, ModelPiece, Piece, Spot, ThoughtPiece } from "./piece.ts";
export { readPieces } from "./read-pieces.ts";
export { isUnmistakableId } from "./unmistakable-id.ts";
export { type PlacedThought, Reader, type Reading, type Stretch } from "./stretch.ts";
