/**
 * Token counts of a message. Reports are cumulative: the last one counts. Cache reads and writes are not included in
 * `input_tokens`.
 *
 * A server that runs tools calls the model several times and sums all passes, each with the whole context: one report
 * showed 950,648 tokens for a context of a tenth of that. The sum determines the price; the last pass determines the
 * context size.
 */

import type { Usage } from "../../../base/events/index.ts";
import { arrayOf, isObject, type JsonObject, numberOf, objectOf } from "../../../base/support/index.ts";

export function usageOf(reports: readonly unknown[], ranTools: boolean): Usage | undefined {
  const known = reports.filter(isObject);
  if (known.length === 0) return undefined;
  const merged: JsonObject = Object.assign({}, ...known.map(withoutNulls));
  const [inputTokens, outputTokens] = [inputOf(merged), count(merged, "output_tokens")];
  const held = lastPass(merged) ?? (ranTools ? firstPass(known, outputTokens) : undefined);
  return {
    inputTokens,
    cachedTokens: count(merged, "cache_read_input_tokens"),
    outputTokens,
    reasoningTokens: numberOf(objectOf(merged["output_tokens_details"])["thinking_tokens"]) ?? 0,
    contextTokens: held === inputTokens + outputTokens ? undefined : held,
  };
}

/** Tokens read by a compaction or an adviser are not part of this context (beta messages.d.ts 4176). */
const PASSES: ReadonlySet<unknown> = new Set(["message", "fallback_message"]);

function lastPass(usage: JsonObject): number | undefined {
  const last = arrayOf(usage["iterations"])
    .map(objectOf)
    .findLast(({ type }) => PASSES.has(type));
  return last === undefined ? undefined : inputOf(last) + count(last, "output_tokens");
}

/** `message_start` reports usage before any tool has run. Gateways omit it there or report zero. */
function firstPass([first = {}]: readonly JsonObject[], outputTokens: number): number | undefined {
  const input = inputOf(first);
  return input === 0 ? undefined : input + outputTokens;
}

function inputOf(usage: JsonObject): number {
  return (
    count(usage, "input_tokens") +
    count(usage, "cache_read_input_tokens") +
    count(usage, "cache_creation_input_tokens")
  );
}

function count(usage: JsonObject, field: string): number {
  return numberOf(usage[field]) ?? 0;
}

function withoutNulls(report: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(report).filter(([, value]) => value !== null));
}
