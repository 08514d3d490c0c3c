/**
 * A request or an answer as pieces. The same functions read both, streamed or not, so an answer and the history that a
 * client makes of it have equal marks. Only what a client cannot lose without losing the conversation is in a mark:
 * ids, statuses, annotations, cache marks and thoughts are not (ADR 0026).
 */

/** A keyed hash. Without its secret, nobody can guess a text from its mark. */
export type Mark = (text: string) => string;

/** The place of a piece: an element of `input` or `messages`, and a block or call in it. */
export interface Spot {
  readonly element: number;
  readonly part?: number | undefined;
}

/** Words of a person or a program: a user or system message. */
export interface InputPiece {
  readonly kind: "input";
  readonly at: Spot;
  readonly role: string;
  readonly text: string;
  /** Its first line, without what clients put in anew with every request. */
  readonly gist: string;
}

export interface ResultPiece {
  readonly kind: "result";
  readonly at: Spot;
  readonly callId: string;
  readonly text: string;
}

export interface TextPiece {
  readonly kind: "text";
  readonly at: Spot;
  readonly text: string;
  readonly id?: string | undefined;
}

/** `text` is the name and the arguments, written so that spaces, escapes and key order do not matter. */
export interface CallPiece {
  readonly kind: "call";
  readonly at: Spot;
  readonly text: string;
  readonly weight: number;
  readonly callId: string;
  readonly id?: string | undefined;
}

/**
 * What gets lost: reasoning, a compaction, an item that the provider ran itself. `identity` is what only the provider can
 * have made: a payload or a signature. `words` are readable.
 */
export interface ThoughtPiece {
  readonly kind: "thought";
  readonly at: Spot;
  /** The type of the item or block, or the field of the message. */
  readonly form: string;
  readonly id?: string | undefined;
  readonly identity: string;
  /** Payloads and signatures in it, if it is a list: a client may have kept some of them. */
  readonly payloads?: readonly string[] | undefined;
  readonly words: string;
}

export type ModelPiece = TextPiece | CallPiece;
export type VisiblePiece = InputPiece | ResultPiece | ModelPiece;
export type Piece = VisiblePiece | ThoughtPiece;

export function weightOf(piece: ModelPiece): number {
  return piece.kind === "call" ? piece.weight : piece.text.length;
}
