/** Reads, checks and changes one settings file. An error names the file and the key, and never repeats the value. */

import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";

import { replaceFile } from "../../base/files/index.ts";
import {
  codedError,
  codeOf,
  isObject,
  jsonDepth,
  type JsonObject,
  messageOf,
  type ThroughlineError,
  tryParseJson,
} from "../../base/support/index.ts";
import { type ConfigValues, isConfigName, keyOf, unknownSetting } from "./config-keys.ts";
import { jsonProblem } from "./json-problem.ts";
import { readPlainFile } from "./read-plain-file.ts";
import type { Complaint } from "./value-kinds.ts";

const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 128;

export interface ConfigFile {
  readonly file: string;
  /** The exact text of the file. */
  readonly text: string;
  /** The hash of its bytes. */
  readonly sha256: string;
  readonly values: ConfigValues;
}

/** Returns undefined if the file does not exist. */
export function readConfigFile(file: string): ConfigFile | undefined {
  let bytes: Buffer;
  try {
    bytes = readPlainFile(file, MAX_BYTES);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
    throw codedError("config_unreadable", `cannot read ${file}: ${messageOf(error)}`, error);
  }
  const text = textOf(file, bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { file, text, sha256, values: checked(file, parse(file, text)) };
}

/** Rejects invalid UTF-8, whose bytes all decode to the same character, so that two different files could look alike. */
function textOf(file: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw codedError("config_invalid", `${file}: not UTF-8 text`);
  }
}

function parse(file: string, text: string): JsonObject {
  if (jsonDepth(text) > MAX_DEPTH)
    throw codedError("config_invalid", `${file}: it nests deeper than ${MAX_DEPTH} levels`);
  // The error of JSON.parse quotes the text, and the file may contain secrets.
  const value = text.trim() === "" ? {} : tryParseJson(text.replace(/^\uFEFF/, ""));
  if (isObject(value)) return value;
  const problem = jsonProblem(text.replace(/^\uFEFF/, "")) ?? "not a JSON object";
  throw codedError("config_invalid", `${file}: ${problem}; throughline config schema prints what is allowed`);
}

function checked(file: string, object: JsonObject): ConfigValues {
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object)) {
    if (name === "$schema") continue;
    if (!isConfigName(name)) {
      throw codedError("config_key_unknown", `${file}: ${unknownSetting(name)}`);
    }
    const complaint = keyOf(name).kind.complaint(value);
    if (complaint !== undefined) throw invalidValue(file, name, complaint);
    values[name] = name === "tools" ? resolve(dirname(file), String(value)) : value;
  }
  return values;
}

export function invalidValue(location: string, name: string, { at, why }: Complaint): ThroughlineError {
  return codedError("config_value_invalid", `${location}: ${name}${at === "" ? "" : `.${at}`}: ${why}`);
}

/** Changes one value (undefined removes it), checks the whole file, and writes it. */
export function changeConfigFile(
  file: string,
  path: readonly string[],
  value: unknown,
  /** Throws for values that only their users can judge, such as the name of a model. */
  accept?: (values: ConfigValues) => void,
): void {
  const current = readConfigFile(file);
  const object = parse(file, current?.text ?? "");
  const changed = withValue(object, path, value);
  const values = checked(file, changed);
  accept?.(values);
  try {
    replaceFile(file, `${JSON.stringify(changed, undefined, 2)}\n`, { makeFolder: true });
  } catch (error) {
    throw codedError("config_unwritable", `cannot write ${file}: ${messageOf(error)}`, error);
  }
}

function withValue(object: JsonObject, [first, ...rest]: readonly string[], value: unknown): JsonObject {
  if (first === undefined) return object;
  const copy = Object.fromEntries(Object.entries(object).filter(([name]) => name !== first));
  const inner = Object.hasOwn(object, first) ? object[first] : undefined;
  const next = rest.length === 0 ? value : withValue(isObject(inner) ? inner : {}, rest, value);
  const gone =
    next === undefined ||
    (rest.length > 0 && value === undefined && isObject(next) && Object.keys(next).length === 0);
  return gone ? copy : { ...copy, [first]: next };
}
