/**
 * AgentInputItem arrays of the OpenAI Agents SDK for JavaScript: Responses items in camelCase. (The Python SDK stores plain
 * Responses items.)
 */

import { type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import { blockHistory, type FoundBlock } from "../block-history.ts";
import { type History, LOST_RESULT } from "../history.ts";
import { messageArray } from "../message-array.ts";
import { textOf } from "./text-of.ts";

export function openAgentsSdk(text: string): History {
  const file = messageArray(text);
  return blockHistory(file, {
    format: "agents-sdk",
    stored: true,
    dialect: "openai-responses",
    blocksOf,
    partsIn: () => 1,
    close(edits, { element, name, callId }) {
      // After the calls of its response and the results that are already there.
      let at = element;
      while (CALLS_AND_RESULTS.has(file.values[at + 1]?.["type"])) at += 1;
      const output = { type: "text", text: LOST_RESULT };
      const result = { type: "function_call_result", name, callId, status: "completed", output };
      edits.addBehind(at, JSON.stringify(result));
    },
    rename: (edits, { element }, callId) => edits.setAt(element, ["callId"], callId),
    renameTool: (edits, { element }, from, to) => edits.exchangeAt(element, ["name"], from, to),
    strip: (edits, { element }, field) => edits.removeAt(element, [field]),
  });
}

const CALLS_AND_RESULTS: ReadonlySet<unknown> = new Set(["function_call", "function_call_result"]);

export function blocksOf(value: JsonObject): readonly FoundBlock[] {
  const { type, role } = value;
  const id = stringOf(value["id"]);
  const callId = stringOf(value["callId"]) ?? "";
  const text = textOf(value["content"]) ?? "";
  if (type === "function_call") {
    const name = stringOf(value["name"]) ?? "";
    return [{ kind: "call", id, callId, name, arguments: stringOf(value["arguments"]) ?? "{}" }];
  }
  if (type === "function_call_result")
    return [{ kind: "result", callId, text: textOf(value["output"]) ?? "" }];
  if (type === "reasoning") {
    const provided = objectOf(value["providerData"]);
    const payload = stringOf(provided["encryptedContent"]) ?? stringOf(provided["encrypted_content"]);
    return [{ kind: "reasoning", id, text, payload }];
  }
  if (role === "assistant") return [{ kind: "text", id, text }];
  return typeof role === "string" ? [{ kind: "user", text }] : [];
}
