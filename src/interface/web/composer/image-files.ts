/** Files that a person attaches: which of them are images that models take, and how they are sent. */

import type { InputPart } from "../../../access/client/index.ts";
import type { DraftImage } from "./draft-value.ts";
import { keptImage } from "./kept-images.ts";

/** By their first bytes: a name or a type of the browser can be wrong, and the server would refuse the image. */
const SIGNS = [
  ["image/png", /^\u0089PNG\r\n/],
  ["image/jpeg", /^\u00FF\u00D8\u00FF/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
] as const;

export const IMAGE_TYPES = SIGNS.map(([type]) => type).join(",");

const MB = 1024 * 1024;
/** Providers take 5 MB of base64 for one image, the server 10 MB for one message. */
const MOST_BYTES = 3.7 * MB;
const MOST_TOGETHER = 7 * MB;

export async function imageTypeOf(file: Blob): Promise<string | undefined> {
  const head = String.fromCharCode(...new Uint8Array(await file.slice(0, 12).arrayBuffer()));
  return SIGNS.find(([, sign]) => sign.test(head))?.[0];
}

/** Why a file cannot be attached to the images that are there. */
export async function attachProblem(file: File, there: readonly DraftImage[]): Promise<string | undefined> {
  const name = file.name === "" ? "This file" : `“${file.name}”`;
  if ((await imageTypeOf(file)) === undefined)
    return `${name} is not a PNG, JPEG, WebP or GIF image, so it was not attached.`;
  if (file.size > MOST_BYTES)
    return `${name} has ${inMb(file.size)} and was not attached: an image may have ${inMb(MOST_BYTES)} at most.`;
  const together = there.reduce((sum, { bytes }) => sum + bytes, file.size);
  return together > MOST_TOGETHER
    ? `${name} was not attached: the images of one message may have ${inMb(MOST_TOGETHER)} together.`
    : undefined;
}

/** The parts of the message, or undefined if an image is gone from this browser. */
export async function imageParts(images: readonly DraftImage[]): Promise<readonly InputPart[] | undefined> {
  const parts: InputPart[] = [];
  for (const image of images) {
    const bytes = await keptImage(image);
    if (bytes === undefined) return undefined;
    parts.push({ type: "image", mediaType: image.mediaType, data: await base64Of(bytes) });
  }
  return parts;
}

/** The browser encodes it: a loop over megabytes would block the page. */
async function base64Of(bytes: Blob): Promise<string> {
  const reader = new FileReader();
  const done = new Promise<void>((resolve, reject) => {
    reader.addEventListener("load", () => resolve());
    reader.addEventListener("error", () => reject(reader.error as Error));
  });
  reader.readAsDataURL(bytes);
  await done;
  const address = reader.result as string;
  return address.slice(address.indexOf(",") + 1);
}

export function blobOf(data: string, mediaType: string): Blob {
  return new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], { type: mediaType });
}

function inMb(bytes: number): string {
  return `${Number((bytes / MB).toFixed(1))} MB`;
}
