/**
 * Applies edits to a list of pieces, as far as it is the same in every dialect. A dialect says how it writes parts, ids and
 * results, and where a result goes.
 */

import type { Edit, Spot } from "./history.ts";
import { atPath, exchanged, type Path, withMember, withoutMember } from "./json-text.ts";

/** The result for a piece: an element of the file, changed or not, or a new one. */
export interface Slot {
  /** The index of the element it was made from; undefined if it is new. */
  readonly element: number | undefined;
  readonly text: string;
}

export interface PieceWords {
  /** The member that holds the parts of a piece, if pieces have parts. */
  readonly parts?: string;
  readonly message: (role: string, text: string) => string;
  readonly callIdPath: (text: string, part: number | undefined) => Path;
  /** The path of the tool's name in a call or a result. */
  readonly toolNamePath: (text: string, part: number | undefined) => Path;
  /** Default: removes the member. */
  readonly stripped?: (text: string, field: string) => string;
  /** Gives the call at this place a constant result. */
  readonly close: (list: PieceList, at: Spot) => void;
  readonly move: (list: PieceList, at: Spot, behind: number) => void;
  /** Returns a piece with all edits applied and without these parts; undefined if nothing is left of it. */
  readonly finished?: (text: string, index: number, dropped: ReadonlySet<number>) => string | undefined;
  /** New pieces directly after one. */
  readonly behind?: (index: number) => readonly string[];
}

export class PieceList {
  readonly #old: readonly Slot[];
  readonly #now: (Slot | undefined)[];
  readonly #added = new Map<number, Slot[]>();
  readonly #droppedParts = new Map<number, Set<number>>();

  constructor(slots: readonly Slot[]) {
    this.#old = slots;
    this.#now = [...slots];
  }

  /** The piece before the edits; empty if there is none. */
  old(index: number): string {
    return this.#old[index]?.text ?? "";
  }

  now(index: number): string {
    return this.#now[index]?.text ?? "";
  }

  change(index: number, make: (text: string) => string): void {
    const slot = this.#now[index];
    if (slot !== undefined) this.#now[index] = { ...slot, text: make(slot.text) };
  }

  drop({ index, part }: Spot): void {
    if (part === undefined) this.#now[index] = undefined;
    else this.#droppedParts.set(index, (this.#droppedParts.get(index) ?? new Set()).add(part));
  }

  /** Before the piece with that index. */
  add(before: number, text: string): void {
    this.#put(before, { element: undefined, text });
  }

  move(index: number, before: number): void {
    const slot = this.#now[index];
    this.#now[index] = undefined;
    if (slot !== undefined) this.#put(before, slot);
  }

  #put(before: number, slot: Slot): void {
    this.#added.set(before, [...(this.#added.get(before) ?? []), slot]);
  }

  slots({ finished, behind }: PieceWords): readonly Slot[] {
    return [...this.#now, undefined].flatMap((slot, index) => {
      const dropped = this.#droppedParts.get(index) ?? new Set();
      const text = slot && (finished === undefined ? slot.text : finished(slot.text, index, dropped));
      const own = slot === undefined || text === undefined ? [] : [{ ...slot, text }];
      const more = (behind?.(index) ?? []).map((one) => ({ element: undefined, text: one }));
      return [...(this.#added.get(index) ?? []), ...own, ...more];
    });
  }
}

export function editPieces(
  slots: readonly Slot[],
  edits: readonly Edit[],
  words: PieceWords,
): readonly Slot[] {
  const list = new PieceList(slots);
  const partPath = (part: number | undefined): Path =>
    part === undefined || words.parts === undefined ? [] : [words.parts, part];
  for (const edit of edits) {
    if (edit.do === "add") list.add(edit.before, words.message(edit.role, edit.text));
    if (!("at" in edit)) continue;
    const { index, part } = edit.at;
    if (edit.do === "drop") list.drop(edit.at);
    else if (edit.do === "strip")
      list.change(index, (text) =>
        atPath(text, partPath(part), (old) => old && (words.stripped ?? withoutMember)(old, edit.field)),
      );
    else if (edit.do === "set")
      list.change(index, (text) =>
        part === undefined
          ? withMember(text, edit.field, edit.value)
          : atPath(text, [...partPath(part), ...edit.field.split(".")], () => edit.value),
      );
    else if (edit.do === "rename")
      list.change(index, (text) =>
        atPath(text, words.callIdPath(text, part), () => JSON.stringify(edit.callId)),
      );
    else if (edit.do === "name")
      list.change(index, (text) =>
        atPath(text, words.toolNamePath(text, part), exchanged(edit.from, edit.to)),
      );
    else if (edit.do === "close") words.close(list, edit.at);
    else words.move(list, edit.at, edit.behind);
  }
  return list.slots(words);
}
