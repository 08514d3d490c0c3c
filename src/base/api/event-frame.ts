/** One event as a frame of a server-sent event stream. `id:` is the seq of a logged event; a live event has none. */

import { type SessionEvent, toLine } from "../events/index.ts";

export function eventFrame(event: SessionEvent): string {
  return "seq" in event
    ? `id: ${event.seq}\ndata: ${toLine(event)}\n\n`
    : `data: ${JSON.stringify(event)}\n\n`;
}
