/** One JSON array of messages, alone or as a member of an object. */

import { isObject, sliceMember, tryParseJson, codedError } from "../../base/support/index.ts";
import { arrayFile, type RecordFile } from "./element-list.ts";
import { memberStart } from "./json-text.ts";

export function messageArray(text: string): RecordFile {
  const trimmed = text.trim();
  const inside = trimmed.startsWith("{") ? sliceMember(trimmed, "messages") : undefined;
  const array = trimmed.startsWith("[") ? trimmed : inside;
  if (array?.startsWith("[") !== true) throw codedError("input_invalid", "no array of messages");
  const start = inside === undefined ? text.indexOf("[") : memberStart(text, "messages");
  const file = arrayFile(text, array, start);
  const values = file.elements.map((element, index) => {
    const value = tryParseJson(element);
    if (isObject(value)) return value;
    throw codedError("input_invalid", `element ${index} is not an object`);
  });
  const name = inside === undefined ? "" : "messages";
  return { ...file, values, damage: [], where: (index) => `${name}[${index}]`, clean: () => text };
}
