/**
 * LangChain messages as they are serialised: `{type, data}` (messages_to_dict), constructors (`lc: 1`), or flat. Their
 * content is a text or a list of blocks in the words of the provider.
 *
 * @module
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
import { appHistory, type Block, type BlockEdit } from "../app-history.ts";
import { ElementEdits } from "../element-edits.ts";
import { type History, type HistoryDialect, LOST_RESULT } from "../history.ts";
import { atPath, textMember, withMember } from "../json-text.ts";
import { type MessageArray, messageArray } from "./array-source.ts";

interface Found {
  readonly block: Block;
  readonly message: number;
  /** Inside the fields of the message; undefined: the message itself. */
  readonly path: readonly (string | number)[] | undefined;
}

export function openLangchain(text: string): History {
  const array = messageArray(text);
  const dialect = dialectOf(array);
  const found = array.values.flatMap((value, message) => blocksOf(value, message, array, dialect));
  return appHistory({
    format: "langchain",
    dialect,
    blocks: found.map(({ block }) => block),
    rewrite: (edits) => rewrite(text, array, found, edits),
  });
}

/** Where the fields of a message stand. */
function fieldsPath(value: JsonObject): readonly string[] {
  if (value["lc"] === 1) return ["kwargs"];
  return isObject(value["data"]) ? ["data"] : [];
}

function fieldsOf(value: JsonObject): JsonObject {
  const [key] = fieldsPath(value);
  return key === undefined ? value : objectOf(value[key]);
}

function kindOf(value: JsonObject): string {
  if (value["lc"] !== 1) return stringOf(value["type"]) ?? "";
  const name = stringOf(arrayOf(value["id"]).at(-1)) ?? "";
  return name.replace(/Message(?:Chunk)?$/, "").toLowerCase();
}

function dialectOf({ values }: MessageArray): HistoryDialect {
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
    : "openai-chat";
}

type Part = Omit<Block, "message" | "place">;

function blocksOf(
  value: JsonObject,
  message: number,
  array: MessageArray,
  dialect: HistoryDialect,
): readonly Found[] {
  const fields = fieldsOf(value);
  const kind = kindOf(value);
  const found = (block: Part, path?: readonly (string | number)[]): Found => ({
    block: { ...block, message: String(message), place: array.placeOf(message) },
    message,
    path,
  });
  if (kind === "system") return [];
  if (kind === "tool")
    return [
      found({
        kind: "result",
        callId: stringOf(fields["tool_call_id"]) ?? "",
        text: textOf(fields["content"]),
      }),
    ];
  if (kind !== "ai") return [found({ kind: "user", text: textOf(fields["content"]) || "(attachment)" })];
  const raw = fieldsPath(value).reduce(
    (text, key) => sliceMember(text, key) ?? "{}",
    array.file.elements[message] ?? "{}",
  );
  const inContent = sliceArray(sliceMember(raw, "content") ?? "");
  const content = inContent.flatMap((part, at) => {
    const block = contentPart(part, dialect);
    return block === undefined ? [] : [found(block, ["content", at])];
  });
  const words = stringOf(fields["content"]) ?? "";
  const called = new Set(content.flatMap(({ block }) => (block.kind === "call" ? [block.callId] : [])));
  const calls = arrayOf(fields["tool_calls"]).flatMap((call, at) => {
    const one = objectOf(call);
    const callId = stringOf(one["id"]) ?? "";
    if (called.has(callId)) return [];
    const block: Part = {
      kind: "call",
      callId,
      name: stringOf(one["name"]) ?? "",
      arguments: JSON.stringify(one["args"] ?? {}),
    };
    return [found(block, ["tool_calls", at])];
  });
  return [
    ...kwargsThoughts(raw, dialect).map(({ block, path }) => found(block, path)),
    ...content,
    ...(words === "" ? [] : [found({ kind: "text", text: words }, ["content"])]),
    ...calls,
  ];
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return arrayOf(content)
    .filter(isObject)
    .flatMap((part) => stringOf(part["text"]) ?? [])
    .join("\n");
}

