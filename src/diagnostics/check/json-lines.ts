/**
 * A file of JSON lines, some of which may be unreadable: torn by a crash, overwritten with zeros, or joined because a line
 * break was lost.
 */

import { isObject, tryParseJson } from "../../base/support/index.ts";
import { lineFile, type RecordFile } from "./element-list.ts";
import { NOT_TEXT } from "./formats/read-text.ts";
import type { Damage } from "./history.ts";

const where = (index: number): string => `line ${index + 1}`;

/** The cleaned file has no unreadable lines, and joined lines are split. */
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
    const problem = parted.length > 0 ? "two records are on one line" : "this line cannot be read";
    damage.push({ where: where(index), problem });
    return undefined;
  });
  return { ...file, values, damage, where, clean: () => file.join(cleaned) };
}

/** The replacement character may be intended. Then the line is complete JSON and shows no other damage. */
function isIntact(line: string): boolean {
  return !line.includes("\0") && isObject(tryParseJson(line));
}

/** Splits `{…}{…}` where both sides are complete. */
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
