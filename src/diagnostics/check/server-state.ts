/**
 * What the server stores of a conversation in addition to the request. Rules about that part cannot be checked: a note
 * names them, and nothing is repaired because of them.
 */

import { sliceMember } from "../../base/support/index.ts";
import type { KeptByServer } from "../../runtime/rules/index.ts";
import type { History, Piece } from "./history.ts";
import { textMember } from "./json-text.ts";

/** `store` is on by default. Without a request, only the history itself can tell. */
export function keptByServer(history: History): KeptByServer {
  const { dialect, head, pieces } = history;
  if (dialect !== "openai-responses") return { items: false, front: continuesOf(history) !== undefined };
  const items =
    head === undefined
      ? pieces.some(isReference) || (history.stored === true && !pieces.some(hasPayload))
      : sliceMember(head, "store") !== "false";
  return { items, front: continuesOf(history) !== undefined };
}

export function isReference({ text }: Piece): boolean {
  return textMember(text, "type") === "item_reference";
}

/** Clients request payloads if nothing is stored. */
function hasPayload({ text }: Piece): boolean {
  return textMember(text, "encrypted_content") !== undefined;
}

/** The parameters that continue a conversation stored on the server. */
const CONTINUES: Readonly<Record<History["dialect"], readonly string[]>> = {
  "openai-responses": ["previous_response_id", "conversation"],
  "anthropic-messages": ["thread"],
  "openai-chat": [],
};

function continuesOf({ dialect, head = "" }: History): string | undefined {
  return CONTINUES[dialect].find((name) => {
    const value = sliceMember(head, name);
    if (value === undefined || value === "null" || value === '""') return false;
    // A thread that this request creates has no history.
    return name !== "thread" || textMember(value, "type") !== "create";
  });
}

export function notJudged(history: History): readonly string[] {
  const { items, front } = keptByServer(history);
  const named = items && history.pieces.some(isNamedAlone);
  const why =
    history.head === undefined ? "if `store` is not false" : "because `store` is not false in this request";
  return [
    ...(named
      ? [
          `items are sent by id alone, which is allowed ${why}; not checked: whether the server has them (R02, R03, R14)`,
        ]
      : []),
    ...(front
      ? [
          `the earlier conversation is on the server (${continuesOf(history) ?? ""}); not checked: whether every call in it has its result here (${history.dialect === "openai-responses" ? "R06, R07" : "M09, M16"})`,
        ]
      : []),
  ];
}

function isNamedAlone(piece: Piece): boolean {
  if (isReference(piece)) return true;
  const { text } = piece;
  return (
    textMember(text, "type") === "reasoning" && textMember(text, "id") !== undefined && !hasPayload(piece)
  );
}
