/** The titles of the built-in tools, by their names and the names of their arguments. */

import type { JsonObject } from "../../base/support/index.ts";
import { stringOf } from "../../base/support/index.ts";

/** Reads a text among the arguments, even if they are not complete yet. */
export type ReadText = (key: string) => string | undefined;

export interface BuiltinTitle {
  /** Until it has run. */
  readonly verb: string;
  readonly past: string;
  /** Undefined if the arguments are not those of the built-in tool: another tool may have its name. */
  readonly subject: (read: ReadText) => string | undefined;
  /** `output` is undefined until there is a result. Not asked about a call that failed. */
  readonly facts: (given: JsonObject, output: string | undefined) => readonly (string | undefined)[];
}

export const BUILTIN_TITLES: ReadonlyMap<string, BuiltinTitle> = new Map<string, BuiltinTitle>([
  [
    "read_file",
    {
      verb: "Read",
      past: "Read",
      subject: (read) => read("path"),
      facts: (_given, output) => [output === undefined ? undefined : linesRead(output)],
    },
  ],
  [
    "run_command",
    {
      verb: "Run",
      past: "Ran",
      subject: (read) => read("command"),
      // Its last line says how it ended.
      facts: (_given, output) => [manyLines(output?.slice(0, Math.max(0, output.lastIndexOf("\n"))))],
    },
  ],
  [
    "edit_file",
    {
      verb: "Edit",
      past: "Edited",
      subject: (read) => read("path"),
      facts: (given, output) => [changedLines(given, output)],
    },
  ],
  [
    "write_file",
    {
      verb: "Write",
      past: "Wrote",
      subject: (read) => read("path"),
      facts: ({ content }) => {
        const text = stringOf(content);
        return [text === undefined ? undefined : countOf(linesIn(text), "line")];
      },
    },
  ],
  [
    "list_files",
    {
      verb: "List",
      past: "Listed",
      subject: (read) => read("path") ?? ".",
      facts: (_given, output) => [
        output === undefined ? undefined : output === EMPTY_FOLDER ? "empty" : found(output, "entry"),
      ],
    },
  ],
  [
    "search_files",
    {
      verb: "Search for",
      past: "Searched for",
      subject: (read) => {
        const [pattern, path] = [read("pattern"), read("path")];
        return path === undefined ? pattern : pattern && `${pattern} in ${path}`;
      },
      facts: (_given, output) => [
        output === undefined ? undefined : NO_MATCHES.test(output) ? "no matches" : found(output, "match"),
      ],
    },
  ],
  [
    "read_skill",
    {
      verb: "Read skill",
      past: "Read skill",
      subject: (read) => {
        const [name, file] = [read("name"), read("file")];
        return file === undefined ? name : name && `${name}: ${file}`;
      },
      facts: (_given, output) => [manyLines(output)],
    },
  ],
  [
    "mcp_list_resources",
    {
      verb: "List resources",
      past: "Listed resources",
      subject: (read) => (read("server") === undefined ? "" : `of ${read("server")}`),
      facts: (_given, output) => [manyLines(output)],
    },
  ],
  [
    "mcp_read_resource",
    {
      verb: "Read resource",
      past: "Read resource",
      subject: (read) => read("uri"),
      facts: (_given, output) => [manyLines(output)],
    },
  ],
]);

const EMPTY_FOLDER = "(the directory is empty)";
const NO_MATCHES = /^no matches in \d+ files(?:\n|$)/;
/** What the session leaves out of a long result; its lines cannot be counted any more. */
const LEFT_OUT = /\n\n\[… \d+ of \d+ bytes left out here …\]\n\n/;
/** What a tool remarks about its own result, at the end. */
const REMARK = /\n\[[^\n]*\]$/;

/** "1 line", "2 lines", "3 matches", "2 entries". */
export function countOf(amount: number, one: string): string {
  const many = one.endsWith("y") ? `${one.slice(0, -1)}ies` : one.endsWith("ch") ? `${one}es` : `${one}s`;
  return `${amount.toLocaleString("en")} ${amount === 1 ? one : many}`;
}

/** The lines of a longer output; nothing about a single line. */
export function manyLines(output: string | undefined): string | undefined {
  if (output === undefined || LEFT_OUT.test(output)) return undefined;
  const lines = linesIn(output);
  return lines > 1 ? countOf(lines, "line") : undefined;
}

function linesRead(output: string): string | undefined {
  if (LEFT_OUT.test(output)) return "shortened";
  return /^\[[^\n]* is a binary file of \d+ bytes; it is not shown\]$/.test(output)
    ? "binary"
    : countOf(linesIn(output), "line");
}

function found(output: string, one: string): string | undefined {
  if (LEFT_OUT.test(output)) return undefined;
  let lines = output;
  let incomplete = false;
  while (REMARK.test(lines)) {
    incomplete ||= /left out\]$|^\[stopped|\n\[stopped/.test(lines.slice(lines.lastIndexOf("\n")));
    lines = lines.slice(0, lines.lastIndexOf("\n"));
  }
  const counted = countOf(linesIn(lines), one);
  return incomplete ? `first ${counted}` : counted;
}

/** Counts the lines of a text. A line feed at its end starts no further line. */
export function linesIn(text: string): number {
  if (text === "") return 0;
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** "+1 −1": the lines that an edit adds and removes, without those that both texts begin or end with. */
function changedLines({ find, replace, all }: JsonObject, output: string | undefined): string | undefined {
  const [before, after] = [stringOf(find)?.split("\n"), stringOf(replace)?.split("\n")];
  if (before === undefined || after === undefined) return undefined;
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const room = Math.min(before.length, after.length) - start;
  while (end < room && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const times = all === true ? Number(/^replaced (\d+) /.exec(output ?? "")?.[1] ?? 1) : 1;
  return `+${(after.length - start - end) * times} −${(before.length - start - end) * times}`;
}