/** The one slot some integrations keep a thought in (failures.md P08). */
function kwargsThoughts(
  raw: string,
  dialect: HistoryDialect,
): readonly { readonly block: Part; readonly path: readonly string[] }[] {
  const kwargs = sliceMember(raw, "additional_kwargs") ?? "{}";
  const item = sliceMember(kwargs, "reasoning");
  if (dialect === "openai-responses" && item?.startsWith("{") === true)
    return [{ block: { kind: "reasoning", wire: item }, path: ["additional_kwargs", "reasoning"] }];
  const text = textMember(kwargs, "reasoning_content");
  if (dialect !== "openai-chat" || text === undefined) return [];
  return [{ block: { kind: "reasoning", text }, path: ["additional_kwargs", "reasoning_content"] }];
}

function contentPart(part: string, dialect: HistoryDialect): Part | undefined {
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

/** Streaming leaves an index on blocks, which the integrations take off before they send. */
function withoutIndex(part: string): string {
  return atPath(part, ["index"], () => undefined);
}

function rewrite(
  text: string,
  array: MessageArray,
  found: readonly Found[],
  edits: readonly BlockEdit[],
): string {
  const file = new ElementEdits(array.file);
  const dropped = new Map<number, Found[]>();
  const own = (message: number): readonly string[] => fieldsPath(array.values[message] ?? {});
  for (const edit of edits) {
    const one = found[edit.block];
    if (one === undefined) continue;
    const { message, path } = one;
    if (edit.do === "drop" && path === undefined) file.remove(message);
    else if (edit.do === "drop") dropped.set(message, [...(dropped.get(message) ?? []), one]);
    else if (edit.do === "close") close(file, array, one);
    else if (edit.do === "rename") {
      const id = JSON.stringify(edit.callId);
      const at = path === undefined ? ["tool_call_id"] : [...path, "id"];
      file.change(message, (element) => atPath(element, [...own(message), ...at], () => id));
    } else if (path !== undefined)
      file.change(message, (element) =>
        atPath(element, [...own(message), ...path, edit.field], () => undefined),
      );
  }
  for (const [message, list] of dropped) {
    const all = found.filter((one) => one.message === message).length;
    if (list.length === all) file.remove(message);
    // From the end, so that indexes stay true.
    else
      for (const { block, path = [] } of list.toReversed())
        dropPart(file, message, [...own(message), ...path], block);
  }
  return file.text(text);
}

/** A call stands in `tool_calls` too, where LangChain looks for it. */
function dropPart(
  file: ElementEdits,
  message: number,
  path: readonly (string | number)[],
  block: Block,
): void {
  file.change(message, (element) => atPath(element, path, () => undefined));
  if (block.kind !== "call" || path.includes("tool_calls")) return;
  const base = path.slice(0, -2);
  file.change(message, (element) =>
    atPath(element, [...base, "tool_calls"], (calls) => {
      const kept = sliceArray(calls ?? "").filter((call) => textMember(call, "id") !== block.callId);
      return calls === undefined ? undefined : `[${kept.join(",")}]`;
    }),
  );
}

/** A tool message in the shape its neighbours have. */
function close(file: ElementEdits, { values }: MessageArray, { block, message }: Found): void {
  const call = values[message] ?? {};
  const fields = { content: LOST_RESULT, tool_call_id: block.callId, name: block.name, status: "error" };
  let at = message;
  while (kindOf(values[at + 1] ?? {}) === "tool") at += 1;
  if (call["lc"] === 1) {
    const id = [...arrayOf(call["id"]).slice(0, -1), "ToolMessage"];
    file.addBehind(at, JSON.stringify({ lc: 1, type: "constructor", id, kwargs: fields }));
  } else if (isObject(call["data"]))
    file.addBehind(at, JSON.stringify({ type: "tool", data: { ...fields, type: "tool" } }));
  else file.addBehind(at, withMember(JSON.stringify(fields), "type", '"tool"'));
}
