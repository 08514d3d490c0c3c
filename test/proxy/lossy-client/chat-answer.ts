/** A chat answer as one message, from a body or from the chunks of a stream. */

import { arrayOf, type JsonObject, objectOf, stringOf } from "../../../src/base/support/index.ts";
import type { Assembled, DraftThought } from "./dialect.ts";

export const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_details"] as const;

export function fromMessage(message: JsonObject, finish: unknown): Assembled {
  const { content } = message;
  const parts = arrayOf(content).map(objectOf);
  const text =
    typeof content === "string"
      ? content
      : parts.map((part) => (part["type"] === "text" ? String(part["text"]) : "")).join("");
  const calls = arrayOf(message["tool_calls"]).map(objectOf);
  return {
    pieces: [message],
    thoughts: thoughtOf(message, parts),
    members: (text === "" ? 0 : 1) + calls.length,
    calls: calls.map((call) => ({
      id: String(call["id"]),
      name: String(objectOf(call["function"])["name"]),
    })),
    completed: finish === "stop" || finish === "tool_calls",
    text,
  };
}

function thoughtOf(message: JsonObject, parts: readonly JsonObject[]): readonly DraftThought[] {
  const raw: Record<string, unknown> = {};
  for (const field of REASONING_FIELDS) if (message[field] !== undefined) raw[field] = message[field];
  const thinking = parts.filter(({ type }) => type === "thinking");
  if (thinking.length > 0) raw["content"] = thinking;
  if (Object.keys(raw).length === 0) return [];
  const details = arrayOf(raw["reasoning_details"]).map(objectOf);
  const data = details.flatMap((one) => (typeof one["data"] === "string" ? [one["data"]] : []));
  const signatures = thinking.flatMap((part) => stringOf(part["signature"]) ?? []);
  const payloads = [data.join(" "), signatures.join("")].filter((one) => one !== "");
  const readable =
    details.length > 0
      ? detailsIn(details).text
      : (stringOf(message["reasoning_content"]) ??
        stringOf(message["reasoning"]) ??
        thinking
          .flatMap((part) => arrayOf(part["thinking"]).map((one) => String(objectOf(one)["text"])))
          .join(""));
  return [{ follower: 0, payloads, text: readable, raw }];
}

/** The text and the ciphertexts of `reasoning_details`, however the stream had cut them. */
export function detailsIn(details: readonly JsonObject[]): {
  readonly payload: string | undefined;
  readonly text: string;
} {
  const data = details.flatMap((one) => (typeof one["data"] === "string" ? [one["data"]] : []));
  const byIndex = new Map<unknown, string>();
  for (const one of details) {
    const text = stringOf(one["summary"]) ?? stringOf(one["text"]);
    if (text !== undefined) byIndex.set(one["index"], (byIndex.get(one["index"]) ?? "") + text);
  }
  return {
    payload: data.length === 0 ? undefined : data.join(" "),
    text: [...byIndex.values()].join("\n\n"),
  };
}

interface Growing {
  readonly message: Record<string, unknown>;
  readonly calls: Record<string, unknown>[];
  readonly details: Record<string, unknown>[];
  readonly parts: Record<string, unknown>[];
  text: string;
}

export function fromChunks(events: readonly JsonObject[]): Assembled {
  const growing: Growing = { message: { role: "assistant" }, calls: [], details: [], parts: [], text: "" };
  let finish: unknown;
  for (const event of events) {
    const choice = objectOf(arrayOf(event["choices"])[0]);
    if (choice["finish_reason"] !== undefined && choice["finish_reason"] !== null)
      finish = choice["finish_reason"];
    grow(growing, objectOf(choice["delta"]));
  }
  const { message, calls, details, parts, text } = growing;
  if (details.length > 0) message["reasoning_details"] = details;
  const content =
    parts.length > 0
      ? [...parts, ...(text === "" ? [] : [{ type: "text", text }])]
      : text === "" && calls.length > 0
        ? null
        : text;
  const made = calls.length === 0 ? {} : { tool_calls: calls };
  return fromMessage({ ...message, content, ...made }, finish);
}

function grow(growing: Growing, delta: JsonObject): void {
  const { message } = growing;
  for (const field of ["reasoning_content", "reasoning"]) {
    const piece = delta[field];
    if (typeof piece !== "string" || (piece === "" && message[field] === undefined)) continue;
    message[field] = (stringOf(message[field]) ?? "") + piece;
  }
  for (const detail of arrayOf(delta["reasoning_details"])) addDetail(growing.details, objectOf(detail));
  const { content } = delta;
  if (typeof content === "string") growing.text += content;
  for (const part of arrayOf(content).map(objectOf)) {
    if (part["type"] === "text") growing.text += String(part["text"]);
    else addThinking(growing.parts, part);
  }
  for (const call of arrayOf(delta["tool_calls"]).map(objectOf)) addCall(growing.calls, call);
}

/** One entry per type and index, as clients join them. */
function addDetail(details: Record<string, unknown>[], next: JsonObject): void {
  const last = details.at(-1);
  const grows = ["summary", "text"].find((name) => typeof next[name] === "string");
  if (
    last !== undefined &&
    grows !== undefined &&
    last["type"] === next["type"] &&
    last["index"] === next["index"]
  )
    last[grows] = String(last[grows]) + String(next[grows]);
  else details.push({ ...next });
}

function addThinking(parts: Record<string, unknown>[], next: JsonObject): void {
  const pieces = arrayOf(next["thinking"])
    .map((one) => String(objectOf(one)["text"]))
    .join("");
  const [part] = parts;
  const { thinking: _, ...rest } = next;
  if (part === undefined) {
    parts.push({ type: "thinking", thinking: [{ type: "text", text: pieces }], ...rest });
    return;
  }
  const before = String(objectOf(arrayOf(part["thinking"])[0])["text"]);
  Object.assign(part, rest, { thinking: [{ type: "text", text: before + pieces }] });
}

function addCall(calls: Record<string, unknown>[], next: JsonObject): void {
  const at = Number(next["index"] ?? calls.length);
  const made = objectOf(next["function"]);
  const known = calls[at];
  if (known === undefined) {
    const { index: _, ...rest } = next;
    calls[at] = {
      type: "function",
      ...rest,
      function: { ...made, arguments: stringOf(made["arguments"]) ?? "" },
    };
    return;
  }
  const before = objectOf(known["function"]);
  known["function"] = {
    ...before,
    arguments: String(before["arguments"]) + (stringOf(made["arguments"]) ?? ""),
  };
}
