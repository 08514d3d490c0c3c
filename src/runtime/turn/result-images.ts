/**
 * The images of a result: checked, then stored next to the log. A tool's server may send anything, and a provider that
 * refuses an image refuses every later request of the session too. So an image that no provider accepts is left out,
 * and a line of text says why.
 */

import type { ResultPart, ToolCall } from "../../base/events/index.ts";
import { codeOf, inertLine, isBase64Text, isObject, messageOf } from "../../base/support/index.ts";
import type { TurnContext } from "./context.ts";

const MOST_IMAGES = 20;
const MOST_BYTES = 5 * 1024 * 1024;
/** How many characters of base64 that many bytes have. */
const MOST_CHARACTERS = Math.ceil(MOST_BYTES / 3) * 4;

/** The types that every API with images accepts, and how their bytes begin. */
const SIGNATURES: ReadonlyMap<string, RegExp> = new Map([
  ["image/png", /^\x89PNG\r\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
]);

export interface ResultImages {
  readonly parts: readonly ResultPart[];
  /** A line for each image that was left out, or for all that were too many. */
  readonly leftOut: readonly string[];
}

/** Never throws because of an image, whatever it is: the tool has run, so its result must reach the log. */
export async function keepImages(
  context: TurnContext,
  call: ToolCall,
  images: readonly unknown[],
): Promise<ResultImages> {
  const parts: ResultPart[] = [];
  const leftOut: string[] = [];
  const leave = (index: number, why: string): unknown =>
    leftOut.push(`[image ${index + 1} of ${images.length} left out: ${why}]`);
  for (const [index, image] of images.slice(0, MOST_IMAGES).entries()) {
    const checked = checkImage(image);
    if (typeof checked === "string") {
      leave(index, checked);
      continue;
    }
    try {
      const blob = await context.live.log.putBlob(checked.bytes);
      parts.push({ type: "image", mediaType: checked.mediaType, blob, bytes: checked.bytes.length });
    } catch (error) {
      leave(index, "it could not be stored");
      const message = `an image of "${call.name}" (${call.callId}) is not kept: ${messageOf(error)}`;
      const code = codeOf(error) ?? "blob_write_failed";
      await context.live.append([
        { type: "notice", turn: context.turn, code, message: context.redact(message) },
      ]);
    }
  }
  const more = images.length - MOST_IMAGES;
  if (more > 0) leftOut.push(`[${more} more images left out: a result has at most ${MOST_IMAGES}]`);
  return { parts, leftOut };
}

interface CheckedImage {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** Returns the image, or why it cannot be sent. Nothing is decoded before its size is known. */
function checkImage(image: unknown): CheckedImage | string {
  if (!isObject(image)) return "it is not an image";
  const { mediaType, data } = image;
  const signature = typeof mediaType === "string" ? SIGNATURES.get(mediaType) : undefined;
  if (typeof mediaType !== "string" || signature === undefined) {
    const named = typeof mediaType === "string" ? `"${inertLine(mediaType, 60)}"` : "missing";
    return `its type is ${named}; models accept ${[...SIGNATURES.keys()].join(", ")}`;
  }
  if (typeof data !== "string" || data === "") return "it is empty";
  if (data.length > MOST_CHARACTERS) return tooLarge(Math.floor((data.length / 4) * 3));
  if (data.length % 4 !== 0 || !isBase64Text(data)) return "its data is not base64";
  const bytes = Buffer.from(data, "base64");
  if (bytes.length > MOST_BYTES) return tooLarge(bytes.length);
  if (!signature.test(bytes.toString("latin1", 0, 16))) return `its bytes are not ${mediaType}`;
  return { mediaType, bytes };
}

function tooLarge(bytes: number): string {
  return `it has ${(bytes / 1024 / 1024).toFixed(1)} MiB; an image may have at most ${MOST_BYTES / 1024 / 1024} MiB`;
}
