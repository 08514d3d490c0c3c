/**
 * Changes to the elements of a file, collected and then made at once; indexes are those of the file as it was. Where the
 * elements form a tree, each naming its parent, taking one out or putting one in keeps the chain whole.
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
  /** Where the children of an element are to hang now. */
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

  /** What stands at a path, where there is something. */
  changeAt(index: number, path: Path, make: (text: string) => string): void {
    this.change(index, (text) => atPath(text, path, (old) => (old === undefined ? old : make(old))));
  }

  /** Where this text stands there, and no other. */
  exchangeAt(index: number, path: Path, from: string, to: string): void {
    this.change(index, (text) => atPath(text, path, exchanged(from, to)));
  }

  setAt(index: number, path: Path, value: unknown): void {
    this.change(index, (text) => atPath(text, path, () => JSON.stringify(value)));
  }

  removeAt(index: number, path: Path): void {
    this.change(index, (text) => atPath(text, path, () => undefined));
  }

  /** Its children hang where it hung. */
  remove(index: number): void {
    this.#elements[index] = undefined;
    const id = this.idOf(index);
    if (id !== undefined) this.#parents.set(id, this.#parentOf(index));
  }

  addBehind(index: number, text: string): void {
    this.#added.set(index, [...(this.#added.get(index) ?? []), text]);
  }

  /** Between an element and its children. `make` is told the parent; without ids the order is all there is. */
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

  /** The very text of the file when nothing was changed. */
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

/** Indexes along the parents of the last element that counts, first to last. */
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
    path.unshift(at);
    const parent = stringOf(values[at]?.[names.parent]);
    at = parent === undefined ? undefined : byId.get(parent);
  }
  return path;
}
