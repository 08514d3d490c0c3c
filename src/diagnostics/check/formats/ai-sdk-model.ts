/** AI SDK ModelMessages, version 5 and later: content parts, results in messages of the role tool. */

import { arrayOf, type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import { blockHistory, type FoundBlock } from "../block-history.ts";
import { type History, type HistoryDialect, LOST_RESULT } from "../history.ts";
import { atPath } from "../json-text.ts";
import { messageArray } from "../message-array.ts";
import { aiSdkDialect, answerPart, stripAiSdkId } from "./ai-sdk.ts";

export function openAiSdkModel(text: string): History {
  const file = messageArray(text);
  const dialect = aiSdkDialect(
    file.values.flatMap((value) =>
      arrayOf(value?.["content"]).map((part) => objectOf(objectOf(part)["providerOptions"])),
    ),
  );
  return blockHistory(file, {
    format: "ai-sdk-model",
    stored: true,
    dialect,
    blocksOf({ role, content }, element) {
      if (role === "system" || content === "") return [];
      if (typeof content === "string")
        return [{ kind: role === "assistant" ? "text" : "user", text: content }];
      return arrayOf(content).flatMap((one, part): readonly FoundBlock[] => {
        const block = partOf(objectOf(one), role === "assistant", dialect);
        const where = `${file.where(element)}.content[${part}]`;
        return block === undefined ? [] : [{ ...block, path: ["content", part], where }];
      });
    },
    partsIn: ({ content }) => arrayOf(content).length,
    /** Into the tool message that follows, or into a new one. */
    close(edits, { element, callId, name }) {
      const output = { type: "error-text", value: LOST_RESULT };
      const result = JSON.stringify({ type: "tool-result", toolCallId: callId, toolName: name, output });
      if (file.values[element + 1]?.["role"] !== "tool")
        edits.addBehind(element, `{"role":"tool","content":[${result}]}`);
      else
        edits.change(element + 1, (message) =>
          atPath(
            message,
            ["content"],
            (content) => `${(content ?? "[]").replace(/\]$/, "")}${content === "[]" ? "" : ","}${result}]`,
          ),
        );
    },
    rename: (edits, { element, path }, callId) => edits.setAt(element, [...path, "toolCallId"], callId),
    renameTool: (edits, { element, path }, from, to) =>
      edits.exchangeAt(element, [...path, "toolName"], from, to),
    strip: stripAiSdkId,
  });
}

function partOf(part: JsonObject, assistant: boolean, dialect: HistoryDialect): FoundBlock | undefined {
  const { type } = part;
  if (assistant || type === "reasoning" || type === "tool-call") {
    const callName = type === "tool-call" ? "" : undefined;
    return answerPart(part, { dialect, metadata: part["providerOptions"], callName });
  }
  if (type === "text") return { kind: "user", text: stringOf(part["text"]) ?? "" };
  if (type !== "tool-result") return { kind: "user", text: "(attachment)" };
  const text = JSON.stringify(objectOf(part["output"])["value"] ?? "");
  return { kind: "result", callId: stringOf(part["toolCallId"]) ?? "", text };
}
