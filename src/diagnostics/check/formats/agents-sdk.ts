/**
 * AgentInputItem arrays of the OpenAI Agents SDK for JavaScript: Responses items in camelCase. (The Python SDK keeps plain
 * Responses items.)
 *
 * @module
 */

import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import { appHistory, type Block, type BlockEdit } from "../app-history.ts";
import { ElementEdits } from "../element-edits.ts";
import { type History, LOST_RESULT } from "../history.ts";
import { withMember, withoutMember } from "../json-text.ts";
import { type MessageArray, messageArray } from "./array-source.ts";

interface Found {
  readonly block: Block;
  readonly element: number;
}

export function openAgentsSdk(text: string): History {
  const array = messageArray(text);
  const found = array.values.flatMap((value, element): readonly Found[] => {
    const block = blockOf(value);
    const place = array.placeOf(element);
    return block === undefined ? [] : [{ block: { ...block, message: String(element), place }, element }];
  });
  return appHistory({
    format: "agents-sdk",
    dialect: "openai-responses",
    blocks: found.map(({ block }) => block),
    rewrite: (edits) => rewrite(text, array, found, edits),
  });
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return arrayOf(content)
    .filter(isObject)
    .flatMap((part) => stringOf(part["text"]) ?? [])
    .join("\n");
}

function blockOf(value: JsonObject): Omit<Block, "message" | "place"> | undefined {
  const id = stringOf(value["id"]);
  const own = id === undefined ? {} : { id };
  const callId = stringOf(value["callId"]) ?? "";
  const provided = objectOf(value["providerData"]);
  switch (value["type"]) {
    case "function_call":
      return {
        kind: "call",
        ...own,
        callId,
        name: stringOf(value["name"]) ?? "",
        arguments: stringOf(value["arguments"]) ?? "{}",
      };
    case "function_call_result":
      return { kind: "result", callId, text: textOf(value["output"]) };
    case "reasoning": {
      const payload = stringOf(provided["encryptedContent"]) ?? stringOf(provided["encrypted_content"]);
      return {
        kind: "reasoning",
        ...own,
        text: textOf(value["content"]),
        ...(payload === undefined ? {} : { payload }),
      };
    }
    default:
      if (value["role"] === "assistant") return { kind: "text", ...own, text: textOf(value["content"]) };
      return typeof value["role"] === "string" ? { kind: "user", text: textOf(value["content"]) } : undefined;
  }
}

function rewrite(
  text: string,
  array: MessageArray,
  found: readonly Found[],
  edits: readonly BlockEdit[],
): string {
  const file = new ElementEdits(array.file);
  for (const edit of edits) {
    const one = found[edit.block];
    if (one === undefined) continue;
    const { element, block } = one;
    if (edit.do === "drop") file.remove(element);
    else if (edit.do === "strip") file.change(element, (value) => withoutMember(value, edit.field));
    else if (edit.do === "rename")
      file.change(element, (value) => withMember(value, "callId", JSON.stringify(edit.callId)));
    else {
      const result = {
        type: "function_call_result",
        name: block.name,
        callId: block.callId,
        status: "completed",
        output: { type: "text", text: LOST_RESULT },
      };
      file.addBehind(lastCall(array, element), JSON.stringify(result));
    }
  }
  return file.text(text);
}

/** Behind the calls of its response and the results that stand there. */
function lastCall({ values }: MessageArray, call: number): number {
  let at = call;
  while (["function_call", "function_call_result"].includes(String(values[at + 1]?.["type"]))) at += 1;
  return at;
}
