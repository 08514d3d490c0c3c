/** Stretches: what the model said between two inputs of a request, piece by piece, with the thoughts among it. */

import { idMark, memberMark, type ThoughtMarks, thoughtMarks } from "./answer.ts";
import { type Atom, Chain, type Keys } from "./chain.ts";
import type { Mark, ModelPiece, Piece, ThoughtPiece } from "./piece.ts";
import { weightOf } from "./piece.ts";
import { isUnmistakableId } from "./unmistakable-id.ts";

/** A thought that a client sent. Its hashes are made once, with the request that brought it. */
export interface PlacedThought extends ThoughtMarks {
  readonly piece: ThoughtPiece;
  /** The hash of its id; empty if it has none. */
  readonly id: string;
  /** The index of the atom of its stretch that follows it. */
  readonly before: number;
}

export interface Stretch {
  readonly atoms: readonly Atom[];
  readonly thoughts: readonly PlacedThought[];
}

/** A request as stretches, and the place of the answer to it. It grows with the conversation. */
export interface Reading {
  readonly stretches: readonly Stretch[];
  readonly end: Keys;
}

interface OpenStretch {
  readonly atoms: Atom[];
  readonly thoughts: PlacedThought[];
}

/** Reads pieces in order. A copy goes on independently, so a known beginning is read once. */
export class Reader {
  readonly #chain: Chain;
  readonly #stretches: Stretch[];
  #open: OpenStretch | undefined;
  #weight = 0;
  #given = 0;

  readonly #mark: Mark;

  constructor(mark: Mark, chain: Chain, stretches: readonly Stretch[] = []) {
    this.#mark = mark;
    this.#chain = chain;
    this.#stretches = [...stretches];
  }

  static from(mark: Mark, place = ""): Reader {
    return new Reader(mark, new Chain(mark, place));
  }

  /** Undefined in the middle of a stretch. */
  copy(): Reader | undefined {
    if (this.#open !== undefined) return undefined;
    const copy = new Reader(this.#mark, this.#chain.copy(), this.#stretches);
    copy.#weight = this.#weight;
    copy.#given = this.#given;
    return copy;
  }

  push(piece: Piece): void {
    if (piece.kind === "input" || piece.kind === "result") {
      this.#close();
      // What the loose place is made of: a clock in every message makes nothing heavier.
      if (piece.kind === "input") this.#given += piece.gist.length;
      this.#chain.push(piece);
      return;
    }
    this.#open ??= { atoms: [], thoughts: [] };
    if (piece.kind === "thought") {
      const { id } = piece;
      this.#open.thoughts.push({
        piece,
        before: this.#open.atoms.length,
        id: id === undefined ? "" : idMark(this.#mark, id),
        ...thoughtMarks(piece, this.#mark),
      });
      return;
    }
    const atom = this.#atom(piece);
    this.#weight += atom.weight;
    this.#open.atoms.push(atom);
    this.#chain.push(piece);
  }

  #atom(piece: ModelPiece): Atom {
    const ids = [piece.id, piece.kind === "call" ? piece.callId : undefined];
    return {
      piece,
      keys: this.#chain.keys(),
      mark: memberMark(this.#mark, piece.kind, piece.text),
      ids: ids.flatMap((id) => (id !== undefined && isUnmistakableId(id) ? [idMark(this.#mark, id)] : [])),
      weight: weightOf(piece),
      spineWeight: this.#weight,
      historyWeight: this.#weight + this.#given,
    };
  }

  read(): Reading {
    const open = this.#open;
    return {
      stretches: open === undefined ? [...this.#stretches] : [...this.#stretches, open],
      end: this.#chain.keys(),
    };
  }

  #close(): void {
    if (this.#open !== undefined) this.#stretches.push(this.#open);
    this.#open = undefined;
  }
}
