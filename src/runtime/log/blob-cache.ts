/** Keeps the blobs that a session's requests contain in memory. */

import { type EventHead, eventOf, headsOf, isQuiet } from "../../base/events/index.ts";
import { codeOf } from "../../base/support/index.ts";
import { sentBlobsOf } from "./bundle.ts";
import type { Log } from "./log.ts";

/** The request says that the blob is missing. The damage is reported to callers that read the blob itself. */
function goneIfDamaged(error: unknown): undefined {
  if (codeOf(error) !== "blob_damaged") throw error;
}

/** Blobs of messages and results, read before a request is rendered: the fold and the renderer do no I/O. */
export class BlobCache {
  readonly #log: Log;
  readonly #blobs = new Map<string, Uint8Array>();
  #seen = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  async load(): Promise<void> {
    const heads = headsOf(this.#log.events);
    for (let at = this.#seen; at < heads.length; at += 1) {
      const head = heads[at] as EventHead;
      // A line that names a blob is decoded when it is read (line-head.ts).
      if (isQuiet(head) || (head.type !== "user_message" && head.type !== "tool_result")) continue;
      for (const name of sentBlobsOf(eventOf(head))) {
        if (this.#blobs.has(name)) continue;
        const bytes = await this.#log.getBlob(name).catch(goneIfDamaged);
        if (bytes !== undefined) this.#blobs.set(name, bytes);
      }
    }
    this.#seen = heads.length;
  }

  get(name: string): Uint8Array | undefined {
    return this.#blobs.get(name);
  }
}
