/**
 * edit_file: replaces exact text. The text must occur exactly once unless `all` is set, so that a model cannot change a
 * spot it has not seen; the error says how often the text occurs.
 */

import { stringOf, ThroughlineError } from "../../../base/support/index.ts";
import { tool, type Tool } from "../tool.ts";
import { readText } from "./read-text.ts";
import { closing, locate, openFile } from "./workspace.ts";
import { inTurn, writeAtomically } from "./write-atomically.ts";

const MAX_BYTES = 8 * 1024 * 1024;

export function editFile(cwd: string): Tool {
  return tool({
    name: "edit_file",
    description:
      "Replaces text in a file of the working directory. `find` is exact text, not a pattern, and must occur exactly " +
      "once; include neighbouring lines to make it unique, or set `all` to replace every occurrence.",
    access: "write",
    input: {
      type: "object",
      properties: {
        path: { type: "string" },
        find: { type: "string", minLength: 1 },
        replace: { type: "string" },
        all: { type: "boolean" },
      },
      required: ["path", "find", "replace"],
      additionalProperties: false,
    },
    run: (input, { signal }) => {
      const path = stringOf(input["path"]) ?? "";
      const edit = {
        find: stringOf(input["find"]) ?? "",
        replace: stringOf(input["replace"]) ?? "",
        all: input["all"] === true,
      };
      return inTurn(cwd, async () => {
        signal.throwIfAborted();
        const before = await readWhole(cwd, path, signal);
        const { text, count } = applyEdit(before, edit, path);
        const { shown } = await writeAtomically(cwd, path, text, signal);
        return `replaced ${count} ${count === 1 ? "occurrence" : "occurrences"} in ${shown}`;
      });
    },
  });
}

async function readWhole(cwd: string, path: string, signal: AbortSignal): Promise<string> {
  const read = await closing(openFile(await locate(cwd, path)), ({ handle }) =>
    readText(handle, { maxBytes: MAX_BYTES, signal }),
  );
  // Writing back text decoded with replacement characters would destroy the original bytes.
  if (read.type === "binary" || read.damaged)
    throw editFailed(path, "is not UTF-8 text. Change it with run_command");
  if (read.cut) throw editFailed(path, `is larger than ${MAX_BYTES} bytes. Change it with run_command`);
  return read.text;
}

function applyEdit(
  before: string,
  edit: { readonly find: string; readonly replace: string; readonly all: boolean },
  path: string,
): { text: string; count: number } {
  const { find, replace, all } = edit;
  if (find === "")
    throw editFailed(path, "was not changed: find is empty. Use write_file to write a whole file");
  if (find === replace) throw editFailed(path, "was not changed: find and replace are the same");
  const count = occurrences(before, find);
  if (count === 0)
    throw editFailed(path, `was not changed: the text to find occurs 0 times. ${hint(before, find)}`);
  if (all) {
    const parts = before.split(find);
    return { text: parts.join(replace), count: parts.length - 1 };
  }
  if (count > 1) {
    throw editFailed(
      path,
      `was not changed: the text to find occurs ${count} times. Include more of its surroundings, or set all`,
    );
  }
  const at = before.indexOf(find);
  return { text: before.slice(0, at) + replace + before.slice(at + find.length), count };
}

/** Overlapping occurrences count: "aa" in "aaa" could mean either one. */
function occurrences(text: string, find: string): number {
  let count = 0;
  for (let at = text.indexOf(find); at !== -1; at = text.indexOf(find, at + 1)) count += 1;
  return count;
}

function hint(text: string, find: string): string {
  if (text.includes("\r\n") && text.replaceAll("\r\n", "\n").includes(find.replaceAll("\r\n", "\n"))) {
    return "It would with other line endings: the file has \\r\\n";
  }
  return "Read the file again and copy the text exactly, with its white space";
}

function editFailed(path: string, problem: string): ThroughlineError {
  return new ThroughlineError({
    code: "edit_failed",
    message: `${JSON.stringify(path)} ${problem}.`,
    details: { path },
  });
}
