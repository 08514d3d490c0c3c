/** AgentInputItems of the OpenAI Agents SDK as entries: consecutive items of the model are one answer. */

import { objectOf, stringOf } from "../../../base/support/index.ts";
import type { FoundBlock } from "../block-history.ts";
import { blocksOf } from "../formats/agents-sdk.ts";
import { messageArray } from "../message-array.ts";
import { type EntryList, type HistoryEntry, type LeftOutList } from "./entry.ts";
import { answerItems } from "./from-blocks.ts";
import { inputParts, resultText } from "./input-parts.ts";

const DIALECT = "openai-responses";

export function readAgentsSdk(text: string, left: LeftOutList): EntryList {
  const entries: HistoryEntry[] = [];
  let open: FoundBlock[] = [];
  const end = (): void => {
    if (open.length > 0)
      entries.push({
        kind: "answer",
        dialect: DIALECT,
        items: answerItems(DIALECT, open),
        provider: "openai",
      });
    open = [];
  };
  for (const value of messageArray(text).values.map(objectOf)) {
    const { type, role } = value;
    if (type === "function_call_result") {
      end();
      const told = resultText(outputOf(value["output"]));
      const full = told.whole ? undefined : JSON.stringify(value["output"]);
      const failed = value["status"] === "incomplete";
      entries.push({
        kind: "result",
        callId: stringOf(value["callId"]) ?? "",
        text: told.text,
        failed,
        full,
      });
    } else if (type === "function_call" || type === "reasoning" || role === "assistant") {
      open.push(...blocksOf(value));
    } else if (role === "user") {
      end();
      const parts = inputParts(value["content"], left);
      if (parts.length === 0) left.add("empty message", "empty messages");
      else entries.push({ kind: "user", by: "person", parts });
    } else {
      const name = stringOf(role) ?? stringOf(type) ?? "nameless";
      const noun = role === undefined ? "item" : "message";
      left.add(`${name} ${noun}`, `${name} ${noun}s`);
    }
  }
  end();
  return { entries };
}

/** One part, a list of parts, or plain text. */
function outputOf(output: unknown): unknown {
  return Array.isArray(output) || typeof output !== "object" ? output : [output];
}
