/**
 * search_files: a regular expression over the text files below a directory, bounded in matches, files and time. Links
 * are not followed, and only files verified to be inside the working directory are read.
 */

import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";

import { codedError, stringOf } from "../../../base/support/index.ts";
import { tool, type Tool } from "../tool.ts";
import { compilePattern, type LineMatch, matchLines } from "./match-lines.ts";
import { readText } from "./read-text.ts";
import { closing, type Located, locate, openFile } from "./workspace.ts";

const MAX_MATCHES = 200;
const MAX_FILES = 50_000;
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_SLOW_FILES = 3;
const MAX_LINE_LENGTH = 300;
const SKIPPED_DIRECTORIES: ReadonlySet<string> = new Set([".git", "node_modules"]);

export function searchFiles(cwd: string): Tool {
  return tool({
    name: "search_files",
    description:
      "Searches text files of the working directory line by line with a JavaScript regular expression (a leading (?i) " +
      "ignores case). Returns path:line: text, at most 200 matches. Skips .git, node_modules, symbolic links, binary " +
      "files and files over 1 MiB.",
    access: "read",
    idempotent: true,
    input: {
      type: "object",
      properties: {
        pattern: { type: "string", minLength: 1 },
        path: {
          type: "string",
          description: "File or directory to search; the working directory when left out",
        },
      },
      required: ["pattern"],
      additionalProperties: false,
    },
    run: async (input, { signal }) => {
      const pattern = compilePattern(stringOf(input["pattern"]) ?? "");
      return search(await locate(cwd, stringOf(input["path"]) ?? "."), pattern, signal);
    },
  });
}

interface Tally {
  readonly lines: string[];
  readonly notes: string[];
  files: number;
  skipped: number;
  slow: number;
}

async function search(start: Located, pattern: RegExp, signal: AbortSignal): Promise<string> {
  const tally: Tally = { lines: [], notes: [], files: 0, skipped: 0, slow: 0 };
  for await (const file of filesBelow(start, signal)) {
    await searchFile(file, pattern, tally, signal);
    if (tally.lines.length >= MAX_MATCHES || tally.files + tally.skipped >= MAX_FILES) {
      tally.notes.push(
        `[stopped at ${tally.lines.length} matches in ${tally.files} files; narrow the pattern or the path]`,
      );
      break;
    }
  }
  if (tally.lines.length === 0) tally.lines.push(`no matches in ${tally.files} files`);
  if (tally.skipped > 0)
    tally.notes.push(`[${tally.skipped} binary, large or unreadable files were skipped]`);
  return [...tally.lines, ...tally.notes].join("\n");
}

async function searchFile(file: Located, pattern: RegExp, tally: Tally, signal: AbortSignal): Promise<void> {
  const text = await textOf(file, signal);
  if (text === undefined) {
    tally.skipped += 1;
    return;
  }
  tally.files += 1;
  const matches = matchLines(text, pattern, MAX_MATCHES - tally.lines.length);
  if (matches !== undefined) {
    for (const match of matches) tally.lines.push(show(file, match));
    return;
  }
  tally.slow += 1;
  tally.notes.push(`[gave up on ${file.shown}: the pattern takes too long there]`);
  if (tally.slow >= MAX_SLOW_FILES) {
    throw codedError(
      "pattern_slow",
      "The pattern takes too long, probably by nested repetition such as (a+)+. Write a simpler one.",
    );
  }
}

/**
 * Returns `undefined` for a file that is not searched. One that vanished or cannot be read must not fail the others.
 */
async function textOf(file: Located, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await closing(openFile(file), async ({ handle, stats }) => {
      if (stats.size > MAX_FILE_BYTES) return undefined;
      const read = await readText(handle, { maxBytes: MAX_FILE_BYTES, signal });
      return read.type === "text" && !read.cut ? read.text : undefined;
    });
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** Depth first and sorted by name, so that the same tree gives the same result. */
async function* filesBelow(start: Located, signal: AbortSignal): AsyncGenerator<Located> {
  const { root } = start;
  const pending = [start.real];
  for (let current = pending.pop(); current !== undefined; current = pending.pop()) {
    signal.throwIfAborted();
    const located = { root, real: current, shown: relative(root, current) || "." };
    const entries = await readdir(current, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) {
      yield located; // a file, or an unreadable directory: opening it will show which
      continue;
    }
    const wanted = entries.filter((entry) =>
      entry.isDirectory() ? !SKIPPED_DIRECTORIES.has(entry.name) : entry.isFile(),
    );
    // Last in, first out: pushed in reverse order.
    wanted.sort((left, right) => (left.name < right.name ? 1 : -1));
    for (const entry of wanted) pending.push(join(current, entry.name));
  }
}

function show(file: Located, match: LineMatch): string {
  const text = match.text.length > MAX_LINE_LENGTH ? `${match.text.slice(0, MAX_LINE_LENGTH)}…` : match.text;
  return `${file.shown}:${match.line}: ${text}`;
}
