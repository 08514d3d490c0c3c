/**
 * AI SDK ModelMessages, version 5 and later: content parts, results in messages of the role tool.
 *
 * @module
 */

import { arrayOf, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import { appHistory, type Block, type BlockEdit } from "../app-history.ts";
import { ElementEdits } from "../element-edits.ts";
import { type History, type HistoryDialect, LOST_RESULT } from "../history.ts";
import { atPath } from "../json-text.ts";
import { aiSdkDialect, aiSdkIdentity, ID_PATHS, isSentReasoning } from "./ai-sdk.ts";
import { type MessageArray, messageArray } from "./array-source.ts";

interface Found {
  readonly block: Block;
  readonly message: number;
  /** Undefined: the content is a text. */
  readonly part: number | undefined;
}

export function openAiSdkModel(text: string): History {
  const array = messageArray(text);
  const metadata = array.values.flatMap((value) =>
    arrayOf(value["content"]).map((part) => objectOf(objectOf(part)["providerOptions"])),
  );
  const dialect = aiSdkDialect(metadata);
  const found = array.values.flatMap((value, message) => blocksOf(value, message, array, dialect));
  return appHistory({
    format: "ai-sdk-model",
    dialect,
    blocks: found.map(({ block }) => block),
    rewrite: (edits) => rewrite(text, array, found, edits),
  });
}

function blocksOf(
  value: JsonObject,
  message: number,
  array: MessageArray,
  dialect: HistoryDialect,
): readonly Found[] {
  const { role, content } = value;
  const whole = array.placeOf(message);
  const own = { message: String(message) };
  if (role === "system") return [];
  if (typeof content === "string") {
    const kind = role === "assistant" ? "text" : "user";
    return content === ""
      ? []
      : [{ block: { kind, ...own, place: whole, text: content }, message, part: undefined }];
  }
  return arrayOf(content).flatMap((one, part): readonly Found[] => {
    const block = partOf(objectOf(one), role === "assistant", dialect);
    const place = `${whole}.content[${part}]`;
    return block === undefined ? [] : [{ block: { ...block, ...own, place }, message, part }];
  });
}

function partOf(
  part: JsonObject,
  assistant: boolean,
  dialect: HistoryDialect,
): Omit<Block, "message" | "place"> | undefined {
  const identity = aiSdkIdentity(objectOf(part["providerOptions"]), dialect);
  const text = stringOf(part["text"]) ?? "";
  const callId = stringOf(part["toolCallId"]) ?? "";
  switch (part["type"]) {
    case "text":
      if (!assistant) return { kind: "user", text };
      return text === "" ? undefined : { kind: "text", text, id: identity.id };
    case "reasoning":
      return isSentReasoning(identity, dialect) ? { kind: "reasoning", text, ...identity } : undefined;
    case "tool-call":
      if (part["providerExecuted"] === true) return undefined;
      return {
        kind: "call",
        callId,
        name: stringOf(part["toolName"]) ?? "",
        arguments: JSON.stringify(part["input"] ?? {}),
      };
    case "tool-result":
      if (assistant) return undefined;
      return { kind: "result", callId, text: JSON.stringify(objectOf(part["output"])["value"] ?? "") };
    default:
      return assistant ? undefined : { kind: "user", text: "(attachment)" };
  }
}

function rewrite(
  text: string,
  array: MessageArray,
  found: readonly Found[],
  edits: readonly BlockEdit[],
): string {
  const file = new ElementEdits(array.file);
  const dropped = new Map<number, Set<number>>();
  for (const edit of edits) {
    const one = found[edit.block];
    if (one === undefined) continue;
    const { message, part } = one;
    if (edit.do === "close") close(file, array, one);
    else if (part === undefined) {
      if (edit.do === "drop") file.remove(message);
    } else if (edit.do === "drop") dropped.set(message, (dropped.get(message) ?? new Set()).add(part));
    else if (edit.do === "rename")
      file.change(message, (element) =>
        atPath(element, ["content", part, "toolCallId"], () => JSON.stringify(edit.callId)),
      );
    else if (edit.field === "id")
      for (const path of ID_PATHS)
        file.change(message, (element) =>
          atPath(element, ["content", part, "providerOptions", ...path], () => undefined),
        );
  }
  for (const [message, parts] of dropped) {
    if (parts.size === arrayOf(array.values[message]?.["content"]).length) file.remove(message);
    else
      for (const part of [...parts].toSorted((a, b) => b - a))
        file.change(message, (element) => atPath(element, ["content", part], () => undefined));
  }
  return file.text(text);
}

/** Into the tool message that follows, or into one of its own. */
function close(file: ElementEdits, { values }: MessageArray, { block, message }: Found): void {
  const result = JSON.stringify({
    type: "tool-result",
    toolCallId: block.callId,
    toolName: block.name,
    output: { type: "error-text", value: LOST_RESULT },
  });
  if (values[message + 1]?.["role"] !== "tool") {
    file.addBehind(message, `{"role":"tool","content":[${result}]}`);
    return;
  }
  file.change(message + 1, (element) =>
    atPath(
      element,
      ["content"],
      (content) => `${(content ?? "[]").replace(/\]$/, "")}${content === "[]" ? "" : ","}${result}]`,
    ),
  );
}
