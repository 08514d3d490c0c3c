/**
 * Turns what a person sends into the content of a user message. Large images and files become blobs next to the log.
 */

import type { Input } from "../../base/api/index.ts";
import type { InputPart } from "../../base/events/index.ts";
import type { Log } from "../log/index.ts";

const INLINE_BYTES = 64 * 1024;

export async function toContent(input: Input, log: Pick<Log, "putBlob">): Promise<readonly InputPart[]> {
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
