/**
 * Histories that are broken for other reasons than lost thoughts, to exercise healing: unpaired calls, doubled items,
 * payloads of another account or model, thoughts without what followed them.
 *
 * @module
 */

import { arrayOf, type JsonObject } from "../../../src/base/support/index.ts";
import type { Random } from "../../chaos/random.ts";
import type { Draft } from "./dialect.ts";
import { isThought } from "./messages.ts";
import { type DialectName, type Element, fromOf, type Thought } from "./truth.ts";

export const BREAKS = [
  "orphan-call",
  "orphan-result",
  "double-item",
  "foreign-payload",
  "orphan-thought",
  "trailing-thought",
] as const;

export type Break = (typeof BREAKS)[number];

export interface BreakOptions {
  readonly dialect: DialectName;
  readonly random: Random;
  /** A thought of another account or model. */
  readonly foreign: Thought | undefined;
}

/** Returns `undefined` if this request has nothing to break that way. */
export function breakHistory(kind: Break, draft: Draft, options: BreakOptions): Draft | undefined {
  const list = {
    "orphan-call": () => without(draft.list, options, isResult),
    "orphan-result": () => without(draft.list, options, isEarlierCall(draft.list)),
    "double-item": () => doubled(draft.list, options),
    "foreign-payload": () => withForeign(draft.list, options),
    "orphan-thought": () => withoutFollower(draft.list, options),
    "trailing-thought": () => trailing(draft.list, options),
  }[kind]();
  return list === undefined ? undefined : { ...draft, list };
}

function isResult(element: JsonObject): boolean {
  return (
    element["type"] === "function_call_output" ||
    element["type"] === "tool_result" ||
    element["role"] === "tool"
  );
}

function isCall(element: JsonObject): boolean {
  return (
    element["type"] === "function_call" ||
    element["type"] === "tool_use" ||
    Array.isArray(element["tool_calls"])
  );
}

/** Not a call of the last answer: its result alone is no request that anybody could mend. */
function isEarlierCall(list: readonly Element[]): (element: Element) => boolean {
  const blocks = list.flatMap((one) => [one, ...(arrayOf(one["content"]) as readonly Element[])]);
  const last = blocks.findLast((one) => fromOf(one) !== undefined);
  const answer = last === undefined ? undefined : fromOf(last)?.answer;
  return (element) => isCall(element) && fromOf(element)?.answer !== answer;
}

/** Elements and blocks in one row; an edit gets the element and returns what stands there instead. */
function edited(
  list: readonly Element[],
  { dialect, random }: BreakOptions,
  fits: (element: Element) => boolean,
  edit: (element: Element) => readonly Element[],
): readonly Element[] | undefined {
  const nested = dialect === "anthropic-messages";
  const rows = list.map((element) =>
    nested ? (arrayOf(element["content"]) as readonly Element[]) : [element],
  );
  const found = rows.flatMap((row, at) =>
    row.flatMap((one, index) => (fits(one) ? [[at, index] as const] : [])),
  );
  if (found.length === 0) return undefined;
  const [at, index] = random.pick(found);
  return list.flatMap((element, position): readonly Element[] => {
    if (position !== at) return [element];
    const row = (rows[at] ?? []).flatMap((one, place) => (place === index ? edit(one) : [one]));
    if (!nested) return row;
    return row.length === 0 ? [] : [{ ...element, content: row }];
  });
}

function without(
  list: readonly Element[],
  options: BreakOptions,
  fits: (element: Element) => boolean,
): readonly Element[] | undefined {
  return edited(list, options, fits, () => []);
}

function doubled(list: readonly Element[], options: BreakOptions): readonly Element[] | undefined {
  const { dialect } = options;
  const fits = (element: Element): boolean =>
    dialect === "openai-responses" ? "id" in element && fromOf(element) !== undefined : isResult(element);
  return edited(list, options, fits, (element) => [element, element]);
}

function withForeign(list: readonly Element[], options: BreakOptions): readonly Element[] | undefined {
  const { dialect, random, foreign } = options;
  const garbage = random.chance(0.3) || foreign === undefined;
  const raw = foreign?.raw ?? {};
  if (dialect === "openai-responses") {
    const item = garbage
      ? { type: "reasoning", id: "rs_0badc0de", summary: [], encrypted_content: `gAAAA${"x".repeat(120)}` }
      : raw;
    return edited(
      list,
      options,
      (one) => fromOf(one)?.members[0] === 0,
      (one) => [item, one],
    );
  }
  if (dialect === "anthropic-messages") {
    const block = garbage
      ? { type: "thinking", thinking: "I made this up.", signature: "Erx".repeat(40) }
      : raw;
    return edited(
      list,
      options,
      (one) => fromOf(one)?.members[0] === 0,
      (one) => [block, one],
    );
  }
  if (!garbage) return edited(list, options, isAnswer, (one) => [{ ...one, ...withoutContent(raw) }]);
  return edited(list, options, isAnswer, (one) => [
    { ...one, reasoning_details: [{ type: "reasoning.encrypted", data: "gAAAAx", id: "rs_x", index: 0 }] },
  ]);
}

/** A part of another vendor's content would change the text. */
function withoutContent(raw: JsonObject): JsonObject {
  const { content: _, ...rest } = raw;
  return rest;
}

function isAnswer(element: Element): boolean {
  return fromOf(element) !== undefined;
}

/** The thought stays, the answer that followed it is gone. In chat both are one message. */
function withoutFollower(list: readonly Element[], options: BreakOptions): readonly Element[] | undefined {
  if (options.dialect === "openai-chat") return undefined;
  return without(list, options, (one) => fromOf(one) !== undefined && !isCall(one));
}

function trailing(list: readonly Element[], { dialect }: BreakOptions): readonly Element[] | undefined {
  if (dialect === "openai-chat") return undefined;
  if (dialect === "openai-responses") {
    const thought = list.findLast((one) => one["type"] === "reasoning");
    return thought === undefined ? undefined : [...list.filter((one) => one !== thought), thought];
  }
  const at = list.findLastIndex(
    ({ content }) => Array.isArray(content) && content.length > 1 && isThought(content[0] as JsonObject),
  );
  return list.map((message, index): Element => {
    if (index !== at) return message;
    const [first, ...rest] = arrayOf(message["content"]);
    return { ...message, content: [...rest, first] };
  });
}
