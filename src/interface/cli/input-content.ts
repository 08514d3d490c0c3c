/**
 * What bytes from outside are: an image or a PDF by their first bytes, text if they decode, and otherwise nothing that
 * can be sent. Bytes that are not text are never sent as replacement characters.
 */

export type Content =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image" | "pdf"; readonly mediaType: string }
  /** Cannot be sent; says what the bytes are and what to do. */
  | { readonly kind: "unusable"; readonly what: string; readonly todo: string };

export function contentOf(bytes: Buffer): Content {
  const found = MAGIC.find(({ starts }) => starts(bytes));
  if (found !== undefined) return found.content;
  const wide = wideText(bytes);
  if (wide !== undefined) return wide;
  // Text has no NUL; UTF-16 without a byte order mark and many binary formats do, and may still decode as UTF-8.
  if (bytes.includes(0)) return unusable(NOT_TEXT);
  try {
    // Drops a byte order mark at the start.
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return unusable(NOT_TEXT);
  }
}

const NOT_TEXT = "neither text nor a PNG, JPEG, GIF, WebP or PDF";

interface Magic {
  readonly starts: (bytes: Buffer) => boolean;
  readonly content: Content;
}

const startsWith =
  (text: string, at = 0) =>
  (bytes: Buffer): boolean =>
    bytes.toString("latin1", at, at + text.length) === text;

const image = (type: string): Content => ({ kind: "image", mediaType: `image/${type}` });
const unusable = (what: string, todo = ""): Content => ({ kind: "unusable", what, todo });
const CONVERT = "convert it to PNG or JPEG first";

/** The image types are those that all three APIs accept. */
const MAGIC: readonly Magic[] = [
  { starts: startsWith("\u0089PNG\r\n\u001A\n"), content: image("png") },
  { starts: startsWith("\u00FF\u00D8\u00FF"), content: image("jpeg") },
  { starts: (bytes) => /^GIF8[79]a/.test(bytes.toString("latin1", 0, 6)), content: image("gif") },
  {
    starts: (bytes) => startsWith("RIFF")(bytes) && startsWith("WEBP", 8)(bytes),
    content: image("webp"),
  },
  { starts: startsWith("%PDF-"), content: { kind: "pdf", mediaType: "application/pdf" } },
  {
    starts: (bytes) => startsWith("II*\0")(bytes) || startsWith("MM\0*")(bytes),
    content: unusable("a TIFF image, which models do not accept", CONVERT),
  },
  {
    starts: (bytes) => startsWith("ftyphei", 4)(bytes) || startsWith("ftypavif", 4)(bytes),
    content: unusable("a HEIC or AVIF image, which models do not accept", CONVERT),
  },
];

/** UTF-16 with a byte order mark, as Windows programs write it, is unambiguous, so it is decoded. */
function wideText(bytes: Buffer): Content | undefined {
  const mark = bytes.toString("latin1", 0, 2);
  const name = mark === "\u00FF\u00FE" ? "utf-16le" : mark === "\u00FE\u00FF" ? "utf-16be" : undefined;
  if (name === undefined) return undefined;
  try {
    return { kind: "text", text: new TextDecoder(name, { fatal: true }).decode(bytes) };
  } catch {
    return unusable("not valid UTF-16, although it starts with its byte order mark");
  }
}
