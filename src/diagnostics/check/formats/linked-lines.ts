/**
 * Lines that form a tree: each names its parent. Taking a line out or putting one in keeps the chain whole.
 *
 * @module
 */

import { stringOf } from "../../../base/support/index.ts";
import { ElementEdits } from "../element-edits.ts";
import { withMember } from "../json-text.ts";
import type { JsonLines } from "../line-file.ts";

export interface LinkNames {
  readonly id: string;
  readonly parent: string;
}

export class LinkedLines {
  readonly edits: ElementEdits;
  readonly #lines: JsonLines;
  readonly #names: LinkNames;
  /** Where the children of a line are to hang now. */
  readonly #parents = new Map<string, string | undefined>();

  constructor(lines: JsonLines, names: LinkNames) {
    this.#lines = lines;
    this.#names = names;
    this.edits = new ElementEdits(lines.file);
  }

  idOf(line: number): string | undefined {
    return stringOf(this.#lines.values[line]?.[this.#names.id]);
  }

  /** Its children hang where it hung. */
  remove(line: number): void {
    this.edits.remove(line);
    const id = this.idOf(line);
    if (id !== undefined) this.#parents.set(id, stringOf(this.#lines.values[line]?.[this.#names.parent]));
  }

  /** Between a line and its children. `make` is told the parent; without ids the order is all there is. */
  insertBehind(line: number, own: string, make: (parent: string | undefined) => string): void {
    const id = this.idOf(line);
    this.edits.addBehind(line, make(id === undefined ? undefined : (this.#parents.get(id) ?? id)));
    if (id !== undefined) this.#parents.set(id, own);
  }

  text(unchanged: string): string {
    for (const [index, value] of this.#lines.values.entries()) {
      const before = stringOf(value?.[this.#names.parent]);
      if (before === undefined || !this.#parents.has(before)) continue;
      let parent: string | undefined = before;
      while (parent !== undefined && this.#parents.has(parent)) parent = this.#parents.get(parent);
      const text = parent === undefined ? "null" : JSON.stringify(parent);
      this.edits.change(index, (line) => withMember(line, this.#names.parent, text));
    }
    return this.edits.text(unchanged);
  }
}

/** Ids along the parents of the last line that counts, first to last. */
export function pathTo(
  lines: JsonLines,
  names: LinkNames,
  counts: (value: Readonly<Record<string, unknown>>) => boolean,
): readonly number[] {
  const byId = new Map(lines.values.map((value, index) => [stringOf(value?.[names.id]), index]));
  const path: number[] = [];
  const seen = new Set<number>();
  let at: number | undefined = lines.values.findLastIndex((value) => value !== undefined && counts(value));
  while (at !== undefined && at >= 0 && !seen.has(at)) {
    seen.add(at);
    path.unshift(at);
    const parent = stringOf(lines.values[at]?.[names.parent]);
    at = parent === undefined ? undefined : byId.get(parent);
  }
  return path;
}
