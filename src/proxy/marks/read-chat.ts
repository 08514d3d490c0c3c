/** Messages of the chat-completions API as pieces. */

import { arrayOf, isObject, type JsonObject, objectOf, stringOf } from "../../base/support/index.ts";
import { canonicalArguments, canonicalJson, contentText, spokenText } from "./canonical-text.ts";
import { inputPiece } from "./input-piece.ts";
import type { Piece, ThoughtPiece } from "./piece.ts";

export function readChatMessage(message: unknown, element: number): readonly Piece[] {
  if (!isObject(message)) return [];
  const role = stringOf(message["role"]) ?? "user";
  const at = { element };
  if (role === "tool" || role === "function") {
    const callId = stringOf(message["tool_call_id"]) ?? "";
    return [{ kind: "result", at, callId, text: contentText(message["content"]) }];
  }
  if (role !== "assistant") return [inputPiece(at, role, message["content"])];
  const text = spokenText(`${spokenIn(message["content"])}${stringOf(message["refusal"]) ?? ""}`);
  return [
    ...thoughtsIn(message, element),
    ...(text === "" ? [] : [{ kind: "text" as const, at, text }]),
    ...callsOf(message, element),
  ];
}

/** The fields that vendors keep a thought in (failures.md V06). */
const WORDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;
const LISTS = ["reasoning_details", "thinking_blocks"] as const;

function thoughtsIn(message: JsonObject, element: number): readonly ThoughtPiece[] {
  const at = { element };
  const found = (form: string, words: string, identity: string): ThoughtPiece => ({
    kind: "thought",
    at,
    form,
    identity,
    words,
  });
  const foundList = (form: string, list: readonly unknown[]): ThoughtPiece => {
    const entries = list.map(objectOf);
    return {
      ...found(
        form,
        entries
          .map(wordsIn)
          .filter((words) => words !== "")
          .join("\n"),
        canonicalJson(list),
      ),
      payloads: entries.flatMap(({ data, signature }) =>
        [data, signature].filter((one): one is string => typeof one === "string" && one !== ""),
      ),
    };
  };
  const parts = arrayOf(message["content"]).filter((part) => objectOf(part)["type"] === "thinking");
  return [
    ...WORDS.flatMap((field) => {
      const words = stringOf(message[field]);
      return words === undefined ? [] : [found(field, words, "")];
    }),
    ...LISTS.flatMap((field) => {
      const list = arrayOf(message[field]);
      return list.length === 0 ? [] : [foundList(field, list)];
    }),
    ...(typeof message["reasoning_opaque"] === "string"
      ? [found("reasoning_opaque", "", message["reasoning_opaque"])]
      : []),
    ...(parts.length === 0 ? [] : [foundList("content_thinking", parts)]),
  ];
}

/** The readable text of an entry: a summary, a text, or the parts of a thinking part. */
function wordsIn({ text, summary, thinking }: JsonObject): string {
  if (Array.isArray(thinking)) return thinking.map((part) => stringOf(objectOf(part)["text"]) ?? "").join("");
  return stringOf(text) ?? stringOf(summary) ?? stringOf(thinking) ?? "";
}

function spokenIn(content: unknown): string {
  if (typeof content === "string") return content;
  return arrayOf(content)
    .map(objectOf)
    .map((part) =>
      part["type"] === "thinking" ? "" : (stringOf(part["text"]) ?? stringOf(part["refusal"]) ?? ""),
    )
    .join("");
}

function callsOf(message: JsonObject, element: number): readonly Piece[] {
  const calls = arrayOf(message["tool_calls"]).map(objectOf);
  const old = message["function_call"];
  const all = isObject(old) ? [...calls, { function: old } as JsonObject] : calls;
  return all.map((call, part): Piece => {
    const named = objectOf(call["function"] ?? call["custom"]);
    const written = named["arguments"] ?? named["input"];
    const text = typeof written === "string" ? canonicalArguments(written) : canonicalJson(written ?? null);
    return {
      kind: "call",
      at: { element, part },
      text: `${stringOf(named["name"]) ?? ""}\n${text}`,
      weight: text.length,
      callId: stringOf(call["id"]) ?? "",
    };
  });
}
