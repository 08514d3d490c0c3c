/**
 * Events as frames of a stream. All followers of a session get the same batches, so each batch is serialized once for
 * all of them and released with the batch.
 */

import { eventFrame } from "../../base/api/index.ts";
import type { SessionEvent } from "../../base/events/index.ts";

const written = new WeakMap<readonly SessionEvent[], Buffer>();

/** The bytes of a batch that several followers receive. */
export function sharedFrames(batch: readonly SessionEvent[]): Buffer {
  let bytes = written.get(batch);
  if (bytes === undefined) {
    bytes = Buffer.from(batch.map((event) => eventFrame(event)).join(""));
    written.set(batch, bytes);
  }
  return bytes;
}
