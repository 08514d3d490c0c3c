/**
 * Events as they stand in a stream. All who follow a session are told the same event one after the other: it is written
 * out once for all of them, and only the last is remembered.
 */

import { type SessionEvent, toLine } from "../../base/events/index.ts";

export class EventFrames {
  #event: SessionEvent | undefined;
  #text = "";

  textOf(event: SessionEvent): string {
    if (event !== this.#event) {
      this.#event = event;
      this.#text =
        "seq" in event
          ? `id: ${event.seq}\ndata: ${toLine(event)}\n\n`
          : `data: ${JSON.stringify(event)}\n\n`;
    }
    return this.#text;
  }
}
