/**
 * A file of JSON lines, some of which may be unreadable: torn by a crash, overwritten with zeros, glued together because a
 * line break was lost.
 */

import { isObject, tryParseJson } from "../../base/support/index.ts";
import { lineFile, type RecordFile } from "./element-list.ts";
import { NOT_TEXT } from "./formats/read-text.ts";
import type { Damage } from "./history.ts";

const where = (index: number): string => `line ${index + 1}`;

/** Cleaned, it is without what cannot be read, and glued lines are parted. */
export function jsonLines(text: string): RecordFile {
  const file = lineFile(text);
  const damage: Damage[] = [];
  const cleaned: string[] = [];
  const values = file.elements.map((line, index) => {
    const value = line.includes(NOT_TEXT) && !isIntact(line) ? undefined : tryParseJson(line);
    if (isObject(value) || line.trim() === "") {
      cleaned.push(line);
      return isObject(value) ? value : undefined;
    }
    const parted = part(line);
    cleaned.push(...parted);
    const problem = parted.length > 0 ? "two records stand on one line" : "this line cannot be read";
    damage.push({ where: where(index), problem });
    return undefined;
  });
  return { ...file, values, damage, where, clean: () => file.join(cleaned) };
}

/** The replacement character may have been written on purpose; then the line is whole JSON and shows no other damage. */
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
