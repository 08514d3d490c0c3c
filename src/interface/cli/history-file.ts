/**
 * A file that was named where a session or a history is taken: is it one, is it a log of ours, and its bytes.
 */

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
} from "node:fs";
import { basename, dirname, resolve } from "node:path";

import { codedError, type ThroughlineError } from "../../base/support/index.ts";
import { type FormatName, FORMATS, isFormatName, MAX_HISTORY_BYTES } from "../../diagnostics/check/index.ts";
import { isBundle, readWholeFile, SESSION_ID } from "../../runtime/log/index.ts";
import { sessionsFolder } from "../config/index.ts";
import { readProblem } from "./read-problem.ts";

export interface HistoryFile {
  /** Where the store finds it, when it is a log of ours. */
  readonly log: { readonly folder: string; readonly id: string } | undefined;
  /** The bytes of a log of ours that is an exported one. */
  exported(): Buffer | undefined;
  read(): Uint8Array;
}

export function looksLikeFile(name: string): boolean {
  if (name.includes("/") || /\.jsonl?$/.test(name)) return true;
  return existsSync(name) && statSync(name).isFile();
}

export function historyFile(path: string): HistoryFile {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error("it is not a regular file");
    const start = Buffer.alloc(Math.min(stat.size, 4096));
    readSync(file, start, 0, start.length, 0);
    const full = resolve(path);
    const [folder, id] = [dirname(full), basename(full, ".jsonl")];
    // Among the sessions it is one, whatever became of its content.
    const kept = folder === resolve(sessionsFolder()) && SESSION_ID.test(id);
    const ours = path.endsWith(".jsonl") && (kept || looksLikeLog(start.toString("utf8")));
    return {
      log: ours ? { folder, id } : undefined,
      exported: () => {
        const bytes = ours ? readWholeFile(full, path) : undefined;
        return bytes !== undefined && isBundle(bytes) ? bytes : undefined;
      },
      read: () => {
        if (stat.size > MAX_HISTORY_BYTES) throw tooLarge(path, stat.size);
        return readFileSync(full);
      },
    };
  } catch (error) {
    throw codedError("file_unreadable", `cannot read ${path}: ${readProblem(error)}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Said before it is read into memory. */
function tooLarge(path: string, bytes: number): ThroughlineError {
  return codedError(
    "file_too_large",
    `${path} has ${bytes} bytes; a history has at most ${MAX_HISTORY_BYTES}. Take the newest part of it`,
  );
}

/** Any of its first lines tells, should the very first be the damaged one. */
export function looksLikeLog(start: string): boolean {
  return start
    .split("\n")
    .some(
      (line) =>
        /^\{"v":\d+,"seq":\d+,"id":"/.test(line) || /^\{.*"type":"session_start","session":"/.test(line),
    );
}

export function parseFormat(name: string | undefined): FormatName | undefined {
  if (name === undefined || isFormatName(name)) return name;
  throw codedError(
    "format_unknown",
    `"${name}" is not a format known here: use ${Object.keys(FORMATS).join(", ")}`,
  );
}
