/**
 * What a server keeps of a conversation beside what is sent to it. Rules that ask about that part cannot be asked: it is
 * said which, and nothing is repaired for their sake.
 */

import { sliceMember } from "../../base/support/index.ts";
import type { KeptByServer } from "../../runtime/rules/index.ts";
import type { History, Piece } from "./history.ts";
import { textMember } from "./json-text.ts";

/** `store` is on unless a request says otherwise. Without a request the history alone can tell. */
export function keptByServer(history: History): KeptByServer {
  const { dialect, head, pieces } = history;
  if (dialect !== "openai-responses") return { items: false, front: continuesOf(history) !== undefined };
  const items =
    head === undefined
      ? pieces.some(isReference) || (history.stored === true && !pieces.some(hasPayload))
      : sliceMember(head, "store") !== "false";
  return { items, front: continuesOf(history) !== undefined };
}

function isReference({ text }: Piece): boolean {
  return textMember(text, "type") === "item_reference";
}

/** Payloads are asked for where nothing is stored. */
function hasPayload({ text }: Piece): boolean {
  return textMember(text, "encrypted_content") !== undefined;
}

/** The parameters that say that a conversation goes on which the server has. */
const CONTINUES: Readonly<Record<History["dialect"], readonly string[]>> = {
  "openai-responses": ["previous_response_id", "conversation"],
  "anthropic-messages": ["thread"],
  "openai-chat": [],
};

function continuesOf({ dialect, head = "" }: History): string | undefined {
  return CONTINUES[dialect].find((name) => {
    const value = sliceMember(head, name);
    if (value === undefined || value === "null" || value === '""') return false;
    // A thread that is only now created has nothing before it.
    return name !== "thread" || textMember(value, "type") !== "create";
  });
}

export function notJudged(history: History): readonly string[] {
  const { items, front } = keptByServer(history);
  const named = items && history.pieces.some(isNamedAlone);
  const why =
    history.head === undefined
      ? "where `store` is not false"
      : "because `store` is not false in this request";
  return [
    ...(named
      ? [
          `items are sent by their ids alone, which is allowed ${why}: not judged is whether the server has them (R02, R03, R14)`,
        ]
      : []),
    ...(front
      ? [
          `what comes before is on the server (${continuesOf(history) ?? ""}): not judged is whether its calls are answered here, each by its result (${history.dialect === "openai-responses" ? "R06, R07" : "M09, M16"})`,
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
