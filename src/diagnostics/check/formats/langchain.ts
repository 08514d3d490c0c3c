/**
 * Serialised LangChain messages: `{type, data}` (messages_to_dict), constructors (`lc: 1`), or flat. Their content is a
 * text or a list of blocks in the provider's format.
 */

import {
  arrayOf,
  isObject,
  type JsonObject,
  objectOf,
  sliceArray,
  sliceMember,
  stringOf,
} from "../../../base/support/index.ts";
import { type Block, blockHistory, type FoundBlock } from "../block-history.ts";
import type { RecordFile } from "../element-list.ts";
import { type History, type HistoryDialect, LOST_RESULT } from "../history.ts";
import { arrayText, atPath, exchanged, textMember, withMember, withoutMember } from "../json-text.ts";
import { messageArray } from "../message-array.ts";
import type { RecordEdits } from "../record-edits.ts";
import { textOf } from "./text-of.ts";

export function openLangchain(text: string): History {
  const file = messageArray(text);
  const dialect = dialectOf(file);
  return blockHistory(file, {
    format: "langchain",
    stored: true,
    dialect,
    blocksOf: (value, element) => blocksOf(value, file.elements[element] ?? "{}", dialect),
    partsIn: (_, blocks) => blocks,
    close: (edits, call) => close(edits, file, call),
    rename(edits, { element, path }, callId) {
      const own = fieldsPath(file.values[element] ?? {});
      edits.setAt(element, path.length === 0 ? [...own, "tool_call_id"] : [...path, "id"], callId);
    },
    renameTool(edits, { element, path, callId }, from, to) {
      const own = fieldsPath(file.values[element] ?? {});
      edits.exchangeAt(element, path.length === 0 ? [...own, "name"] : [...path, "name"], from, to);
      // A call in the content is also in `tool_calls`.
      edits.changeAt(element, [...own, "tool_calls"], (calls) =>
        arrayText(
          sliceArray(calls).map((call) =>
            textMember(call, "id") === callId ? atPath(call, ["name"], exchanged(from, to)) : call,
          ),
        ),
      );
    },
    dropped,
  });
}

/** The path to the fields of a message. */
function fieldsPath(value: JsonObject): readonly string[] {
  if (value["lc"] === 1) return ["kwargs"];
  return isObject(value["data"]) ? ["data"] : [];
}

export function fieldsOf(value: JsonObject): JsonObject {
  const [key] = fieldsPath(value);
  return key === undefined ? value : objectOf(value[key]);
}

/** `human`, `ai`, `tool`, `system` … */
export function kindOf(value: JsonObject): string {
  if (value["lc"] !== 1) return stringOf(value["type"]) ?? "";
  const name = stringOf(arrayOf(value["id"]).at(-1)) ?? "";
  return name.replace(/Message(?:Chunk)?$/, "").toLowerCase();
}

function dialectOf(file: RecordFile): HistoryDialect {
  return dialectIn(file.values.map(objectOf)) ?? "openai-chat";
}

/** Undefined if no message shows it. */
export function dialectIn(values: readonly JsonObject[]): HistoryDialect | undefined {
  const types = values.flatMap((value) =>
    arrayOf(fieldsOf(value)["content"]).flatMap((part) => stringOf(objectOf(part)["type"]) ?? []),
  );
  if (types.some((type) => ["thinking", "redacted_thinking", "tool_use"].includes(type)))
    return "anthropic-messages";
  const reasoned = values.some((value) =>
    isObject(objectOf(fieldsOf(value)["additional_kwargs"])["reasoning"]),
  );
  return reasoned || types.includes("reasoning") || types.includes("function_call")
    ? "openai-responses"
    : undefined;
}

