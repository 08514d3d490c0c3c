/**
 * Collects changes to the elements of a file and applies them at once. Indexes refer to the original file. If the elements
 * form a tree, each naming its parent, removing or inserting one keeps the chain intact.
 */

import { type JsonObject, stringOf } from "../../base/support/index.ts";
import type { RecordFile } from "./element-list.ts";
import { atPath, exchanged, type Path, withMember } from "./json-text.ts";

export interface LinkNames {
  readonly id: string;
  readonly parent: string;
}

export class RecordEdits {
  readonly #file: RecordFile;
  readonly #links: LinkNames | undefined;
  readonly #elements: (string | undefined)[];
  readonly #added = new Map<number, string[]>();
  /** The new parent of an element's children, by the element's id. */
  readonly #parents = new Map<string, string | undefined>();

  constructor(file: RecordFile, links?: LinkNames) {
    this.#file = file;
    this.#links = links;
    this.#elements = [...file.elements];
  }

  get(index: number): string | undefined {
    return this.#elements[index];
  }

  change(index: number, make: (text: string) => string): void {
    const text = this.#elements[index];
    if (text !== undefined) this.#elements[index] = make(text);
  }

  /** Changes the value at a path, if there is one. */
  changeAt(index: number, path: Path, make: (text: string) => string): void {
    this.change(index, (text) => atPath(text, path, (old) => (old === undefined ? old : make(old))));
  }

  /** Replaces the value at a path if it is exactly this text. */
  exchangeAt(index: number, path: Path, from: string, to: string): void {
    this.change(index, (text) => atPath(text, path, exchanged(from, to)));
  }

  setAt(index: number, path: Path, value: unknown): void {
    this.change(index, (text) => atPath(text, path, () => JSON.stringify(value)));
  }

  removeAt(index: number, path: Path): void {
    this.change(index, (text) => atPath(text, path, () => undefined));
  }

  /** Its children get its parent. */
  remove(index: number): void {
    this.#elements[index] = undefined;
    const id = this.idOf(index);
    if (id !== undefined) this.#parents.set(id, this.#parentOf(index));
  }

  addBehind(index: number, text: string): void {
    this.#added.set(index, [...(this.#added.get(index) ?? []), text]);
  }

  /** Inserts between an element and its children. `make` gets the parent. Without ids, only the order counts. */
  insertBehind(index: number, own: string, make: (parent: string | undefined) => string): void {
    const id = this.idOf(index);
    this.addBehind(index, make(id === undefined ? undefined : (this.#parents.get(id) ?? id)));
    if (id !== undefined) this.#parents.set(id, own);
  }

  idOf(index: number): string | undefined {
    return this.#links && stringOf(this.#file.values[index]?.[this.#links.id]);
  }

  #parentOf(index: number): string | undefined {
    return this.#links && stringOf(this.#file.values[index]?.[this.#links.parent]);
  }

  /** The same text if nothing was changed. */
  text(): string {
    this.#hangAnew();
    return this.#file.join(
      this.#elements.flatMap((text, index) => [
        ...(text === undefined ? [] : [text]),
        ...(this.#added.get(index) ?? []),
      ]),
    );
  }

  #hangAnew(): void {
    const { parent: name } = this.#links ?? {};
    if (name === undefined) return;
    for (const index of this.#elements.keys()) {
      let parent = this.#parentOf(index);
      if (parent === undefined || !this.#parents.has(parent)) continue;
      while (parent !== undefined && this.#parents.has(parent)) parent = this.#parents.get(parent);
      const text = JSON.stringify(parent ?? null);
      this.change(index, (line) => withMember(line, name, text));
    }
  }
}

/** The path to the last element that counts, as indexes from first to last. */
export function pathToLast(
  { values }: RecordFile,
  names: LinkNames,
  counts: (value: JsonObject) => boolean,
): readonly number[] {
  const byId = new Map(values.map((value, index) => [stringOf(value?.[names.id]), index]));
  const path: number[] = [];
  const seen = new Set<number>();
  let at: number | undefined = values.findLastIndex((value) => value !== undefined && counts(value));
  while (at !== undefined && at >= 0 && !seen.has(at)) {
    seen.add(at);
    path.push(at);
    const parent = stringOf(values[at]?.[names.parent]);
    at = parent === undefined ? undefined : byId.get(parent);
  }
  return path.toReversed();
}
