/**
 * The usual item: every field goes back exactly as it came. One look at its text shows that, and gives the outline that
 * the rules check, without cutting the text into members. The head of the event says what to expect; the text has to
 * say the same. Anything else is undefined here and rendered member by member (render-items.ts). A property test
 * ensures that both give the same element.
 */

import { compactMembers } from "../../../base/support/index.ts";
import type { ItemOutline } from "../../rules/index.ts";
import { inputFields } from "./item-fields.ts";

/** Four numbers per member. The input accepts fewer fields than this has room for. */
const spans = new Int32Array(4 * 16);

/** What the head of the event says. */
interface Expected {
  readonly itemType: string;
  readonly itemId?: string | undefined;
  /** Of a call; otherwise empty. */
  readonly callId: string;
  readonly name: string;
}

/** The outline of an item whose own text is sent. `withIds`: its id is sent too. */
export function wholeItem(expected: Expected, item: string, withIds: boolean): ItemOutline | undefined {
  const { itemType, itemId, callId, name } = expected;
  const fields = FIELDS[itemType];
  if (fields === undefined || (callId !== "" && !PLAIN.test(callId))) return undefined;
  const count = compactMembers(item, spans);
  let seen = 0;
  let payload: ItemOutline["payload"] = "absent";
  for (let at = 0; at < 4 * count; at += 4) {
    const keyAt = spans[at] as number;
    const valueAt = spans[at + 2] as number;
    const valueEnd = spans[at + 3] as number;
    const field = fieldAt(fields, item, keyAt, spans[at + 1] as number);
    if (field === -1) return undefined; // not sent back
    if ((seen & (1 << field)) !== 0) return undefined;
    seen |= 1 << field;
    if (field === ID && (!withIds || itemId === undefined)) return undefined;
    if (field <= NAME && !isText(item, valueAt, valueEnd, valueOf(field, expected))) return undefined;
    if (field === SUMMARY && item.charCodeAt(valueAt) !== OPEN_BRACKET) return undefined;
    if (field === PAYLOAD) {
      if (item.startsWith("null", valueAt)) return undefined;
      payload = isText(item, valueAt, valueEnd, "") ? "empty" : "present";
    }
  }
  const needed = itemType === "reasoning" ? (1 << TYPE) | (1 << SUMMARY) : 1 << TYPE;
  if (count === -1 || (seen & needed) !== needed) return undefined;
  return {
    type: itemType,
    id: (seen & (1 << ID)) === 0 ? undefined : itemId,
    callId: (seen & (1 << CALL_ID)) === 0 ? undefined : callId,
    name: (seen & (1 << NAME)) === 0 ? undefined : name,
    role: undefined,
    payload,
    summary: (seen & (1 << SUMMARY)) === 0 ? "missing" : "array",
    hasContent: false,
    contentTypes: undefined,
    hasOutput: false,
    hasStatus: (seen & (1 << STATUS)) !== 0,
  };
}

function valueOf(field: number, { itemType, itemId = "", callId, name }: Expected): string {
  if (field === TYPE) return itemType;
  if (field === ID) return itemId;
  return field === CALL_ID ? callId : name;
}

/** The output of a function call. `json` is its text as JSON. Undefined for an id that JSON has to escape. */
export function wholeOutput(
  callId: string,
  json: string,
): { readonly text: string; readonly outline: ItemOutline } | undefined {
  if (!PLAIN.test(callId)) return undefined;
  return {
    text: `{"type":"function_call_output","call_id":"${callId}","output":${json}}`,
    outline: {
      type: "function_call_output",
      id: undefined,
      callId,
      name: undefined,
      role: undefined,
      payload: "absent",
      summary: "missing",
      hasContent: false,
      contentTypes: undefined,
      hasOutput: true,
      hasStatus: false,
    },
  };
}

/** Written in JSON as it is. */
const PLAIN = /^[\w.:-]+$/;
const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;

/** The fields that mean something here. Their places in every list below are the same. */
const NAMED = ["type", "id", "call_id", "name", "summary", "encrypted_content", "status"] as const;
const [TYPE, ID, CALL_ID, NAME, SUMMARY, PAYLOAD, STATUS] = [0, 1, 2, 3, 4, 5, 6] as const;

/** By item type, every field that the input accepts, at the places of `NAMED`; an empty name matches nothing. */
const FIELDS: Readonly<Record<string, readonly string[] | undefined>> = Object.fromEntries(
  ["reasoning", "function_call", "custom_tool_call"].map((itemType) => {
    const allowed = inputFields(itemType, "empty") ?? [];
    const named = NAMED.map((field) => (allowed.includes(field) ? field : ""));
    return [
      itemType,
      [...named, ...allowed.filter((field) => !(NAMED as readonly string[]).includes(field))],
    ];
  }),
);

function fieldAt(fields: readonly string[], text: string, start: number, end: number): number {
  const length = end - start;
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] as string;
    if (field.length === length && length > 0 && text.startsWith(field, start)) return at;
  }
  return -1;
}

/** Whether the value is this text in quotes. The text needs no escapes. */
function isText(item: string, start: number, end: number, text: string): boolean {
  return (
    end - start === text.length + 2 && item.charCodeAt(start) === QUOTE && item.startsWith(text, start + 1)
  );
}
