/**
 * Payloads that only their maker can read. The page shows their size and never their text: they are long, and nobody can
 * read them. Pure.
 */

import { isObject, tryParseJson } from "../../../base/support/index.ts";
import { sizeWords } from "./figures.ts";

/** The fields of the three dialects that hold such a payload. */
const SEALED: ReadonlySet<string> = new Set([
  "encrypted_content",
  "signature",
  "data",
  "reasoning_opaque",
  "thought_signature",
]);

/** Shorter values are ids and names, not payloads. */
const SHORTEST = 48;

/** Returns the bytes of all sealed payloads in an item. */
export function sealedBytes(item: string): number {
  let sum = 0;
  walk(tryParseJson(item), (text) => {
    sum += text.length; // payloads are base64, so a character is a byte
    return undefined;
  });
  return sum;
}

/** Returns the value with each payload as "1.2 KB sealed", and each image as its size. */
export function withSealsShort(value: unknown): unknown {
  return walk(value, (text, holder) =>
    "media_type" in holder || "mediaType" in holder
      ? `${sizeWords(text.length)} of data`
      : `${sizeWords(text.length)} sealed`,
  );
}

type Seen = (text: string, holder: Readonly<Record<string, unknown>>) => string | undefined;

function walk(value: unknown, seen: Seen): unknown {
  if (Array.isArray(value)) return value.map((one) => walk(one, seen));
  if (typeof value === "string" && value.startsWith("data:") && value.length > 256)
    return `${value.slice(0, value.indexOf(",") + 1 || 32)} ${sizeWords(value.length)}`;
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      typeof inner === "string" && SEALED.has(name)
        ? inner.length >= SHORTEST
          ? (seen(inner, value) ?? inner)
          : inner
        : walk(inner, seen),
    ]),
  );
}
