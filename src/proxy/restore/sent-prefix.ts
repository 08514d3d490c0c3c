/**
 * The bytes before an answer, for models that bind reasoning to its prefix (failures.md C04): system prompt, tools and
 * messages, without the marks that only steer the provider's cache.
 */

import { isObject } from "../../base/support/index.ts";
import { canonicalJson, type Mark } from "../marks/index.ts";
import type { Body } from "./body.ts";

/** The hash of everything before each element, and of the whole as the last one. */
export function sentPrefixes({ head, values }: Body, mark: Mark): readonly string[] {
  const front = canonicalJson(withoutCacheMarks([head["system"] ?? null, head["tools"] ?? null]));
  const hashes = [mark(`sent\n${front}`)];
  for (const value of values)
    hashes.push(mark(`${hashes.at(-1) ?? ""}\nsent\n${canonicalJson(withoutCacheMarks(value))}`));
  return hashes;
}

function withoutCacheMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCacheMarks);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "cache_control")
      .map(([key, inner]) => [key, withoutCacheMarks(inner)]),
  );
}
