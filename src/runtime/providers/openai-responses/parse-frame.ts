/**
 * Parses the JSON of a stream event. Large events repeat payloads of several megabytes that are never read, so those
 * are skipped, and items that are needed whole are sliced out of the text.
 */

import {
  type JsonObject,
  objectOf,
  sliceMember,
  sliceObject,
  stringValue,
  tryParseJson,
  withoutLongStrings,
} from "../../../base/support/index.ts";

/** Parses an event. Large events carry whole items, which are sliced out as text, so their payloads need no parsing. */
export function parseFrame(data: string, payloads: string[]): unknown {
  if (data.length < LARGE_FRAME) return tryParseJson(data);
  const type = stringValue(sliceMember(data, "type") ?? "");
  return tryParseJson(WITH_ITEMS.has(type ?? "") ? withoutLongStrings(data, payloads) : data);
}

const LARGE_FRAME = 64 * 1024;

/**
 * The response in an event. For a large event, all fields but the items are parsed in full; the items lack their long
 * strings.
 */
export function responseIn(value: JsonObject, data: string): JsonObject {
  const response = objectOf(value["response"]);
  if (data.length < LARGE_FRAME) return response;
  const members = sliceObject(sliceMember(data, "response") ?? "{}").filter(({ key }) => key !== "output");
  const whole = members.map(({ key, value: text }) => `${JSON.stringify(key)}:${text}`).join(",");
  return { ...objectOf(tryParseJson(`{${whole}}`)), output: response["output"] ?? null };
}

const WITH_ITEMS: ReadonlySet<string> = new Set([
  "response.output_item.done",
  "response.completed",
  "response.incomplete",
  "response.failed",
]);
