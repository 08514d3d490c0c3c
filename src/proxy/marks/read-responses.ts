/** Items of the Responses API as pieces. */

import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from "../../base/support/index.ts";
import { isCallType, isOutputType } from "../../runtime/rules/index.ts";
import { canonicalArguments, canonicalJson, contentText, spokenText } from "./canonical-text.ts";
import { inputPiece } from "./input-piece.ts";
import type { Piece } from "./piece.ts";

export function readItem(item: unknown, element: number): readonly Piece[] {
  if (typeof item === "string") return [inputPiece({ element }, "user", item)];
  if (!isObject(item)) return [];
  const at = { element };
  const type = stringOf(item["type"]) ?? "message";
  const id = stringOf(item["id"]) || undefined;
  if (type === "message") return message(item, element, id);
  if (type === "reasoning" || type === "compaction") {
    const identity = stringOf(item["encrypted_content"]) ?? "";
    return [{ kind: "thought", at, form: type, id, identity, words: readableIn(item) }];
  }
  if (isOutputType(type)) {
    const callId = stringOf(item["call_id"]) ?? "";
    return [{ kind: "result", at, callId, text: contentText(item["output"]) }];
  }
  if (isCallType(type)) return [call(item, type, element, id)];
  // The server resolves it. A thought that is named in this way is there.
  if (type === "item_reference")
    return id?.startsWith("rs_") === true
      ? [{ kind: "thought", at, form: type, id, identity: "", words: "" }]
      : [{ kind: "text", at, text: `item_reference ${id ?? ""}`, id }];
  // Items that the provider ran itself get lost like thoughts: a client shows their effect, not the item.
  return [{ kind: "thought", at, form: type, id, identity: id ?? "", words: "" }];
}

function message(item: JsonObject, element: number, id: string | undefined): readonly Piece[] {
  const role = stringOf(item["role"]) ?? "user";
  if (role !== "assistant") return [inputPiece({ element }, role, item["content"])];
  const { content } = item;
  const text =
    typeof content === "string"
      ? content
      : arrayOf(content)
          .map((part) => stringOf(objectOf(part)["text"]) ?? stringOf(objectOf(part)["refusal"]) ?? "")
          .join("");
  const spoken = spokenText(text);
  return spoken === "" ? [] : [{ kind: "text", at: { element }, text: spoken, id }];
}

/** Where a call keeps its arguments, by type. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  function_call: "arguments",
  custom_tool_call: "input",
  apply_patch_call: "operation",
};

function call(item: JsonObject, type: string, element: number, id: string | undefined): Piece {
  const written = item[ARGUMENTS[type] ?? "action"];
  const text = typeof written === "string" ? canonicalArguments(written) : canonicalJson(written ?? null);
  return {
    kind: "call",
    at: { element },
    text: `${stringOf(item["name"]) ?? type}\n${text}`,
    weight: text.length,
    callId: stringOf(item["call_id"]) ?? "",
    id,
  };
}

/** The readable text of a reasoning item: its summary and content. */
function readableIn(item: JsonObject): string {
  return [...arrayOf(item["summary"]), ...arrayOf(item["content"])]
    .map((part) => stringOf(objectOf(part)["text"]) ?? "")
    .filter((text) => text !== "")
    .join("\n");
}
