/**
 * `--debug`: summarises each request in a few lines before it is sent (requirements G14): role or type of each item, its
 * parts, their length, the start of the text, and counts. Never shows an encrypted payload or a header.
 */

import { arrayOf, isObject, type JsonObject, stringOf, tryParseJson } from "../../base/support/index.ts";
import { amount } from "./amount.ts";
import { inertLine } from "./inert-text.ts";

const HEAD = 60;
/** A longer history is shown by its first and last lines. */
const MOST_LINES = 24;

interface Part {
  readonly what: string;
  readonly length: number;
  readonly head: string;
}

/** Returns the lines for one request body of any dialect. */
export function previewLines(body: string): readonly string[] {
  const request = tryParseJson(body);
  if (!isObject(request)) return [`request: ${Buffer.byteLength(body)} bytes, not JSON`];
  const items = [...arrayOf(request["input"]), ...arrayOf(request["messages"])].filter(isObject);
  const lines = items.flatMap((item, index) => itemLines(item, index));
  const tools = arrayOf(request["tools"]).length;
  const system = systemLength(request);
  return [
    `request to ${stringOf(request["model"]) ?? "?"}: ${Buffer.byteLength(body)} bytes, ${amount(items.length, "item")}, ${amount(tools, "tool")}${system === 0 ? "" : `, ${system} characters of instructions`}`,
    ...(lines.length <= MOST_LINES
      ? lines
      : [
          ...lines.slice(0, MOST_LINES / 2),
          `  … ${lines.length - MOST_LINES} more`,
          ...lines.slice(-MOST_LINES / 2),
        ]),
    `  counts: ${counts(items)}`,
  ].map((line) => inertLine(line, 200).replace(/^(?=\[)/, "  "));
}

function itemLines(item: JsonObject, index: number): readonly string[] {
  const kind = stringOf(item["type"]) ?? stringOf(item["role"]) ?? "?";
  const role = stringOf(item["type"]) === undefined ? undefined : stringOf(item["role"]);
  const who = role === undefined ? kind : `${role} ${kind}`;
  const parts = partsOf(item);
  if (parts.length === 0) return [`[${index}] ${who}`];
  return parts.map(
    ({ what, length, head }) => `[${index}] ${who} ${what} ${length}${head === "" ? "" : `: ${head}`}`,
  );
}

function partsOf(item: JsonObject): readonly Part[] {
  const { function: named = item } = item;
  const call = isObject(named) ? named : item;
  const name = stringOf(call["name"]);
  const args = stringOf(call["arguments"]);
  const own = [
    ...(name === undefined ? [] : [text(`call ${name}`, args ?? "")]),
    ...textPart("output", item["output"]),
    ...opaque(item),
    ...(stringOf(item["reasoning_content"]) === undefined
      ? []
      : [hidden("reasoning_content", item["reasoning_content"])]),
  ];
  const content = item["content"];
  const inner =
    typeof content === "string"
      ? textPart("text", content)
      : arrayOf(content).filter(isObject).flatMap(contentPart);
  const calls = arrayOf(item["tool_calls"])
    .filter(isObject)
    .flatMap((one) => partsOf(one));
  return [...own, ...inner, ...calls];
}

function contentPart(part: JsonObject): readonly Part[] {
  const type = stringOf(part["type"]) ?? "part";
  const words = stringOf(part["text"]) ?? stringOf(part["refusal"]) ?? stringOf(part["content"]);
  if (words !== undefined) return [text(type, words)];
  if (stringOf(part["name"]) !== undefined)
    return [text(`${type} ${String(part["name"])}`, JSON.stringify(part["input"] ?? {}))];
  return [hidden(type, JSON.stringify(part))];
}

/** Shows how much reasoning there is, not its text. */
function opaque(item: JsonObject): readonly Part[] {
  const payload = stringOf(item["encrypted_content"]);
  const summaries = arrayOf(item["summary"]).length;
  if (payload === undefined && item["summary"] === undefined) return [];
  return [{ what: `payload (${amount(summaries, "summary part")})`, length: payload?.length ?? 0, head: "" }];
}

function textPart(what: string, value: unknown): readonly Part[] {
  return typeof value === "string" ? [text(what, value)] : [];
}

function text(what: string, value: string): Part {
  return { what, length: value.length, head: value.replaceAll(/\s+/g, " ").slice(0, HEAD) };
}

function hidden(what: string, value: unknown): Part {
  return { what, length: String(value).length, head: "" };
}

function counts(items: readonly JsonObject[]): string {
  const by = new Map<string, number>();
  for (const item of items) {
    const kind = stringOf(item["type"]) ?? stringOf(item["role"]) ?? "?";
    by.set(kind, (by.get(kind) ?? 0) + 1);
  }
  return by.size === 0 ? "nothing" : [...by].map(([kind, count]) => `${kind} ${count}`).join(", ");
}

function systemLength(request: JsonObject): number {
  const system = request["instructions"] ?? request["system"];
  return typeof system === "string"
    ? system.length
    : system === undefined
      ? 0
      : JSON.stringify(system).length;
}
