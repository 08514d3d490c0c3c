/** Keeps the blobs that a session's messages name in memory. */

import { codeOf } from "../../base/support/index.ts";
import type { Log } from "./log.ts";

/** The request says that the blob is missing. The damage is reported to callers that read the blob itself. */
function goneIfDamaged(error: unknown): undefined {
  if (codeOf(error) !== "blob_damaged") throw error;
}

/** Blobs of user messages, read before a request is rendered: the fold and the renderer do no I/O. */
export class BlobCache {
  readonly #log: Log;
  readonly #blobs = new Map<string, Uint8Array>();
  #seen = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  async load(): Promise<void> {
    for (const event of this.#log.events.slice(this.#seen)) {
      if (event.type !== "user_message") continue;
      for (const part of event.content) {
        if (!("blob" in part) || this.#blobs.has(part.blob)) continue;
        const bytes = await this.#log.getBlob(part.blob).catch(goneIfDamaged);
        if (bytes !== undefined) this.#blobs.set(part.blob, bytes);
      }
    }
    this.#seen = this.#log.events.length;
  }

  get(name: string): Uint8Array | undefined {
    return this.#blobs.get(name);
  }
}