export function blocksOf(value: JsonObject, element: string, dialect: HistoryDialect): readonly FoundBlock[] {
  const fields = fieldsOf(value);
  const kind = kindOf(value);
  const text = textOf(fields["content"]) ?? "";
  if (kind === "system") return [];
  if (kind === "tool") return [{ kind: "result", callId: stringOf(fields["tool_call_id"]) ?? "", text }];
  if (kind !== "ai") return [{ kind: "user", text: text || "(attachment)" }];
  const own = fieldsPath(value);
  const raw = own.reduce((outer, key) => sliceMember(outer, key) ?? "{}", element);
  const content = sliceArray(sliceMember(raw, "content") ?? "").flatMap((part, at) => {
    const block = contentPart(part, dialect);
    return block === undefined ? [] : [{ ...block, path: [...own, "content", at] }];
  });
  const words = stringOf(fields["content"]) ?? "";
  const called = new Set(content.flatMap((block) => (block.kind === "call" ? [block.callId] : [])));
  const calls = arrayOf(fields["tool_calls"])
    .map(objectOf)
    .map((call, at): FoundBlock => ({
      kind: "call",
      path: [...own, "tool_calls", at],
      callId: stringOf(call["id"]) ?? "",
      name: stringOf(call["name"]) ?? "",
      arguments: JSON.stringify(call["args"] ?? {}),
    }));
  return [
    ...kwargsThought(raw, own, dialect),
    ...content,
    ...(words === "" ? [] : [{ kind: "text", text: words, path: [...own, "content"] } as const]),
    ...calls.filter(({ callId }) => !called.has(callId)),
  ];
}

/** The single field in which some integrations keep a thought (failures.md P08). */
function kwargsThought(raw: string, own: readonly string[], dialect: HistoryDialect): readonly FoundBlock[] {
  const kwargs = sliceMember(raw, "additional_kwargs") ?? "{}";
  const path = [...own, "additional_kwargs"];
  const item = sliceMember(kwargs, "reasoning");
  if (dialect === "openai-responses" && item?.startsWith("{") === true)
    return [{ kind: "reasoning", wire: item, path: [...path, "reasoning"] }];
  const text = textMember(kwargs, "reasoning_content");
  if (dialect !== "openai-chat" || text === undefined) return [];
  return [{ kind: "reasoning", text, path: [...path, "reasoning_content"] }];
}

function contentPart(part: string, dialect: HistoryDialect): FoundBlock | undefined {
  const type = textMember(part, "type") ?? "";
  const callId = textMember(part, "id");
  if (type === "text") {
    const text = textMember(part, "text") ?? "";
    if (text === "") return undefined;
    const id = dialect === "openai-responses" ? callId : undefined;
    return { kind: "text", text, id };
  }
  if (dialect === "anthropic-messages") {
    if (type.endsWith("thinking")) return { kind: "reasoning", wire: withoutIndex(part) };
    return type === "tool_use" ? { kind: "call", wire: withoutIndex(part), callId: callId ?? "" } : undefined;
  }
  if (type === "reasoning") return { kind: "reasoning", wire: withoutIndex(part) };
  if (type !== "function_call") return undefined;
  const call = textMember(part, "call_id") ?? "";
  return { kind: "call", wire: withoutIndex(part), callId: call };
}

/** Streaming leaves an index on blocks. The integrations remove it before they send. */
function withoutIndex(part: string): string {
  return withoutMember(part, "index");
}

/** A call is also in `tool_calls`, where LangChain looks for it. */
function dropped(edits: RecordEdits, { element, path, kind, callId }: Block): void {
  if (kind !== "call" || path.includes("tool_calls")) return;
  edits.changeAt(element, [...path.slice(0, -2), "tool_calls"], (calls) =>
    arrayText(sliceArray(calls).filter((call) => textMember(call, "id") !== callId)),
  );
}

/** A tool message in the same form as its neighbours. */
function close(edits: RecordEdits, { values }: RecordFile, { element, callId, name }: Block): void {
  const call = values[element] ?? {};
  const fields = { content: LOST_RESULT, tool_call_id: callId, name, status: "error" };
  let at = element;
  while (kindOf(values[at + 1] ?? {}) === "tool") at += 1;
  if (call["lc"] === 1) {
    const id = [...arrayOf(call["id"]).slice(0, -1), "ToolMessage"];
    edits.addBehind(at, JSON.stringify({ lc: 1, type: "constructor", id, kwargs: fields }));
  } else if (isObject(call["data"]))
    edits.addBehind(at, JSON.stringify({ type: "tool", data: { ...fields, type: "tool" } }));
  else edits.addBehind(at, withMember(JSON.stringify(fields), "type", '"tool"'));
}
