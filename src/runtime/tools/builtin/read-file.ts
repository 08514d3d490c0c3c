/**
 * read_file: the text of a file, whole or a range of lines, unchanged so that edit_file finds it again. Notes about
 * missing parts follow the text, in brackets on their own lines.
 */

import { codedError, numberOf, stringOf } from "../../../base/support/index.ts";
import { tool, type Tool } from "../tool.ts";
import { type ReadText, readText } from "./read-text.ts";
import { closing, locate, openFile } from "./workspace.ts";

const MAX_BYTES = 1024 * 1024;

export function readFile(cwd: string): Tool {
  return tool({
    name: "read_file",
    description:
      "Reads a text file of the working directory, or some of its lines (numbered from 1, endLine included). " +
      "At most 1 MiB is returned at once.",
    access: "read",
    idempotent: true,
    input: {
      type: "object",
      properties: {
        path: { type: "string" },
        startLine: { type: "integer", minimum: 1 },
        endLine: { type: "integer", minimum: 1 },
      },
      required: ["path"],
      additionalProperties: false,
    },
    run: async (input, { signal }) => {
      const startLine = numberOf(input["startLine"]) ?? 1;
      const endLine = numberOf(input["endLine"]) ?? Number.POSITIVE_INFINITY;
      if (endLine < startLine) {
        throw codedError("range_invalid", `endLine ${endLine} is before startLine ${startLine}.`);
      }
      const located = await locate(cwd, stringOf(input["path"]) ?? "");
      return closing(openFile(located), async ({ handle, shown, stats }) => {
        const read = await readText(handle, { maxBytes: MAX_BYTES, signal, startLine, endLine });
        return describe(read, { shown, size: stats.size, startLine });
      });
    },
  });
}

function describe(read: ReadText, about: { shown: string; size: number; startLine: number }): string {
  if (read.type === "binary")
    return `[${about.shown} is a binary file of ${about.size} bytes; it is not shown]`;
  if (read.totalLines !== undefined && about.startLine > Math.max(1, read.totalLines)) {
    throw codedError(
      "range_invalid",
      `startLine ${about.startLine} is past the end: ${JSON.stringify(about.shown)} has ${read.totalLines} lines.`,
    );
  }
  const notes: string[] = [];
  if (read.damaged)
    notes.push("[some bytes are not valid UTF-8 and are shown as \uFFFD; edit_file will refuse this file]");
  if (read.cut) {
    notes.push(
      `[cut after ${MAX_BYTES} bytes, in line ${read.lastLine}; the file has ${about.size} bytes. Read on with startLine ${read.lastLine}]`,
    );
  }
  if (notes.length === 0) return read.text;
  return `${read.text}${read.text.endsWith("\n") ? "" : "\n"}${notes.join("\n")}`;
}
