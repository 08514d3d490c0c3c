/** Whether the next pieces of a stretch are the members of a group: all of them, in order, and nothing left out. */

import type { Group } from "../ledger/index.ts";
import { type Atom, type Mark, memberMark } from "../marks/index.ts";

/** A group whose members are these pieces. */
export interface Aligned {
  readonly group: Group;
  /** How many pieces of the stretch they are. */
  readonly count: number;
  /** For each member, the piece that begins it; -1 in the middle of texts that the client joined. */
  readonly positions: readonly number[];
}

export class Aligner {
  readonly #mark: Mark;

  constructor(mark: Mark) {
    this.#mark = mark;
  }

  /** The marks that a group could begin with here: of the first call, or of the first texts, joined one after another. */
  openings(atoms: readonly Atom[], from: number): readonly string[] {
    const first = atoms[from];
    if (first === undefined) return [];
    const marks = [first.mark];
    for (let end = from + 2; atoms[end - 1]?.piece.kind === "text" && first.piece.kind === "text"; end += 1)
      marks.push(this.#joined(atoms, from, end));
    return marks;
  }

  align(group: Group, atoms: readonly Atom[], from: number): Aligned | undefined {
    const { members } = group;
    const positions: number[] = [];
    let at = from;
    while (positions.length < members.length) {
      const member = members[positions.length];
      const atom = atoms[at];
      if (member === undefined || atom === undefined || atom.piece.kind !== member.kind) return undefined;
      if (member.kind === "call") {
        if (atom.mark !== member.mark) return undefined;
        positions.push(at);
        at += 1;
        continue;
      }
      const texts = this.#texts(group, positions.length, atoms, at);
      if (texts === undefined) return undefined;
      positions.push(...texts.positions);
      at = texts.end;
    }
    return { group, count: at - from, positions };
  }

  /** The texts in a row that begin with this member: one by one, or joined by the client. */
  #texts(
    { members }: Group,
    member: number,
    atoms: readonly Atom[],
    from: number,
  ): { readonly positions: readonly number[]; readonly end: number } | undefined {
    const positions: number[] = [];
    let at = from;
    let next = member;
    for (; members[next]?.kind === "text"; next += 1) {
      const end = this.#endOf(members[next]?.mark ?? "", atoms, at);
      if (end === undefined) break;
      positions.push(at);
      at = end;
    }
    if (members[next]?.kind !== "text") return { positions, end: at };
    const joined = members[member]?.joined;
    const end = joined === undefined ? undefined : this.#endOf(joined, atoms, from);
    if (end === undefined) return undefined;
    let count = 0;
    while (members[member + count]?.kind === "text") count += 1;
    return { positions: [from, ...Array.from({ length: count - 1 }, () => -1)], end };
  }

  /** Where the texts end that have this mark together. */
  #endOf(mark: string, atoms: readonly Atom[], from: number): number | undefined {
    for (let end = from + 1; atoms[end - 1]?.piece.kind === "text"; end += 1)
      if (this.#joined(atoms, from, end) === mark) return end;
    return undefined;
  }

  #joined(atoms: readonly Atom[], from: number, end: number): string {
    const [first] = atoms.slice(from, end);
    if (end === from + 1 && first !== undefined) return first.mark;
    const text = atoms.slice(from, end).map(({ piece }) => piece.text);
    return memberMark(this.#mark, "text", text.join(""));
  }
}
