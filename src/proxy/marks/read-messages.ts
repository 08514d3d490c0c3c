/** Messages of the Anthropic API as pieces. */

import { isObject, type JsonObject, stringOf } from "../../base/support/index.ts";
import { canonicalJson, contentText, spokenText } from "./canonical-text.ts";
import { inputPiece } from "./input-piece.ts";
import type { Piece } from "./piece.ts";

export function readMessage(message: unknown, element: number): readonly Piece[] {
  if (!isObject(message)) return [];
  const role = stringOf(message["role"]) ?? "user";
  const { content } = message;
  if (!Array.isArray(content)) {
    const text = contentText(content);
    if (text === "") return [];
    return role === "assistant"
      ? [{ kind: "text", at: { element }, text: spokenText(text) }]
      : [inputPiece({ element }, role, content)];
  }
  return content.flatMap((block, part) =>
    role === "assistant" ? made(block, { element, part }) : given(block, { element, part }, role),
  );
}

function given(block: unknown, at: Piece["at"], role: string): readonly Piece[] {
  if (isObject(block) && block["type"] === "tool_result") {
    const callId = stringOf(block["tool_use_id"]) ?? "";
    return [{ kind: "result", at, callId, text: contentText(block["content"]) }];
  }
  return contentText([block]) === "" ? [] : [inputPiece(at, role, [block])];
}

function made(block: unknown, at: Piece["at"]): readonly Piece[] {
  if (!isObject(block)) return [];
  const type = stringOf(block["type"]) ?? "";
  switch (type) {
    case "thinking":
      return [
        {
          kind: "thought",
          at,
          form: type,
          identity: stringOf(block["signature"]) ?? "",
          words: stringOf(block["thinking"]) ?? "",
        },
      ];
    case "redacted_thinking":
      return [{ kind: "thought", at, form: type, identity: stringOf(block["data"]) ?? "", words: "" }];
    case "text": {
      const text = spokenText(stringOf(block["text"]) ?? "");
      return text === "" ? [] : [{ kind: "text", at, text }];
    }
    case "tool_use":
      return [callOf(block, at)];
    default:
      // A call that the provider ran, or its result: both sides see it.
      return [
        {
          kind: "text",
          at,
          text: `${type} ${stringOf(block["id"]) ?? stringOf(block["tool_use_id"]) ?? ""}`,
        },
      ];
  }
}

function callOf(block: JsonObject, at: Piece["at"]): Piece {
  const text = canonicalJson(block["input"] ?? {});
  return {
    kind: "call",
    at,
    text: `${stringOf(block["name"]) ?? ""}\n${text}`,
    weight: text.length,
    callId: stringOf(block["id"]) ?? "",
  };
}
