/** A value of the wrong shape in chat: the message is that of the Responses API, the body around it the vendor's. */

import { stringOf } from "../../base/support/index.ts";
import { responsesWords } from "../responses/judge/shape-words.ts";
import { type ShapeRows, shapeRows } from "../shape/shape-rows.ts";
import { type ChatRefusal, inWordsOf } from "./refusals.ts";
import type { Vendor } from "./vendors.ts";

/** `rule`: overrides the usual rule for a missing field or a wrong value. */
export function chatRows(vendor: Vendor, rule?: string): ShapeRows<ChatRefusal> {
  const { at, missing, unknown, kind, value } = responsesWords;
  return shapeRows({
    at,
    missing: (path) => inWordsOf(vendor, missing(path, rule)),
    unknown: (path) => inWordsOf(vendor, unknown(path)),
    kind: (path, one, expected) => inWordsOf(vendor, kind(path, one, expected)),
    value: (path, one, allowed) => inWordsOf(vendor, value(path, one, allowed, rule)),
  });
}

/** Reads a field in which only a string counts: any other value is treated as empty. */
export function textOrNothing(value: unknown): string {
  return stringOf(value) ?? "";
}
