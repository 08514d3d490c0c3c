/** Reads a file that was named instead of a session, and decides whether it is a Throughline log. */

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

import {
  codedError,
  codeOf,
  messageOf,
  type ThroughlineError,
  readProblem,
} from "../../base/support/index.ts";
import { type FormatName, FORMATS, isFormatName, MAX_HISTORY_BYTES } from "../../diagnostics/check/index.ts";
import {
  isBundle,
  parseBundle,
  parsePlainLog,
  readWholeFile,
  SESSION_ID,
  type SessionBundle,
} from "../../runtime/log/index.ts";
import { sessionsFolder } from "../config/index.ts";
import { readStdin } from "./read-stdin.ts";
import type { Terminal } from "./terminal.ts";

/** The flags that say what a file with another tool's history is. */
export const FORMAT_FLAG = [
  "--format <name>",
  `for a file: assume this format instead of detecting it: ${Object.keys(FORMATS).join(", ")}`,
] as const;

export const VENDOR_FLAG = [
  "--vendor <name>",
  "for chat messages: apply this vendor's rules, e.g. deepseek, kimi, mistral, groq",
] as const;

export interface HistoryFile {
  /** The folder and id for the store, if the file is a Throughline log. */
  readonly log: { readonly folder: string; readonly id: string } | undefined;
  /** Returns the file's bytes if it is an exported Throughline log. */
  exported(): Buffer | undefined;
  read(): Uint8Array;
}

/** How reports name standard input. */
export const STDIN = "standard input";

/** Standard input, if it was named with `-`, or if nothing was named and something is piped in. */
export async function pipedHistory(
  name: string | undefined,
  flags: { readonly last?: boolean },
  terminal: Terminal,
): Promise<Buffer | undefined> {
  if (name !== "-" && (name !== undefined || flags.last === true)) return undefined;
  const bytes = await readStdin(terminal, MAX_HISTORY_BYTES);
  if (bytes.length > 0) return bytes;
  if (name === undefined) return undefined;
  throw codedError("input_empty", "standard input is empty: pipe a history in");
}

/** A Throughline log on standard input: an exported one, or a plain one without its blobs. */
export function pipedLog(bytes: Buffer): SessionBundle | undefined {
  if (!looksLikeLog(bytes.toString("utf8", 0, 4096))) return undefined;
  return isBundle(bytes) ? parseBundle(bytes) : parsePlainLog(bytes, new Map());
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
    if (!stat.isFile()) throw new Error("not a regular file");
    const start = Buffer.alloc(Math.min(stat.size, 4096));
    readSync(file, start, 0, start.length, 0);
    const full = resolve(path);
    const [folder, id] = [dirname(full), basename(full, ".jsonl")];
    // A file in the sessions folder is a session, even if its content is damaged.
    const kept = SESSION_ID.test(id) && isSessionsFolder(folder);
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

/** A file elsewhere can be read even if HOME is unusable, and there is no sessions folder. */
function isSessionsFolder(folder: string): boolean {
  try {
    return folder === resolve(sessionsFolder());
  } catch {
    return false;
  }
}

/** Runs `read` and names the file in an error about its content. */
export function namingFile<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (codeOf(error) !== "input_invalid") throw error;
    throw codedError("input_invalid", `${path}: ${messageOf(error)}`, error);
  }
}

/** Thrown before the file is read into memory. */
function tooLarge(path: string, bytes: number): ThroughlineError {
  return codedError(
    "file_too_large",
    `${path} has ${bytes} bytes, more than the limit of ${MAX_HISTORY_BYTES}: use only the newest part of it`,
  );
}

/** Checks several lines, because the first one may be damaged. */
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
    `unknown format "${name}"; use one of ${Object.keys(FORMATS).join(", ")}`,
  );
}
