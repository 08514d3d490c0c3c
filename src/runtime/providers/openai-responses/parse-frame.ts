/**
 * The JSON of a stream event. Large ones repeat payloads of megabytes, which nobody looks into: those are left out of the
 * parsing, and what is needed whole is cut out of the text.
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

/** A large event is one that carries whole items, which are cut out as text: payloads need not be parsed for that. */
export function parseFrame(data: string, payloads: string[]): unknown {
  if (data.length < LARGE_FRAME) return tryParseJson(data);
  const type = stringValue(sliceMember(data, "type") ?? "");
  return tryParseJson(WITH_ITEMS.has(type ?? "") ? withoutLongStrings(data, payloads) : data);
}

const LARGE_FRAME = 64 * 1024;

/** The response an event tells of, as it was parsed; of a large event everything but the items, whose strings are gone. */
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
