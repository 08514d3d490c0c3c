/**
 * Reads one output item of a scenario file into a draft. Each entry has exactly one key, the item's type; `item`
 * accepts any JSON and is sent as written.
 */

import { isObject, type JsonObject, type ThroughlineError } from "../../base/support/index.ts";
import type { Draft } from "../output/draft.ts";

export type Path = readonly (string | number)[];

/** The part of the reader needed here: problems with line numbers. */
interface Complaints {
  onlyKeys(object: JsonObject, known: readonly string[], path: Path): void;
  problem(path: Path, problem: string): ThroughlineError;
}

const kinds: Readonly<Record<string, (complaints: Complaints, value: unknown, path: Path) => Draft>> = {
  reasoning: readReasoning,
  message: readMessage,
  refusal: (complaints, value, path) => ({
    type: "message",
    refusal: true,
    text: text(complaints, value, path),
  }),
  function_call: readFunctionCall,
  custom_tool_call: readCustomCall,
  web_search_call: (complaints, value, path) => ({
    type: "web_search_call",
    action: typeof value === "string" ? { type: "search", query: value } : object(complaints, value, path),
  }),
  item: (complaints, value, path) => {
    const item = object(complaints, value, path);
    if (typeof item["type"] !== "string") throw complaints.problem(path, "`item` needs a `type`");
    return { type: "raw", item };
  },
};

export function readDraft(complaints: Complaints, value: unknown, path: Path): Draft {
  const keys = isObject(value) ? Object.keys(value) : [];
  const [kind] = keys;
  const read = kind === undefined || !Object.hasOwn(kinds, kind) ? undefined : kinds[kind];
  if (!isObject(value) || kind === undefined || read === undefined || keys.length !== 1) {
    throw complaints.problem(path, `an item has exactly one key, its type: ${Object.keys(kinds).join(", ")}`);
  }
  return read(complaints, value[kind], [...path, kind]);
}

function readReasoning(complaints: Complaints, value: unknown, path: Path): Draft {
  if (typeof value === "string") return { type: "reasoning", summary: [value] };
  if (Array.isArray(value)) return { type: "reasoning", summary: texts(complaints, value, path) };
  const given = object(complaints, value, path);
  complaints.onlyKeys(given, ["summary", "notes", "text", "ciphertext", "redacted"], path);
  const { summary, notes, text: whole, ciphertext, redacted } = given;
  if (ciphertext !== undefined && ciphertext !== null && ciphertext !== false) {
    throw complaints.problem(
      [...path, "ciphertext"],
      "`ciphertext` takes null (sent as null) or false (no such key)",
    );
  }
  if (redacted !== undefined && typeof redacted !== "boolean") {
    throw complaints.problem([...path, "redacted"], "`redacted` must be true or false");
  }
  return {
    type: "reasoning",
    summary: summary === undefined ? [] : texts(complaints, summary, [...path, "summary"]),
    notes: optionalText(complaints, notes, [...path, "notes"]),
    text: optionalText(complaints, whole, [...path, "text"]),
    ciphertext,
    redacted: redacted === true ? true : undefined,
  };
}

function readMessage(complaints: Complaints, value: unknown, path: Path): Draft {
  if (typeof value === "string") return { type: "message", text: value };
  const message = object(complaints, value, path);
  complaints.onlyKeys(message, ["text", "phase", "annotations"], path);
  const { phase, annotations } = message;
  if (phase !== undefined && phase !== "commentary" && phase !== "final_answer") {
    throw complaints.problem([...path, "phase"], "`phase` takes commentary or final_answer");
  }
  if (annotations !== undefined && !(Array.isArray(annotations) && annotations.every(isObject))) {
    throw complaints.problem([...path, "annotations"], "`annotations` must be a list of objects");
  }
  return { type: "message", text: text(complaints, message["text"], [...path, "text"]), phase, annotations };
}

function readFunctionCall(complaints: Complaints, value: unknown, path: Path): Draft {
  const call = object(complaints, value, path);
  complaints.onlyKeys(call, ["name", "arguments", "call_id"], path);
  const given = call["arguments"] ?? {};
  return {
    type: "function_call",
    name: text(complaints, call["name"], [...path, "name"]),
    arguments: typeof given === "string" ? given : JSON.stringify(given),
    callId: optionalText(complaints, call["call_id"], [...path, "call_id"]),
  };
}

function readCustomCall(complaints: Complaints, value: unknown, path: Path): Draft {
  const call = object(complaints, value, path);
  complaints.onlyKeys(call, ["name", "input", "call_id"], path);
  return {
    type: "custom_tool_call",
    name: text(complaints, call["name"], [...path, "name"]),
    input: text(complaints, call["input"], [...path, "input"]),
    callId: optionalText(complaints, call["call_id"], [...path, "call_id"]),
  };
}

function optionalText(complaints: Complaints, value: unknown, path: Path): string | undefined {
  return value === undefined ? undefined : text(complaints, value, path);
}

function text(complaints: Complaints, value: unknown, path: Path): string {
  if (typeof value !== "string") throw complaints.problem(path, `\`${String(path.at(-1))}\` must be text`);
  return value;
}

function texts(complaints: Complaints, value: unknown, path: Path): readonly string[] {
  if (!Array.isArray(value)) throw complaints.problem(path, "must be a list of texts");
  return value.map((one, index) => text(complaints, one, [...path, index]));
}

function object(complaints: Complaints, value: unknown, path: Path): JsonObject {
  if (!isObject(value)) throw complaints.problem(path, `\`${String(path.at(-1))}\` must be an object`);
  return value;
}
