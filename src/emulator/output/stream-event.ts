/**
 * Events of any dialect before they are bytes. Faults add, drop and swap them; what one of them means to the issued record
 * stands beside it, so that nothing later has to know a dialect's event names.
 */

import type { JsonObject } from "../../base/support/index.ts";
import type { Fault } from "../faults/fault.ts";

export interface StreamEvent {
  readonly body: JsonObject;
  /** The output item it belongs to. */
  readonly item?: number;
  /** Deltas are what the pace is between. */
  readonly delta?: true | undefined;
  /** What it would say if it said everything at once. */
  readonly whole?: JsonObject;
  /** With this event the response is over, and so. */
  readonly terminal?: "completed" | "incomplete" | "failed";
}

/** How a dialect writes its events. */
export interface StreamForm {
  /** An `event:` line with the type. */
  readonly named: boolean;
  /** `sequence_number` in each. */
  readonly numbered: boolean;
  /** `data: [DONE]` at the end. */
  readonly doneMarker: boolean;
  /** An event nobody knows, and one that only says that the line is alive. */
  readonly surprise: JsonObject;
  readonly keepalive: JsonObject;
  /** The same event as part of another response: what a spliced stream begins with. */
  ofAnother(event: StreamEvent): StreamEvent;
  /** Faults that only this dialect can show; returns the list as it is for all others. */
  alter(list: readonly StreamEvent[], fault: Fault, seed: string): readonly StreamEvent[];
}

/** Pieces the size of tokens: a word with the space before it, cut after six letters. Joining them gives the text. */
export function deltaTexts(text: string): readonly string[] {
  return text.match(/\s*[\p{L}\p{N}]{1,6}|\s*[^\p{L}\p{N}\s]{1,3}|\s+/gu) ?? [];
}
