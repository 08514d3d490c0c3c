/**
 * Events of any dialect before they become bytes. Faults add, drop and swap them. Each carries its meaning for the
 * issued record, so that later code need not know a dialect's event names.
 */

import type { JsonObject } from "../../base/support/index.ts";
import type { Fault } from "../faults/fault.ts";

export interface StreamEvent {
  readonly body: JsonObject;
  /** The output item it belongs to. */
  readonly item?: number;
  /** Deltas are sent at the stream's pace. */
  readonly delta?: true | undefined;
  /** The event's body if it carried everything at once. */
  readonly whole?: JsonObject;
  /** Set if this event ends the response, with its outcome. */
  readonly terminal?: "completed" | "incomplete" | "failed";
}

/** How a dialect writes its events. */
export interface StreamForm {
  /** Whether each has an `event:` line with the type. */
  readonly named: boolean;
  /** Whether each has a `sequence_number`. */
  readonly numbered: boolean;
  /** Whether `data: [DONE]` follows at the end. */
  readonly doneMarker: boolean;
  /** An unknown event, and one that only keeps the connection alive. */
  readonly surprise: JsonObject;
  readonly keepalive: JsonObject;
  /** The same event as part of another response, for the start of a spliced stream. */
  ofAnother(event: StreamEvent): StreamEvent;
  /** Applies faults that only this dialect can show; returns the list unchanged for all others. */
  alter(list: readonly StreamEvent[], fault: Fault, seed: string): readonly StreamEvent[];
}

/**
 * Splits text into token-sized parts: a word with the space before it, cut after six letters. Joined, they give the
 * text.
 */
export function deltaTexts(text: string): readonly string[] {
  return text.match(/\s*[\p{L}\p{N}]{1,6}|\s*[^\p{L}\p{N}\s]{1,3}|\s+/gu) ?? [];
}
