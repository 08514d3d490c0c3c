/** LangChain messages as entries. Each answer has the dialect that its own content shows. */

import { arrayOf, objectOf, stringOf } from "../../../base/support/index.ts";
import type { FoundBlock } from "../block-history.ts";
import { blocksOf, dialectIn, fieldsOf, kindOf } from "../formats/langchain.ts";
import { messageArray } from "../message-array.ts";
import { type EntryList, type HistoryEntry, type LeftOutList, textIn } from "./entry.ts";
import { answerItems } from "./from-blocks.ts";
import { inputParts, resultText } from "./input-parts.ts";

export function readLangchain(text: string, left: LeftOutList): EntryList {
  const file = messageArray(text);
  const values = file.values.map(objectOf);
  const whole = dialectIn(values) ?? "openai-chat";
  return {
    entries: values.flatMap((value, element): readonly HistoryEntry[] => {
      const fields = fieldsOf(value);
      const kind = kindOf(value);
      if (kind === "tool") {
        const told = resultText(fields["content"]);
        const callId = stringOf(fields["tool_call_id"]) ?? "";
        const full = told.whole ? undefined : JSON.stringify(fields["content"]);
        return [{ kind: "result", callId, text: told.text, failed: fields["status"] === "error", full }];
      }
      if (kind === "human" || kind === "chat") {
        const parts = inputParts(fields["content"], left);
        if (parts.length === 0) left.add("empty message", "empty messages");
        return parts.length === 0 ? [] : [{ kind: "user", by: "person", parts }];
      }
      if (kind !== "ai") {
        left.add(`${kind} message`, `${kind} messages`);
        return [];
      }
      const dialect = dialectIn([value]) ?? whole;
      const ids = objectOf(objectOf(fields["additional_kwargs"])["__openai_function_call_ids__"]);
      const blocks = blocksOf(value, file.elements[element] ?? "{}", dialect).map((block): FoundBlock =>
        block.kind === "call" && block.wire === undefined
          ? { ...block, id: block.id ?? stringOf(ids[block.callId ?? ""]) }
          : block,
      );
      const about = objectOf(fields["response_metadata"]);
      const lost = arrayOf(fields["invalid_tool_calls"]).length;
      left.add("call that LangChain could not read", "calls that LangChain could not read", lost);
      if (blocks.length === 0) return [];
      return [
        {
          kind: "answer",
          dialect,
          items: answerItems(dialect, blocks),
          provider: textIn(about, "model_provider"),
          model: textIn(about, "model_name", "model"),
        },
      ];
    }),
  };
}
