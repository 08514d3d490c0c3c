/**
 * A file of JSON lines, some of which may be unreadable: torn by a crash, overwritten with zeros, glued together because a
 * line break was lost.
 *
 * @module
 */

import { isObject, tryParseJson } from "../../base/support/index.ts";
import { type ElementFile, lineFile } from "./element-list.ts";
import { NOT_TEXT } from "./formats/read-text.ts";
import type { Damage } from "./history.ts";

export interface JsonLines {
  readonly file: ElementFile;
  /** Undefined: empty or unreadable. */
  readonly values: readonly (Readonly<Record<string, unknown>> | undefined)[];
  readonly damage: readonly Damage[];
  /** The file without what cannot be read; glued lines are parted. */
  clean(): string;
}

export function jsonLines(text: string): JsonLines {
  const file = lineFile(text);
  const damage: Damage[] = [];
  const cleaned: string[] = [];
  const values = file.elements.map((line, index) => {
    const value = line.includes(NOT_TEXT) && !isIntact(line) ? undefined : tryParseJson(line);
    if (isObject(value)) {
      cleaned.push(line);
      return value;
    }
    if (line.trim() === "") {
      cleaned.push(line);
      return undefined;
    }
    const parted = part(line);
    cleaned.push(...parted);
    const problem = parted.length > 0 ? "two records stand on one line" : "this line cannot be read";
    damage.push({ place: `line ${index + 1}`, problem });
    return undefined;
  });
  return { file, values, damage, clean: () => file.join(cleaned) };
}

/** The replacement character may have been written on purpose; then the line is whole JSON and has no other mark. */
function isIntact(line: string): boolean {
  return !line.includes("\0") && isObject(tryParseJson(line));
}

/** `{…}{…}`: cut where both sides are whole. */
function part(line: string): readonly string[] {
  for (let at = line.indexOf("}{"); at !== -1; at = line.indexOf("}{", at + 1)) {
    const [left, right] = [line.slice(0, at + 1), line.slice(at + 1)];
    if (!isObject(tryParseJson(left))) continue;
    if (isObject(tryParseJson(right))) return [left, right];
    const rest = part(right);
    if (rest.length > 0) return [left, ...rest];
  }
  return [];
}
