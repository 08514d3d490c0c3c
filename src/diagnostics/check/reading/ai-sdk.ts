/**
 * AI SDK messages as entries, both formats. Each answer has the dialect of the provider that its own metadata names, so a
 * history of several providers keeps the thoughts of all of them.
 */

import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import type { FoundBlock } from "../block-history.ts";
import { callName, DONE, metadataOf, partsOf } from "../formats/ai-sdk-ui.ts";
import { answerPart, aiSdkDialect, hasAiSdkProvider } from "../formats/ai-sdk.ts";
import type { HistoryDialect } from "../history.ts";
import { messageArray } from "../message-array.ts";
import {
  type EntryList,
  type HistoryEntry,
  type LeftOutList,
  type ResultEntry,
  textIn,
  timeOf,
} from "./entry.ts";
import { answerItems } from "./from-blocks.ts";
import { inputParts, resultText } from "./input-parts.ts";

export function readAiSdkUi(text: string, left: LeftOutList): EntryList {
  const values = messageArray(text).values.map(objectOf);
  const all = values.flatMap((value) => partsOf(value).flatMap(metadataOf));
  return {
    entries: values.flatMap((value): readonly HistoryEntry[] => {
      const about = objectOf(value["metadata"]);
      const at = timeOf(value["createdAt"]) ?? timeOf(about["createdAt"]);
      if (value["role"] !== "assistant") return input(value["role"], value["parts"], at, left);
      const own = partsOf(value).flatMap(metadataOf);
      const dialect = dialectIn(own, all);
      return stepsOf(partsOf(value)).flatMap((parts) =>
        stepEntries(parts, { dialect, at, left, model: textIn(about, "model", "modelId") }),
      );
    }),
  };
}

export function readAiSdkModel(text: string, left: LeftOutList): EntryList {
  const values = messageArray(text).values.map(objectOf);
  const all = values.flatMap(optionsIn);
  return {
    entries: values.flatMap((value): readonly HistoryEntry[] => {
      const { role, content } = value;
      if (role === "tool") return arrayOf(content).map(objectOf).flatMap(modelResult);
      if (role !== "assistant") return input(role, content, undefined, left);
      const dialect = dialectIn(optionsIn(value), all);
      const parts =
        typeof content === "string" ? [{ type: "text", text: content }] : arrayOf(content).map(objectOf);
      const blocks = parts.flatMap((part) =>
        answerBlock(part, {
          dialect,
          metadata: part["providerOptions"],
          callName: part["type"] === "tool-call" ? "" : undefined,
          left,
        }),
      );
      return blocks.length === 0 ? [] : [{ kind: "answer", dialect, items: answerItems(dialect, blocks) }];
    }),
  };
}

function optionsIn(value: JsonObject): readonly JsonObject[] {
  return arrayOf(value["content"]).map((part) => objectOf(objectOf(part)["providerOptions"]));
}

function dialectIn(own: readonly JsonObject[], all: readonly JsonObject[]): HistoryDialect {
  return aiSdkDialect(own.some(hasAiSdkProvider) ? own : all);
}

function input(
  role: unknown,
  content: unknown,
  at: string | undefined,
  left: LeftOutList,
): readonly HistoryEntry[] {
  if (role !== "user") {
    const name = stringOf(role) ?? "nameless";
    left.add(`${name} message`, `${name} messages`);
    return [];
  }
  const parts = inputParts(content, left);
  if (parts.length === 0) left.add("empty message", "empty messages");
  return parts.length === 0 ? [] : [{ kind: "user", by: "person", parts, at }];
}

/** Each step-start begins a response. */
function stepsOf(parts: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const steps: JsonObject[][] = [[]];
  for (const part of parts)
    if (part["type"] === "step-start") steps.push([]);
    else steps.at(-1)?.push(part);
  return steps;
}

interface About {
  readonly dialect: HistoryDialect;
  readonly at: string | undefined;
  readonly model: string | undefined;
  readonly left: LeftOutList;
}

function stepEntries(parts: readonly JsonObject[], about: About): readonly HistoryEntry[] {
  const { dialect, at, model, left } = about;
  const blocks: FoundBlock[] = [];
  const results: ResultEntry[] = [];
  for (const part of parts) {
    const name = callName(part);
    const metadata = name === undefined ? part["providerMetadata"] : part["callProviderMetadata"];
    const found = answerBlock(part, { dialect, metadata, callName: name, left });
    blocks.push(...found);
    const [call] = found;
    if (call?.kind !== "call" || !DONE.has(part["state"])) continue;
    const told = resultText(part["output"]);
    const failed = part["state"] !== "output-available";
    const text = failed ? (stringOf(part["errorText"]) ?? "denied") : told.text;
    const full = told.whole || failed ? undefined : JSON.stringify(part["output"]);
    results.push({ kind: "result", callId: call.callId ?? "", text, failed, full, at });
  }
  if (blocks.length === 0) return [];
  return [{ kind: "answer", dialect, items: answerItems(dialect, blocks), model, at }, ...results];
}

interface PartAbout {
  readonly dialect: HistoryDialect;
  readonly metadata: unknown;
  readonly callName: string | undefined;
  readonly left: LeftOutList;
}

function answerBlock(part: JsonObject, about: PartAbout): readonly FoundBlock[] {
  const { dialect, metadata, left } = about;
  const block = answerPart(part, about);
  if (block?.kind === "call" && dialect === "openai-responses") {
    const openai = objectOf(objectOf(metadata)["openai"] ?? objectOf(metadata)["azure"]);
    return [{ ...block, id: stringOf(openai["itemId"]) }];
  }
  if (block !== undefined) return [block];
  const text = stringOf(part["text"]) ?? "";
  // The SDK does not send a thought without its payload. It stays a thought here, and the guard decides.
  if (part["type"] === "reasoning") return text === "" ? [] : [{ kind: "reasoning", text }];
  if (part["providerExecuted"] === true)
    left.add("call that the provider ran", "calls that the provider ran");
  else if (part["type"] === "file") left.add("file that the model made", "files that the model made");
  return [];
}

function modelResult(part: JsonObject): readonly ResultEntry[] {
  if (part["type"] !== "tool-result") return [];
  const output = objectOf(part["output"]);
  const type = stringOf(output["type"]) ?? "";
  const told = resultText(output["value"] ?? output["reason"] ?? "");
  return [
    {
      kind: "result",
      callId: stringOf(part["toolCallId"]) ?? "",
      text: told.text,
      failed: type.startsWith("error") || type === "execution-denied",
      full: told.whole ? undefined : JSON.stringify(output["value"]),
    },
  ];
}

/** Version 4 keeps calls in `toolInvocation` parts or `toolInvocations`. */
export function isAiSdk4(text: string): boolean {
  return messageArray(text).values.some(
    (value) =>
      Array.isArray(value?.["toolInvocations"]) ||
      partsOf(value).some((part) => isObject(part["toolInvocation"])),
  );
}
