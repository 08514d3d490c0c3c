/** Reads, checks and changes one settings file. An error names the file and the key, and never repeats the value. */

import { dirname, resolve } from "node:path";

import { replaceFile } from "../../base/files/index.ts";
import {
  codedError,
  isObject,
  type JsonObject,
  messageOf,
  type ThroughlineError,
} from "../../base/support/index.ts";
import { type ConfigValues, isConfigName, keyOf, unknownSetting } from "./config-keys.ts";
import { parseObject, readJsonFile } from "./json-file.ts";
import { readMcpFile } from "./mcp-file.ts";
import type { Complaint } from "./value-kinds.ts";

const HINT = "; throughline config schema prints what is allowed";

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
  const read = readJsonFile(file, HINT);
  if (read === undefined) return undefined;
  const { text, sha256, object } = read;
  return { file, text, sha256, values: checked(file, object) };
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
  const object = parseObject(file, current?.text ?? "", HINT);
  const changed = withValue(object, path, value);
  const values = checked(file, changed);
  accept?.(values);
  write(file, changed);
}

/** Changes or removes one entry of a `.mcp.json`. Other members of the file belong to other programs and stay. */
export function changeMcpFile(file: string, name: string, value: unknown): void {
  readMcpFile(file); // throws if it is no such file
  const object = readJsonFile(file)?.object ?? {};
  write(file, withValue(object, ["mcpServers", name], value));
}

function write(file: string, object: JsonObject): void {
  try {
    replaceFile(file, `${JSON.stringify(object, undefined, 2)}\n`, { makeFolder: true });
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
