/**
 * Changes to the elements of a file, collected and then made at once; indexes are those of the file as it was.
 *
 * @module
 */

import type { ElementFile } from "./element-list.ts";

export class ElementEdits {
  readonly #file: ElementFile;
  readonly #elements: (string | undefined)[];
  readonly #added = new Map<number, string[]>();

  constructor(file: ElementFile) {
    this.#file = file;
    this.#elements = [...file.elements];
  }

  get(index: number): string | undefined {
    return this.#elements[index];
  }

  change(index: number, make: (text: string) => string): void {
    const text = this.#elements[index];
    if (text !== undefined) this.#elements[index] = make(text);
  }

  remove(index: number): void {
    this.#elements[index] = undefined;
  }

  addBehind(index: number, text: string): void {
    this.#added.set(index, [...(this.#added.get(index) ?? []), text]);
  }

  /** The very text of the file when nothing was changed. */
  text(unchanged: string): string {
    const elements = this.#elements.flatMap((text, index) => [
      ...(text === undefined ? [] : [text]),
      ...(this.#added.get(index) ?? []),
    ]);
    const { elements: old } = this.#file;
    if (elements.length === old.length && elements.every((text, index) => text === old[index]))
      return unchanged;
    return this.#file.join(elements);
  }
}
