/** The elements of a request as pieces, by dialect. */

import type { Dialect } from "../../base/events/index.ts";
import type { Piece } from "./piece.ts";
import { readChatMessage } from "./read-chat.ts";
import { readMessage } from "./read-messages.ts";
import { readItem } from "./read-responses.ts";

const READERS: Readonly<Record<Dialect, (value: unknown, element: number) => readonly Piece[]>> = {
  "openai-responses": readItem,
  "anthropic-messages": readMessage,
  "openai-chat": readChatMessage,
};

/** `value` is a parsed element of `input` or `messages`. */
export function readPieces(dialect: Dialect, value: unknown, element: number): readonly Piece[] {
  return READERS[dialect](value, element);
}
