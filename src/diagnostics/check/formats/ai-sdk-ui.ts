/**
 * AI SDK UIMessages, version 5 and later: messages with parts. A call and its result are one part with a state.
 */

import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import { blockHistory, type FoundBlock } from "../block-history.ts";
import type { RecordFile } from "../element-list.ts";
import { type History, type HistoryDialect, LOST_RESULT } from "../history.ts";
import { withMember, withoutMember } from "../json-text.ts";
import { messageArray } from "../message-array.ts";
import { aiSdkDialect, answerPart, stripAiSdkId } from "./ai-sdk.ts";

export function openAiSdkUi(text: string): History {
  const file = messageArray(text);
  const dialect = aiSdkDialect(file.values.flatMap((value) => partsOf(value).flatMap(metadataOf)));
  return blockHistory(file, {
    format: "ai-sdk-ui",
    stored: true,
    dialect,
    resultsInCalls: true,
    blocksOf: (value, element) => blocksOf(value, element, file, dialect),
    partsIn: (value) => partsOf(value).filter(({ type }) => type !== "step-start").length,
    close: (edits, { element, path }) => edits.changeAt(element, path, closed),
    rename: (edits, { element, path }, callId) => edits.setAt(element, [...path, "toolCallId"], callId),
    renameTool(edits, { element, path }, from, to) {
      // The type contains the name, unless it is "dynamic-tool": then the name has its own field.
      edits.exchangeAt(element, [...path, "type"], `tool-${from}`, `tool-${to}`);
      edits.exchangeAt(element, [...path, "toolName"], from, to);
    },
    strip: stripAiSdkId,
  });
}

export function partsOf(value: JsonObject | undefined): readonly JsonObject[] {
  return arrayOf(value?.["parts"]).map(objectOf);
}

export function metadataOf(part: JsonObject): readonly JsonObject[] {
  return [part["providerMetadata"], part["callProviderMetadata"]].filter(isObject);
}

/** Each step-start begins a new response. Its results come after it. */
function blocksOf(
  value: JsonObject,
  element: number,
  file: RecordFile,
  dialect: HistoryDialect,
): readonly FoundBlock[] {
  const found: FoundBlock[] = [];
  let results: FoundBlock[] = [];
  let step = 0;
  const endStep = (): void => {
    found.push(...results);
    results = [];
    step += 1;
  };
  for (const [part, one] of partsOf(value).entries()) {
    if (one["type"] === "step-start") endStep();
    const stands = {
      message: `${element}.${step}`,
      path: ["parts", part],
      where: `${file.where(element)}.parts[${part}]`,
    };
    if (value["role"] !== "assistant") {
      if (one["type"] === "text") found.push({ kind: "user", text: stringOf(one["text"]) ?? "", ...stands });
      continue;
    }
    const block = answerPart(one, { dialect, metadata: one["providerMetadata"], callName: callName(one) });
    if (block === undefined) continue;
    found.push({ ...block, ...stands });
    if (block.kind === "call" && DONE.has(one["state"]))
      results.push({ kind: "result", callId: block.callId, text: resultText(one), ...stands });
  }
  endStep();
  return found;
}

export function callName(part: JsonObject): string | undefined {
  const type = stringOf(part["type"]) ?? "";
  return type.startsWith("tool-") || type === "dynamic-tool" ? type.slice("tool-".length) : undefined;
}

export const DONE: ReadonlySet<unknown> = new Set(["output-available", "output-error", "output-denied"]);

function resultText({ output, errorText }: JsonObject): string {
  return typeof output === "string" ? output : (stringOf(errorText) ?? JSON.stringify(output ?? "denied"));
}

/** A call without a result counts as failed. This is the SDK's own state for it. */
function closed(part: string): string {
  const state = withMember(withoutMember(part, "output"), "state", '"output-error"');
  return withMember(state, "errorText", JSON.stringify(LOST_RESULT));
}
