/**
 * A file as a list of elements: those of a JSON array, or lines. Some of them are pieces of the history. Unchanged
 * elements and everything around them keep their exact text.
 */

import { type JsonObject, sliceArray } from "../../base/support/index.ts";
import type { Damage } from "./history.ts";

export interface ElementFile {
  readonly elements: readonly string[];
  /** Returns the file with these elements. With unchanged elements it is the same text. */
  join(elements: readonly string[]): string;
}

/** A file whose elements are objects. */
export interface RecordFile extends ElementFile {
  /** Undefined if the element is empty or unreadable. */
  readonly values: readonly (JsonObject | undefined)[];
  readonly damage: readonly Damage[];
  /** The place of an element, for messages: `line 3`, `messages[2]`. */
  where(index: number): string;
  /** The file without its unreadable parts. */
  clean(): string;
}

function elementFile(
  text: string,
  elements: readonly string[],
  join: (changed: readonly string[]) => string,
): ElementFile {
  const isSame = (changed: readonly string[]): boolean =>
    changed.length === elements.length && changed.every((one, at) => one === elements[at]);
  return { elements, join: (changed) => (isSame(changed) ? text : join(changed)) };
}

/** A JSON array that begins at `start` of the text. All elements get the separator between the first two. */
export function arrayFile(text: string, array: string, start: number): ElementFile {
  const elements = sliceArray(array);
  const [first, second] = elements;
  const open = first === undefined ? "[" : array.slice(0, array.indexOf(first));
  const firstEnd = open.length + (first?.length ?? 0);
  const gap = second === undefined ? "," : array.slice(firstEnd, array.indexOf(second, firstEnd));
  const close = elements.length === 0 ? "]" : closing(array, elements.at(-1) ?? "");
  return elementFile(text, elements, (changed) => {
    const body = changed.length === 0 ? "[]" : `${open}${changed.join(gap)}${close}`;
    return `${text.slice(0, start)}${body}${text.slice(start + array.length)}`;
  });
}

function closing(array: string, last: string): string {
  return array.slice(array.lastIndexOf(last) + last.length);
}

/** Lines with the file's line ending. The last line keeps its own. */
export function lineFile(text: string): ElementFile {
  const end = text.endsWith("\n") ? "\n" : "";
  const lines = (end === "" ? text : text.slice(0, -1)).split("\n");
  return elementFile(text, lines, (changed) => (changed.length === 0 ? "" : changed.join("\n") + end));
}
