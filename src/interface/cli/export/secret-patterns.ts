/**
 * Recognises secrets, for `--redact` and for erasing: values of environment variables with telling names, and the formats
 * of common issuers.
 */

import { publicAddress, secretsInAddress, stringOf, tryParseJson } from "../../../base/support/index.ts";
import { createRedactor, secretsOf } from "../../../runtime/log/index.ts";

const SHAPES: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=[Bb]earer )[A-Za-z0-9._~+/-]{16,}=*/g,
  /(?<=[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{0,100}:)[^\s/@]{3,}(?=@)/g,
];

const REDACTED = "[redacted]";

export function secretReplacer(
  env: Readonly<Record<string, string | undefined>>,
  addresses: readonly string[] = [],
): (text: string) => string {
  const secrets = [...secretsOf(env), ...addresses.flatMap(secretsInAddress)];
  const exact = createRedactor(() => secrets);
  return (text) => {
    const told = addresses.reduce((clean, one) => clean.replaceAll(one, publicAddress(one)), text);
    return SHAPES.reduce((clean, shape) => clean.replaceAll(shape, REDACTED), exact(told));
  };
}

/** Finds base URLs with a query or a password in the lines of a log; earlier versions accepted them. */
export function privateAddresses(lines: Buffer): readonly string[] {
  const found = lines.toString("utf8").matchAll(/"endpoint":("(?:[^"\\]|\\.)*")/g);
  const texts = Array.from(found, ([, text]) => stringOf(tryParseJson(text ?? "")) ?? "");
  return [...new Set(texts)].filter((text) => publicAddress(text) !== text);
}

/** Replaces one value in every encoding in which it may occur; a blob is searched as one character per byte. */
export function valueReplacer(secret: string): (text: string) => string {
  const bytes = Buffer.from(secret).toString("latin1");
  const exact = createRedactor(() => [secret, bytes]);
  return (text) => exact(text);
}

/** Rejects a pattern that matches the empty text, because it would match everywhere. */
export function patternReplacer(source: string): (text: string) => string {
  const pattern = new RegExp(source, "gu");
  if (pattern.test("")) throw new Error("it matches an empty text");
  return (text) => text.replaceAll(pattern, REDACTED);
}
