/**
 * Events as frames of a stream. All followers of a session get the same batches, so each batch is serialized once for
 * all of them and released with the batch.
 */

import { type SessionEvent, toLine } from "../../base/events/index.ts";

const written = new WeakMap<readonly SessionEvent[], Buffer>();

/** The bytes of a batch that several followers receive. */
export function sharedFrames(batch: readonly SessionEvent[]): Buffer {
  let bytes = written.get(batch);
  if (bytes === undefined) {
    bytes = Buffer.from(batch.map(frameOf).join(""));
    written.set(batch, bytes);
  }
  return bytes;
}

export function frameOf(event: SessionEvent): string {
  return "seq" in event
    ? `id: ${event.seq}\ndata: ${toLine(event)}\n\n`
    : `data: ${JSON.stringify(event)}\n\n`;
}
