/**
 * Reads a JSON file that people wrote, within bounds: not too large, not too deep, UTF-8, an object. An error names the
 * file and never repeats its text, which may contain secrets.
 */

import { createHash } from "node:crypto";

import {
  codedError,
  codeOf,
  isObject,
  jsonDepth,
  type JsonObject,
  messageOf,
  tryParseJson,
} from "../../base/support/index.ts";
import { jsonProblem } from "./json-problem.ts";
import { readPlainFile } from "./read-plain-file.ts";

const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 128;

export interface JsonFile {
  readonly file: string;
  /** The exact text of the file. */
  readonly text: string;
  /** The hash of its bytes. */
  readonly sha256: string;
  readonly object: JsonObject;
}

/** Returns undefined if the file does not exist. `hint` says where the form of the file is described. */
export function readJsonFile(file: string, hint = ""): JsonFile | undefined {
  let bytes: Buffer;
  try {
    bytes = readPlainFile(file, MAX_BYTES);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
    throw codedError("config_unreadable", `cannot read ${file}: ${messageOf(error)}`, error);
  }
  const text = textOf(file, bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { file, text, sha256, object: parseObject(file, text, hint) };
}

/** Rejects invalid UTF-8, whose bytes all decode to the same character, so that two different files could look alike. */
function textOf(file: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw codedError("config_invalid", `${file}: not UTF-8 text`);
  }
}

export function parseObject(file: string, text: string, hint = ""): JsonObject {
  if (jsonDepth(text) > MAX_DEPTH)
    throw codedError("config_invalid", `${file}: it nests deeper than ${MAX_DEPTH} levels`);
  // The error of JSON.parse quotes the text, and the file may contain secrets.
  const value = text.trim() === "" ? {} : tryParseJson(withoutMark(text));
  if (isObject(value)) return value;
  const problem = jsonProblem(withoutMark(text)) ?? "not a JSON object";
  throw codedError("config_invalid", `${file}: ${problem}${hint}`);
}

/** Removes the byte order mark that some editors write. */
export function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
}
