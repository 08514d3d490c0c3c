/**
 * What the formats share that are one JSON array of messages, alone or as a member of an object.
 *
 * @module
 */

import {
  isObject,
  type JsonObject,
  sliceMember,
  ThroughlineError,
  tryParseJson,
} from "../../../base/support/index.ts";
import { arrayFile, type ElementFile } from "../element-list.ts";
import { memberStart } from "../json-text.ts";

export interface MessageArray {
  readonly file: ElementFile;
  readonly values: readonly JsonObject[];
  /** How a place in it is written: `[3]`, `messages[3]`. */
  placeOf(index: number): string;
}

export function messageArray(text: string): MessageArray {
  const trimmed = text.trim();
  const inside = trimmed.startsWith("{") ? sliceMember(trimmed, "messages") : undefined;
  const array = trimmed.startsWith("[") ? trimmed : inside;
  if (array?.startsWith("[") !== true)
    throw new ThroughlineError({ code: "input_invalid", message: "no array of messages" });
  const start = inside === undefined ? text.indexOf("[") : memberStart(text, "messages");
  const file = arrayFile(text, array, start);
  const values = file.elements.map((element, index) => {
    const value = tryParseJson(element);
    if (isObject(value)) return value;
    throw new ThroughlineError({ code: "input_invalid", message: `element ${index} is not an object` });
  });
  const name = inside === undefined ? "" : "messages";
  return { file, values, placeOf: (index) => `${name}[${index}]` };
}
