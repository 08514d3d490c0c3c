/**
 * The event sequence of a response, as recorded (failures.md §2.4). Events have no sequence number yet: faults may
 * still add, drop or swap some, so they are numbered at the very end.
 */

import { createHash } from "node:crypto";

import type { JsonObject } from "../../../base/support/index.ts";
import { deltaTexts, type StreamEvent } from "../../output/stream-event.ts";
import { type IssuedItem, messagePart } from "./issue.ts";

export interface EventOptions {
  readonly obfuscate: boolean;
  readonly reasoningText: boolean;
  readonly seed: string;
}

export function itemEvents(one: IssuedItem, options: EventOptions): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  const add = (body: JsonObject, delta?: true): void => {
    events.push({ body, item: one.index, delta });
  };
  const at = { item_id: one.id, output_index: one.index };
  const stream = (type: string, where: JsonObject, text: string, extra: JsonObject = {}): void => {
    for (const [count, piece] of deltaTexts(text).entries()) {
      const pad = options.obfuscate
        ? { obfuscation: obfuscation(piece, `${options.seed} ${one.id} ${count}`) }
        : {};
      add({ type, ...where, delta: piece, ...extra, ...pad }, true);
    }
  };
  add({ type: "response.output_item.added", output_index: one.index, item: one.view("added") });
  inner(one, { add, at, stream, reasoningText: options.reasoningText });
  add({ type: "response.output_item.done", output_index: one.index, item: one.view("done") });
  return events;
}

interface Writer {
  readonly add: (body: JsonObject) => void;
  readonly at: JsonObject;
  readonly stream: (type: string, where: JsonObject, text: string, extra?: JsonObject) => void;
  readonly reasoningText: boolean;
}

function inner(one: IssuedItem, writer: Writer): void {
  const { draft } = one;
  const { add, at, stream } = writer;
  switch (draft.type) {
    case "reasoning":
      if (writer.reasoningText) reasoningTextEvents(draft.text ?? draft.summary.join("\n\n"), writer);
      else for (const [index, text] of draft.summary.entries()) summaryEvents(index, text, writer);
      return;
    case "message":
      messageEvents(draft, writer);
      return;
    case "function_call":
      stream("response.function_call_arguments.delta", at, draft.arguments);
      add({ type: "response.function_call_arguments.done", ...at, arguments: draft.arguments });
      return;
    case "custom_tool_call":
      stream("response.custom_tool_call_input.delta", at, draft.input);
      add({ type: "response.custom_tool_call_input.done", ...at, input: draft.input });
      return;
    case "web_search_call":
      for (const step of ["in_progress", "searching", "completed"]) {
        add({
          type: `response.web_search_call.${step}`,
          output_index: at["output_index"],
          item_id: at["item_id"],
        });
      }
      return;
    case "raw":
      return; // done-only: everything is in `added` and `done`
  }
}

function summaryEvents(index: number, text: string, { add, at, stream }: Writer): void {
  const where = { ...at, summary_index: index };
  add({
    type: "response.reasoning_summary_part.added",
    ...where,
    part: { type: "summary_text", text: "" },
  });
  stream("response.reasoning_summary_text.delta", where, text);
  add({ type: "response.reasoning_summary_text.done", ...where, text });
  add({ type: "response.reasoning_summary_part.done", ...where, part: { type: "summary_text", text } });
}

function reasoningTextEvents(text: string, { add, at, stream }: Writer): void {
  const where = { ...at, content_index: 0 };
  add({ type: "response.content_part.added", ...where, part: { type: "reasoning_text", text: "" } });
  stream("response.reasoning_text.delta", where, text);
  add({ type: "response.reasoning_text.done", ...where, text });
  add({ type: "response.content_part.done", ...where, part: { type: "reasoning_text", text } });
}

function messageEvents(draft: Extract<IssuedItem["draft"], { type: "message" }>, writer: Writer): void {
  const { add, at, stream } = writer;
  const where = { ...at, content_index: 0 };
  const part = messagePart(draft);
  if (draft.refusal === true) {
    add({ type: "response.content_part.added", ...where, part: { type: "refusal", refusal: "" } });
    stream("response.refusal.delta", where, draft.text);
    add({ type: "response.refusal.done", ...where, refusal: draft.text });
  } else {
    add({
      type: "response.content_part.added",
      ...where,
      part: { type: "output_text", annotations: [], logprobs: [], text: "" },
    });
    stream("response.output_text.delta", where, draft.text, { logprobs: [] });
    for (const [index, annotation] of (draft.annotations ?? []).entries()) {
      add({ type: "response.output_text.annotation.added", ...where, annotation_index: index, annotation });
    }
    add({ type: "response.output_text.done", ...where, text: draft.text, logprobs: [] });
  }
  add({ type: "response.content_part.done", ...where, part });
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Pads each delta to a multiple of 16 characters, as in the recordings: this hides its length from an eavesdropper. */
function obfuscation(delta: string, seed: string): string {
  const length = 16 - (delta.length % 16);
  const bytes = createHash("sha256").update(seed).digest();
  let text = "";
  for (let at = 0; at < length; at += 1) text += letters.charAt((bytes[at] ?? 0) % letters.length);
  return text;
}
