/** What the APIs check of an image that a request contains as base64. */

import { isBase64Text } from "../../base/support/index.ts";

export const IMAGE_TYPES: readonly string[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

const SIGNATURES: readonly (readonly [type: string, signature: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
];

export function isBase64(data: string): boolean {
  return data.length % 4 === 0 && isBase64Text(data);
}

/** The type that the bytes show, whatever the request says. Undefined if they are no image. */
export function typeOfBytes(data: string): string | undefined {
  const head = Buffer.from(data.slice(0, 24), "base64").toString("latin1");
  return SIGNATURES.find(([, signature]) => signature.test(head))?.[0];
}

export interface DataUrl {
  readonly mediaType: string;
  readonly data: string;
}

/** Undefined if it is not a data URL of base64. */
export function parseDataUrl(url: string): DataUrl | undefined {
  const comma = url.indexOf(",");
  const head = url.slice(0, Math.max(0, comma));
  if (!/^data:[^,]*;base64$/i.test(head)) return undefined;
  return { mediaType: head.slice("data:".length).split(";", 1)[0] ?? "", data: url.slice(comma + 1) };
}
