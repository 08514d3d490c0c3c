/** The Responses dialect of the lossy client, with `store: false` and encrypted reasoning. */

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

const head = { store: false, include: ["reasoning.encrypted_content"], reasoning: { summary: "auto" } };
const off = { store: false, reasoning: { effort: "none" } };

export const responses: LossyDialect = {
  name: "openai-responses",
  path: "/v1/responses",
  list: "input",
  models: [
    { id: "emu-reasoner", head, off, others: ["emu-reasoner-b"], callProves: true },
    { id: "emu-reasoner-b", head, off, others: ["emu-reasoner"], callProves: true },
    { id: "emu-prefix-bound", head, off, others: ["emu-reasoner"], bound: true, callProves: true },
  ],
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  draft(entries, { model, system }): Draft {
    const tools = TOOLS.map((tool) => ({ type: "function", ...tool, strict: false }));
    return {
      head: { model: model.id, instructions: system, tools, ...model.head },
      list: entries.flatMap(itemsOf),
    };
  },
  assemble,
  read,
  same: (thought, seen) =>
    seen.payload !== undefined &&
    thought.payloads.includes(seen.payload) &&
    (seen.id === undefined || seen.id === thought.raw["id"]),
  // The summary is for people: without it the payload is still whole.
  whole: () => true,
};

function itemsOf(entry: Entry): readonly Element[] {
  switch (entry.kind) {
    case "user":
      return [userItem(entry.text)];
    case "partial": {
      const content = [{ type: "output_text", text: entry.text }];
      const from = { answer: entry.answer, members: [], changed: true } as const;
      return [marked({ type: "message", role: "assistant", content }, from)];
    }
    case "results":
      return entry.answer.calls.map(({ id }, index) => ({
        type: "function_call_output",
        call_id: id,
        output: entry.texts[index] ?? "",
      }));
    case "answer": {
      const { answer } = entry;
      let member = -1;
      return answer.pieces.map((piece) => {
        if (piece["type"] === "reasoning") return { ...piece };
        member += 1;
        return marked(piece, { answer, members: [member] });
      });
    }
    default:
      return assertNever(entry, "entry");
  }
}

function userItem(text: string): Element {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

function assemble(
  from: { readonly body: JsonObject } | { readonly events: readonly JsonObject[] },
): Assembled {
  if ("body" in from) return fromOutput(arrayOf(from.body["output"]).map(objectOf), [], from.body["status"]);
  const done = from.events.flatMap((event) =>
    event["type"] === "response.output_item.done" ? [objectOf(event["item"])] : [],
  );
  const end = from.events.findLast((event) =>
    /^response\.(?:completed|incomplete|failed)$/.test(String(event["type"])),
  );
  const response = objectOf(end?.["response"]);
  // The terminal event has other ciphertexts of the same items; either may come back.
  const last = arrayOf(response["output"]).map(objectOf);
  const text = from.events.flatMap((event) =>
    event["type"] === "response.output_text.delta" ? [String(event["delta"])] : [],
  );
  const whole = fromOutput(done, last, response["status"]);
  return whole.text === "" ? { ...whole, text: text.join("") } : whole;
}

function fromOutput(items: readonly JsonObject[], others: readonly JsonObject[], status: unknown): Assembled {
  const thoughts: DraftThought[] = [];
  let member = 0;
  for (const [index, item] of items.entries()) {
    if (item["type"] !== "reasoning") {
      member += 1;
      continue;
    }
    const payloads = [item, objectOf(others[index])].flatMap((one) =>
      typeof one["encrypted_content"] === "string" ? [one["encrypted_content"]] : [],
    );
    thoughts.push({ follower: member, payloads, text: summaryOf(item), raw: item });
  }
  return {
    pieces: items,
    thoughts,
    members: member,
    calls: items.flatMap((item) =>
      item["type"] === "function_call" ? [{ id: String(item["call_id"]), name: String(item["name"]) }] : [],
    ),
    completed: status === "completed",
    text: items.map((item) => (item["type"] === "message" ? textOf(item["content"]) : "")).join(""),
  };
}

function summaryOf(item: JsonObject): string {
  return arrayOf(item["summary"])
    .map((part) => String(objectOf(part)["text"]))
    .join("\n\n");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return arrayOf(content)
    .map((part) => stringOf(objectOf(part)["text"]) ?? stringOf(objectOf(part)["refusal"]) ?? "")
    .join("");
}

function read(body: JsonObject): Reading {
  const { input, stream: _, ...rest } = body;
  const slots: Slot[] = [];
  let thoughts: SeenThought[] = [];
  for (const item of arrayOf(input)) {
    if (!isObject(item)) continue;
    if (item["type"] === "reasoning") {
      thoughts.push({
        json: JSON.stringify(item),
        payload: stringOf(item["encrypted_content"]),
        text: summaryOf(item),
        id: stringOf(item["id"]),
        field: "reasoning",
      });
      continue;
    }
    slots.push(readItem(item, thoughts));
    thoughts = [];
  }
  if (thoughts.length > 0) slots.push(slotOf({ kind: "end", json: "", mark: "", exact: "", thoughts }));
  return { head: JSON.stringify(rest), slots };
}

function readItem(item: JsonObject, thoughts: readonly SeenThought[]): Slot {
  const base = { json: JSON.stringify(item), thoughts, from: fromOf(item) };
  switch (item["type"] ?? "message") {
    case "message": {
      const text = textOf(item["content"]);
      const role = String(item["role"]);
      const kind = role === "assistant" ? "said" : role === "user" ? "user" : "system";
      return { ...base, kind, mark: `${kind} ${text.trim()}`, exact: `${role} ${text}` };
    }
    case "function_call": {
      const { name, arguments: text, call_id: id } = item;
      const mark = `call ${String(name)} ${canonical(String(text))}`;
      return { ...base, kind: "call", mark, exact: `call ${String(id)} ${String(name)} ${String(text)}` };
    }
    case "function_call_output": {
      const text = textOf(item["output"]);
      return {
        ...base,
        kind: "result",
        mark: `result ${text}`,
        exact: `result ${String(item["call_id"])} ${text}`,
      };
    }
    default:
      return { ...base, kind: "said", mark: base.json, exact: base.json };
  }
}
