/** Texts and JSON values in one form, whatever a client's parser and serialiser made of them. */

import { codedError, isObject, type JsonObject, stringOf, tryParseJson } from "../../base/support/index.ts";

/** Deeper values are not compared: the request that holds one is forwarded unread. */
const MOST_LEVELS = 200;

/** White space does not count: clients trim, join and split texts in many ways. */
export function plainText(text: string): string {
  return /\s/.test(text) ? text.replaceAll(/\s+/g, "") : text;
}

/** Text of the model. Clients put a thought in front of it as `<think>`, or leave such a thought out. */
export function spokenText(text: string): string {
  const bare = text.includes("</think>") ? text.replace(/^\s*<think>[\s\S]*?<\/think>/, "") : text;
  return plainText(bare);
}

/** JSON text with sorted keys; any other text as it is. */
export function canonicalArguments(text: string): string {
  const value = tryParseJson(text);
  return value === undefined ? text.trim() : canonicalJson(value);
}

export function canonicalJson(value: unknown, level = 0): string {
  if (level > MOST_LEVELS) throw codedError("input_invalid", "a value is nested too deeply to compare");
  if (Array.isArray(value)) return `[${value.map((one) => canonicalJson(one, level + 1)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key], level + 1)}`).join(",")}}`;
}

/** The text of a content: a string, or parts. A part without text counts with everything that it holds. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return plainText(content);
  if (!Array.isArray(content)) return content === undefined || content === null ? "" : canonicalJson(content);
  return content.map((part) => (isObject(part) ? partText(part) : plainText(stringOf(part) ?? ""))).join("");
}

/** Where a part's text is, by dialect. */
const TEXT_TYPES: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text"]);

function partText(part: JsonObject): string {
  const text = stringOf(part["text"]);
  if (text !== undefined && (part["type"] === undefined || TEXT_TYPES.has(part["type"])))
    return plainText(text);
  const { cache_control: _cache, index: _index, id: _id, ...rest } = part;
  return canonicalJson(rest);
}

/**
 * The first line of a content without what clients put in anew with every request: reminder blocks, dates and times.
 * Reminders are mostly appended, so the first line stays.
 */
export function gistOf(content: unknown): string {
  const bare = rawText(content).replaceAll(WRAPPERS, "").trim();
  const [line = ""] = bare.split(/[\n\r]/, 1);
  return plainText(line.replaceAll(CLOCKS, "0"));
}

function rawText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (isObject(part) ? (stringOf(part["text"]) ?? "") : (stringOf(part) ?? "")))
    .join("\n");
}

/** Dates and times. Other numbers tell conversations apart. */
const CLOCKS = /\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?|\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?/g;

const WRAPPERS =
  /<(system-reminder|system_reminder|environment_context|environment_details|current_time|datetime|ide_selection|ide_opened_file|reminder)>[\s\S]*?<\/\1>/g;
