/**
 * What a person sends → the content of a user message. Large images and files become blobs beside the log.
 *
 * @module
 */

import type { Input } from "../../base/api/index.ts";
import type { InputPart } from "../../base/events/index.ts";
import { codeOf } from "../../base/support/index.ts";
import type { Log } from "../log/index.ts";

const INLINE_BYTES = 64 * 1024;

export async function toContent(input: Input, log: Log): Promise<readonly InputPart[]> {
  if (typeof input === "string") return [{ type: "text", text: input.toWellFormed() }];
  return Promise.all(
    input.map(async (part): Promise<InputPart> => {
      if (part.type === "text") return { type: "text", text: part.text.toWellFormed() };
      if (!("data" in part) || part.data.length <= INLINE_BYTES) return part;
      const { data, ...rest } = part;
      return { ...rest, blob: await log.putBlob(Buffer.from(data, "base64")) };
    }),
  );
}

/** A request says that it is gone; what is wrong with it is said to whoever asks for the blob itself. */
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
