/**
 * AI SDK UIMessages, version 5 and later: parts of a message, calls and their results in one part with a state.
 *
 * @module
 */

import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import { appHistory, type Block, type BlockEdit } from "../app-history.ts";
import { ElementEdits } from "../element-edits.ts";
import { type History, type HistoryDialect, LOST_RESULT } from "../history.ts";
import { atPath, withMember, withoutMember } from "../json-text.ts";
import { aiSdkDialect, aiSdkIdentity, ID_PATHS, isSentReasoning } from "./ai-sdk.ts";
import { type MessageArray, messageArray } from "./array-source.ts";

interface Found {
  readonly block: Block;
  readonly message: number;
  readonly part: number;
}

export function openAiSdkUi(text: string): History {
  const array = messageArray(text);
  const metadata = array.values.flatMap((value) => partsOf(value).flatMap(metadataOf));
  const dialect = aiSdkDialect(metadata);
  const found = array.values.flatMap((value, message) => blocksOf(value, message, array, dialect));
  return appHistory({
    format: "ai-sdk-ui",
    dialect,
    blocks: found.map(({ block }) => block),
    rewrite: (edits) => rewrite(text, array, found, edits),
  });
}

function partsOf(value: JsonObject): readonly JsonObject[] {
  return arrayOf(value["parts"]).map(objectOf);
}

function metadataOf(part: JsonObject): readonly JsonObject[] {
  return [part["providerMetadata"], part["callProviderMetadata"]].filter(isObject);
}

function isTool(part: JsonObject): boolean {
  const type = stringOf(part["type"]) ?? "";
  return type.startsWith("tool-") || type === "dynamic-tool";
}

/** What a step-start parts is a response of its own; its results stand behind it. */
function blocksOf(
  value: JsonObject,
  message: number,
  array: MessageArray,
  dialect: HistoryDialect,
): readonly Found[] {
  const found: Found[] = [];
  let results: Found[] = [];
  let step = 0;
  const key = (): string => `${message}.${step}`;
  const assistant = value["role"] === "assistant";
  const endStep = (): void => {
    found.push(...results);
    results = [];
    step += 1;
  };
  for (const [part, one] of partsOf(value).entries()) {
    const place = `${array.placeOf(message)}.parts[${part}]`;
    const add = (block: Omit<Block, "message" | "place">): Found => ({
      block: { ...block, message: key(), place },
      message,
      part,
    });
    const text = stringOf(one["text"]) ?? "";
    if (one["type"] === "step-start") endStep();
    else if (!assistant) {
      if (one["type"] === "text") found.push(add({ kind: "user", text }));
    } else if (one["type"] === "text") {
      const { id } = aiSdkIdentity(objectOf(one["providerMetadata"]), dialect);
      if (text !== "") found.push(add({ kind: "text", text, id }));
    } else if (one["type"] === "reasoning") {
      const identity = aiSdkIdentity(objectOf(one["providerMetadata"]), dialect);
      if (isSentReasoning(identity, dialect)) found.push(add({ kind: "reasoning", text, ...identity }));
    } else if (isTool(one) && one["providerExecuted"] !== true) {
      const callId = stringOf(one["toolCallId"]) ?? "";
      const name = stringOf(one["toolName"]) ?? (stringOf(one["type"]) ?? "").slice("tool-".length);
      found.push(add({ kind: "call", callId, name, arguments: JSON.stringify(one["input"] ?? {}) }));
      if (hasResult(one)) results.push(add({ kind: "result", callId, text: resultText(one) }));
    }
  }
  endStep();
  return found;
}

const DONE: ReadonlySet<unknown> = new Set(["output-available", "output-error", "output-denied"]);

function hasResult(part: JsonObject): boolean {
  return DONE.has(part["state"]);
}

function resultText(part: JsonObject): string {
  const { output } = part;
  return typeof output === "string"
    ? output
    : (stringOf(part["errorText"]) ?? JSON.stringify(output ?? "denied"));
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
    const { message, part, block } = one;
    const path = ["parts", part];
    const change = (make: (value: string) => string): void =>
      file.change(message, (element) =>
        atPath(element, path, (value) => (value === undefined ? value : make(value))),
      );
    if (edit.do === "drop" && block.kind === "result") change(withoutOutput);
    else if (edit.do === "drop") dropped.set(message, (dropped.get(message) ?? new Set()).add(part));
    else if (edit.do === "close") change(closed);
    else if (edit.do === "rename")
      change((value) => withMember(value, "toolCallId", JSON.stringify(edit.callId)));
    else if (edit.field === "id") change(withoutId);
  }
  for (const [message, parts] of dropped) {
    const left = partsOf(array.values[message] ?? {}).filter(
      (one, part) => !parts.has(part) && one["type"] !== "step-start",
    );
    if (left.length === 0) file.remove(message);
    else
      for (const part of [...parts].toSorted((a, b) => b - a))
        file.change(message, (element) => atPath(element, ["parts", part], () => undefined));
  }
  return file.text(text);
}

/** What ran and left no result failed, as far as anyone knows: the SDK's own state for it. */
function closed(part: string): string {
  const state = withMember(withoutMember(part, "output"), "state", '"output-error"');
  return withMember(state, "errorText", JSON.stringify(LOST_RESULT));
}

function withoutOutput(part: string): string {
  return closed(part);
}

function withoutId(part: string): string {
  return ["providerMetadata", "callProviderMetadata"].reduce(
    (value, field) => ID_PATHS.reduce((one, path) => atPath(one, [field, ...path], () => undefined), value),
    part,
  );
}
