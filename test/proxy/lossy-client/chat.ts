/** Chat completions of the lossy client, in the forms of the vendors that show their reasoning. */

import {
  arrayOf,
  assertNever,
  isObject,
  type JsonObject,
  objectOf,
  stringOf,
} from "../../../src/base/support/index.ts";
import { detailsIn, fromChunks, fromMessage, REASONING_FIELDS } from "./chat-answer.ts";
import { canonical, type Draft, type Entry, type LossyDialect, type ModelChoice, TOOLS } from "./dialect.ts";
import { type Element, fromOf, marked, type Reading, type SeenThought, type Slot } from "./truth.ts";

const disabled = { thinking: { type: "disabled" } };
const noEffort = { reasoning_effort: "none" };

/**
 * Vendors that ignore old reasoning unless told otherwise are told otherwise. Those that want every thought back are
 * never asked for an answer without one: nobody could send such a history on.
 */
const models: readonly ModelChoice[] = [
  {
    id: "emu-deepseek",
    head: {},
    others: ["deepseek-v4-flash", "emu-glm"],
    vendor: "deepseek",
  },
  { id: "deepseek-v4-flash", head: {}, others: ["emu-deepseek"], vendor: "deepseek" },
  {
    id: "emu-kimi",
    head: { thinking: { type: "enabled", keep: "all" } },
    others: ["emu-kimi-k3"],
    vendor: "kimi",
  },
  { id: "emu-kimi-k3", head: {}, others: ["emu-kimi"], vendor: "kimi", insists: true },
  { id: "emu-mistral", head: {}, off: noEffort, others: ["emu-groq"] },
  { id: "emu-router", head: {}, others: ["emu-deepseek"], callProves: true },
  {
    id: "emu-glm",
    head: { thinking: { type: "enabled", clear_thinking: false } },
    off: disabled,
    others: ["emu-qwen"],
  },
  { id: "emu-groq", head: {}, off: noEffort, others: ["emu-vllm"] },
  { id: "emu-vllm", head: { chat_template_kwargs: { preserve_thinking: true } }, others: ["emu-glm"] },
  { id: "emu-qwen", head: { preserve_thinking: true }, others: ["emu-glm"] },
  { id: "emu-minimax", head: { reasoning_split: true }, others: ["emu-glm"] },
  { id: "emu-cerebras", head: { clear_thinking: false }, others: ["emu-vllm"] },
];

export const chat: LossyDialect = {
  name: "openai-chat",
  path: "/v1/chat/completions",
  list: "messages",
  models,
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  draft(entries, { model, system }): Draft {
    const tools = TOOLS.map((one) => ({ type: "function", function: one }));
    return {
      head: { model: model.id, tools, ...model.head },
      list: [{ role: "system", content: system }, ...entries.flatMap(messagesOf)],
    };
  },
  assemble: (from) => {
    if (!("body" in from)) return fromChunks(from.events);
    const choice = objectOf(arrayOf(from.body["choices"])[0]);
    return fromMessage(objectOf(choice["message"]), choice["finish_reason"]);
  },
  read,
  same: (thought, seen) => {
    const issued = thought.raw[seen.field];
    if (issued === undefined) return false;
    if (typeof issued === "string") return issued === seen.text;
    return thought.payloads[0] === seen.payload && thought.text === seen.text;
  },
  // The router sends a readable copy along; only the details are the thought.
  whole: (thought, seen) => seen.field === primary(thought.raw),
};

function primary(raw: JsonObject): string {
  return "reasoning_details" in raw ? "reasoning_details" : (Object.keys(raw)[0] ?? "");
}

function messagesOf(entry: Entry): readonly Element[] {
  switch (entry.kind) {
    case "user":
      return [{ role: "user", content: entry.text }];
    case "partial": {
      const from = { answer: entry.answer, members: [], changed: true } as const;
      return [marked({ role: "assistant", content: entry.text }, from)];
    }
    case "results":
      return entry.answer.calls.map(({ id }, index) => ({
        role: "tool",
        tool_call_id: id,
        content: entry.texts[index] ?? "",
      }));
    case "answer": {
      const { answer } = entry;
      const members = Array.from({ length: answer.members }, (_, index) => index);
      return answer.pieces.map((piece) => marked(piece, { answer, members }));
    }
    default:
      return assertNever(entry, "entry");
  }
}

function read(body: JsonObject): Reading {
  const { messages, stream: _stream, stream_options: _options, ...rest } = body;
  const slots = arrayOf(messages).flatMap((message) => (isObject(message) ? [readMessage(message)] : []));
  return { head: JSON.stringify(rest), slots };
}

function readMessage(message: JsonObject): Slot {
  const text = spoken(message["content"]);
  const role = String(message["role"]);
  if (role === "assistant") {
    const calls = arrayOf(message["tool_calls"]).map(objectOf);
    const made = calls.map((call) => {
      const { name, arguments: given } = objectOf(call["function"]);
      return `call ${String(name)} ${canonical(String(given))}`;
    });
    const mark = [...(text === "" ? [] : [`said ${text.trim()}`]), ...made].join("\n");
    const json = JSON.stringify([role, text, calls]);
    return { kind: "said", json, mark, exact: json, from: fromOf(message), thoughts: thoughtsIn(message) };
  }
  const kind = role === "tool" ? "result" : role === "user" ? "user" : "system";
  const json = JSON.stringify(message);
  return { kind, json, mark: `${kind} ${text.trim()}`, exact: json, from: undefined, thoughts: [] };
}

function spoken(content: unknown): string {
  if (typeof content === "string") return content;
  return arrayOf(content)
    .map((part) => (objectOf(part)["type"] === "thinking" ? "" : (stringOf(objectOf(part)["text"]) ?? "")))
    .join("");
}

function thoughtsIn(message: JsonObject): readonly SeenThought[] {
  const found: SeenThought[] = [];
  for (const field of REASONING_FIELDS) {
    const value = message[field];
    if (value === undefined || value === null) continue;
    const json = JSON.stringify({ [field]: value });
    if (typeof value === "string")
      found.push({ json, payload: undefined, text: value, id: undefined, field });
    else found.push({ json, ...detailsIn(arrayOf(value).map(objectOf)), id: undefined, field });
  }
  const parts = arrayOf(message["content"])
    .map(objectOf)
    .filter(({ type }) => type === "thinking");
  if (parts.length > 0) {
    const payload = parts.map((part) => stringOf(part["signature"]) ?? "").join("");
    const text = parts.map((part) => spoken(part["thinking"])).join("");
    found.push({
      json: JSON.stringify({ content: parts }),
      payload: payload === "" ? undefined : payload,
      text,
      id: undefined,
      field: "content",
    });
  }
  return found;
}
