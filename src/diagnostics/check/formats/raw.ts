/** Histories in the format of a dialect: an array of pieces, or a request with one. */

import { isObject, sliceMember, sliceObject, tryParseJson, codedError } from "../../../base/support/index.ts";
import { editChat } from "../edit-chat.ts";
import { editMessages } from "../edit-messages.ts";
import { editResponses } from "../edit-responses.ts";
import { arrayFile, type ElementFile } from "../element-list.ts";
import type { Edit, History, HistoryDialect, Piece } from "../history.ts";
import { memberStart, objectText, withMember, withoutMember } from "../json-text.ts";
import type { Slot } from "../piece-list.ts";
import { inferGroups } from "./infer-groups.ts";

type RawFormat = "responses" | "messages" | "chat";

const DIALECTS: Readonly<Record<RawFormat, HistoryDialect>> = {
  responses: "openai-responses",
  messages: "anthropic-messages",
  chat: "openai-chat",
};

const EDITORS: Readonly<
  Record<HistoryDialect, (slots: readonly Slot[], edits: readonly Edit[]) => readonly Slot[]>
> = {
  "openai-responses": editResponses,
  "anthropic-messages": editMessages,
  "openai-chat": editChat,
};

export function openRaw(text: string, format: RawFormat): History {
  const key = format === "responses" ? "input" : "messages";
  const { file, head } = split(text, key);
  for (const [index, element] of file.elements.entries()) {
    if (!isObject(tryParseJson(element))) {
      throw codedError("input_invalid", `${key}[${index}] is not an object`);
    }
  }
  const dialect = DIALECTS[format];
  const pieces = file.elements.map((element, index): Piece => ({
    text: element,
    where: format === "messages" ? `${key}.${index}` : `${key}[${index}]`,
  }));
  return {
    format,
    dialect,
    pieces: dialect === "openai-responses" ? inferGroups(pieces) : pieces,
    damage: [],
    head,
    moves: true,
    apply(edits) {
      const slots = EDITORS[dialect](
        file.elements.map((element, index) => ({ element: index, text: element })),
        edits,
      );
      const changed = file.join(slots.map(({ text: slot }) => slot));
      return edits
        .filter((edit) => edit.do === "head")
        .reduce((body, edit) => withHead(body, edit.field, edit.value), changed);
    },
  };
}

function split(text: string, key: string): { readonly file: ElementFile; readonly head?: string } {
  const trimmed = text.trim();
  if (trimmed.startsWith("[")) return { file: arrayFile(text, trimmed, text.indexOf("[")) };
  const value = trimmed.startsWith("{") ? sliceMember(trimmed, key) : undefined;
  const head =
    value === undefined ? "" : objectText(sliceObject(trimmed).filter((member) => member.key !== key));
  if (value?.startsWith("[") === true) return { file: arrayFile(text, value, memberStart(text, key)), head };
  // A plain string has no history to check.
  if (value?.startsWith('"') === true && key === "input")
    return { file: { elements: [], join: () => text }, head };
  // Adds nothing to the history on the server.
  if (value === undefined && key === "input" && goesOn(trimmed))
    return { file: { elements: [], join: () => text }, head: trimmed };
  throw codedError(
    "input_invalid",
    `no history: give an array of ${key === "input" ? "input items" : "messages"}, or a request with \`${key}\``,
  );
}

function goesOn(body: string): boolean {
  return ["previous_response_id", "conversation"].some((name) => sliceMember(body, name) !== undefined);
}

function withHead(body: string, field: string, value: string | undefined): string {
  return value === undefined ? withoutMember(body, field) : withMember(body, field, value);
}
