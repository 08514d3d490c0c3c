/** The Messages dialect of the lossy client, with thinking enabled or adaptive. */

import {
  arrayOf,
  assertNever,
  isObject,
  type JsonObject,
  objectOf,
  stringOf,
} from "../../../src/base/support/index.ts";
import {
  type Assembled,
  canonical,
  type Draft,
  type DraftThought,
  type Entry,
  type LossyDialect,
  slotOf,
  TOOLS,
} from "./dialect.ts";
import { type Element, fromOf, marked, type Reading, type SeenThought, type Slot } from "./truth.ts";

const enabled = { max_tokens: 8000, thinking: { type: "enabled", budget_tokens: 2000 } };
const adaptive = { max_tokens: 8000, thinking: { type: "adaptive" } };
const off = { max_tokens: 8000, thinking: { type: "disabled" } };

export const messages: LossyDialect = {
  name: "anthropic-messages",
  path: "/v1/messages",
  list: "messages",
  models: [
    { id: "emu-claude", head: enabled, off, others: ["emu-claude-adaptive", "emu-claude-bound"] },
    { id: "emu-claude-adaptive", head: adaptive, off, others: ["emu-claude"] },
    { id: "emu-claude-bound", head: adaptive, off, others: ["emu-claude-adaptive"], bound: true },
  ],
  headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
  draft(entries, { model, system }): Draft {
    const tools = TOOLS.map(({ parameters, ...rest }) => ({ ...rest, input_schema: parameters }));
    return { head: { model: model.id, system, tools, ...model.head }, list: entries.map(messageOf) };
  },
  assemble: (from) => {
    if ("body" in from)
      return fromBlocks(arrayOf(from.body["content"]).map(objectOf), from.body["stop_reason"]);
    return fromEvents(from.events);
  },
  read,
  same: (thought, seen) =>
    seen.payload !== undefined && thought.payloads.includes(seen.payload) && thought.text === seen.text,
  whole: () => true,
};

function messageOf(entry: Entry): Element {
  switch (entry.kind) {
    case "user":
      return { role: "user", content: [{ type: "text", text: entry.text }] };
    case "partial": {
      const from = { answer: entry.answer, members: [], changed: true } as const;
      return { role: "assistant", content: [marked({ type: "text", text: entry.text }, from)] };
    }
    case "results":
      return {
        role: "user",
        content: entry.answer.calls.map(({ id }, index) => ({
          type: "tool_result",
          tool_use_id: id,
          content: [{ type: "text", text: entry.texts[index] ?? "" }],
        })),
      };
    case "answer": {
      const { answer } = entry;
      let member = -1;
      const content = answer.pieces.map((piece) => {
        if (isThought(piece)) return { ...piece };
        member += 1;
        return marked(piece, { answer, members: [member] });
      });
      return { role: "assistant", content };
    }
    default:
      return assertNever(entry, "entry");
  }
}

export function isThought(block: JsonObject): boolean {
  return block["type"] === "thinking" || block["type"] === "redacted_thinking";
}

/** Why an answer ended, if it ended as it should. */
const COMPLETE: readonly unknown[] = ["end_turn", "tool_use", "stop_sequence"];

function fromBlocks(blocks: readonly JsonObject[], stop: unknown): Assembled {
  const thoughts: DraftThought[] = [];
  let member = 0;
  for (const block of blocks) {
    if (!isThought(block)) {
      member += 1;
      continue;
    }
    const payload = stringOf(block["signature"]) ?? stringOf(block["data"]) ?? "";
    const text = stringOf(block["thinking"]) ?? "";
    thoughts.push({ follower: member, payloads: payload === "" ? [] : [payload], text, raw: block });
  }
  return {
    pieces: blocks,
    thoughts,
    members: member,
    calls: blocks.flatMap(({ type, id, name }) =>
      type === "tool_use" ? [{ id: String(id), name: String(name) }] : [],
    ),
    completed: COMPLETE.includes(stop),
    text: blocks.map((block) => (block["type"] === "text" ? String(block["text"]) : "")).join(""),
  };
}

function fromEvents(events: readonly JsonObject[]): Assembled {
  const blocks: { block: Record<string, unknown>; input: string }[] = [];
  let stop: unknown;
  let ended = false;
  for (const event of events) {
    const delta = objectOf(event["delta"]);
    if (event["type"] === "content_block_start")
      blocks[Number(event["index"])] = { block: { ...objectOf(event["content_block"]) }, input: "" };
    if (event["type"] === "message_delta") stop = delta["stop_reason"];
    if (event["type"] === "message_stop") ended = true;
    const open = event["type"] === "content_block_delta" ? blocks[Number(event["index"])] : undefined;
    if (open === undefined) continue;
    for (const name of ["thinking", "text", "signature"]) {
      const piece = delta[name];
      if (typeof piece === "string") open.block[name] = (stringOf(open.block[name]) ?? "") + piece;
    }
    if (typeof delta["partial_json"] === "string") open.input += delta["partial_json"];
  }
  const made = blocks.flatMap(({ block, input }) =>
    block["type"] === "tool_use" && input !== "" ? [{ ...block, input: parsed(input) }] : [block],
  );
  return fromBlocks(made, ended ? stop : undefined);
}

/** The input of a call that was cut is never sent. */
function parsed(json: string): JsonObject {
  try {
    return objectOf(JSON.parse(json));
  } catch {
    return {};
  }
}

function read(body: JsonObject): Reading {
  const { messages: list, stream: _, ...rest } = body;
  const slots: Slot[] = [];
  let thoughts: SeenThought[] = [];
  for (const message of arrayOf(list).map(objectOf)) {
    const role = String(message["role"]);
    const { content } = message;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : arrayOf(content);
    for (const block of blocks) {
      if (!isObject(block)) continue;
      if (isThought(block)) {
        thoughts.push({
          json: JSON.stringify(block),
          payload: stringOf(block["signature"]) ?? stringOf(block["data"]),
          text: stringOf(block["thinking"]) ?? "",
          id: undefined,
          field: String(block["type"]),
        });
        continue;
      }
      slots.push(readBlock(block, role, thoughts));
      thoughts = [];
    }
  }
  if (thoughts.length > 0) slots.push(slotOf({ kind: "end", json: "", mark: "", exact: "", thoughts }));
  return { head: JSON.stringify(rest), slots };
}

function readBlock(block: JsonObject, role: string, thoughts: readonly SeenThought[]): Slot {
  const { cache_control: _, ...plain } = block;
  const exact = `${role} ${JSON.stringify(plain)}`;
  const base = { json: `${role} ${JSON.stringify(block)}`, exact, thoughts, from: fromOf(block) };
  switch (block["type"]) {
    case "text": {
      const kind = role === "assistant" ? "said" : role === "user" ? "user" : "system";
      return { ...base, kind, mark: `${kind} ${String(block["text"]).trim()}` };
    }
    case "tool_use": {
      const mark = `call ${String(block["name"])} ${canonical(JSON.stringify(block["input"]))}`;
      return { ...base, kind: "call", mark };
    }
    case "tool_result":
      return { ...base, kind: "result", mark: `result ${resultText(block["content"])}` };
    default:
      return { ...base, kind: "said", mark: exact };
  }
}

function resultText(content: unknown): string {
  if (typeof content === "string") return content;
  return arrayOf(content)
    .map((part) => stringOf(objectOf(part)["text"]) ?? "")
    .join("");
}
