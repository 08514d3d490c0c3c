/** Small real images, for results of tools. */

/** One pixel. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

/** A PNG of that many bytes: what follows its end is ignored by readers. */
export function pngOf(bytes: number): string {
  const small = Buffer.from(PNG, "base64");
  return Buffer.concat([small, Buffer.alloc(bytes - small.length)]).toString("base64");
}
