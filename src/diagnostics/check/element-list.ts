/**
 * A file as a list of elements (of a JSON array, or lines), where some are pieces of the history. Elements that are not
 * touched keep their exact text, and so does everything around them.
 *
 * @module
 */

import { sliceArray } from "../../base/support/index.ts";

/** What becomes of a piece: an element of the file, changed or not, or one that was not there before. */
export interface Slot {
  /** Index of the element it was made from; undefined: new. */
  readonly element: number | undefined;
  readonly text: string;
}

/** New slots and where they go: in front of the slot with that index. */
export class Additions {
  readonly #before = new Map<number, Slot[]>();

  push({ before, slot }: { readonly before: number; readonly slot: Slot }): void {
    this.#before.set(before, [...(this.#before.get(before) ?? []), slot]);
  }

  at(index: number): readonly Slot[] {
    return this.#before.get(index) ?? [];
  }
}

export interface ElementFile {
  readonly elements: readonly string[];
  /** The file again with other elements. */
  join(elements: readonly string[]): string;
}

/** A JSON array that begins at `start` of the text. The space between its elements is kept as it is at the first gap. */
export function arrayFile(text: string, array: string, start: number): ElementFile {
  const elements = sliceArray(array);
  const [first, second] = elements;
  const open = first === undefined ? "[" : array.slice(0, array.indexOf(first));
  const firstEnd = open.length + (first?.length ?? 0);
  const gap = second === undefined ? "," : array.slice(firstEnd, array.indexOf(second, firstEnd));
  const close = elements.length === 0 ? "]" : closing(array, elements.at(-1) ?? "");
  return {
    elements,
    join(changed) {
      const body = changed.length === 0 ? "[]" : `${open}${changed.join(gap)}${close}`;
      return `${text.slice(0, start)}${body}${text.slice(start + array.length)}`;
    },
  };
}

function closing(array: string, last: string): string {
  return array.slice(array.lastIndexOf(last) + last.length);
}

/** Lines, each ended as in the file; the last one as it was. */
export function lineFile(text: string): ElementFile {
  const end = text.endsWith("\n") ? "\n" : "";
  const lines = (end === "" ? text : text.slice(0, -1)).split("\n");
  return { elements: lines, join: (changed) => (changed.length === 0 ? "" : changed.join("\n") + end) };
}
