/**
 * Suggests a profile from the results: what a client should do at this endpoint. Each field names the probe it is based
 * on, or says that it was assumed.
 */

import { PROFILES } from "../../runtime/providers/index.ts";
import type { Facts } from "./probe.ts";
import type { ProbeResult } from "./run.ts";

interface SuggestedField {
  readonly field: string;
  readonly value: string | number | boolean;
  readonly because: string;
}

export interface Suggestion {
  /** The built-in profile that differs in the fewest fields. */
  readonly nearest: string;
  /** The fields in which the suggestion differs from it. */
  readonly departs: readonly string[];
  readonly fields: readonly SuggestedField[];
}

/** Whether a probe's request was accepted; undefined if it did not run. */
type Accepted = (id: string) => boolean | undefined;

const OPENAI = PROFILES["openai"];
/** Built-in profiles that name a kind of endpoint. */
const CANDIDATES = ["openai", "no-item-ids", "open-responses"] as const;

export function suggestProfile(results: readonly ProbeResult[]): Suggestion {
  const facts = (id: string): Facts | undefined => results.find((one) => one.id === id)?.facts;
  const accepted: Accepted = (id) => facts(id)?.["accepted"] as boolean | undefined;
  const fields: readonly SuggestedField[] = [
    itemIds(results, accepted, facts("reasoning.payload")?.["present"] !== false),
    limit("maxItemIdLength", "refuses.long-id", facts("refuses.long-id")),
    limit("maxCallIdLength", "refuses.long-call-id", facts("refuses.long-call-id")),
    known("callIdsRepeat", facts("tools.call-ids")?.["repeat"], "tools.call-ids"),
    reasoningContent(accepted),
    reasoningPayload(accepted, facts("reasoning.payload")?.["present"] as boolean | undefined),
    assumed("prefixBound", "a server that drops reasoning does so silently"),
    known("sendInclude", accepted("request.include"), "request.include"),
    known("sendStore", accepted("request.store"), "request.store"),
    known("sendPromptCacheKey", accepted("request.prompt-cache-key"), "request.prompt-cache-key"),
  ];
  const departures = CANDIDATES.map((name) => ({ name, departs: departuresFrom(name, fields) }));
  const [best] = departures.toSorted((a, b) => a.departs.length - b.departs.length);
  return { nearest: best?.name ?? "openai", departs: best?.departs ?? [], fields };
}

function departuresFrom(name: string, fields: readonly SuggestedField[]): readonly string[] {
  const profile = PROFILES[name] as unknown as Readonly<Record<string, unknown>>;
  return fields.filter(({ field, value }) => profile[field] !== value).map(({ field }) => field);
}

function usual(field: string): string | number | boolean {
  return (OPENAI as unknown as Readonly<Record<string, string | number | boolean>>)[field] ?? false;
}

function assumed(field: string, why: string): SuggestedField {
  return { field, value: usual(field), because: `assumed: ${why}` };
}

function known(field: string, value: unknown, probe: string): SuggestedField {
  return typeof value === "boolean"
    ? { field, value, because: probe }
    : assumed(field, `${probe} did not run`);
}

function itemIds(results: readonly ProbeResult[], accepted: Accepted, opaque: boolean): SuggestedField {
  const field = "itemIds";
  if (results.some(({ id, result }) => id === "stream.ids" && result === "differs")) {
    return { field, value: "omit", because: "stream.ids: they change within a stream" };
  }
  const whole = ["replay.message", "replay.call"].map((id) => [id, accepted(id)] as const);
  const refused = whole.find(([, taken]) => taken === false);
  // Without a payload, an id refers to an item that the server would have to store. That is why it was refused.
  if (refused !== undefined && opaque) {
    return { field, value: "omit", because: `${refused[0]}: refused with them` };
  }
  if (accepted("replay.readable") === true && !opaque) {
    return { field, value: "omit", because: "replay.readable: accepted without them" };
  }
  const taken = whole.find(([, one]) => one === true);
  if (taken !== undefined) return { field, value: "keep", because: `${taken[0]}: accepted with them` };
  return assumed(field, "no reasoning could be sent back");
}

function limit(field: string, probe: string, facts: Facts | undefined): SuggestedField {
  if (facts === undefined) return assumed(field, `${probe} did not run`);
  if (facts["accepted"] === true)
    return { field, value: 416, because: `${probe}: 416 characters were accepted` };
  const said = facts["limit"];
  return typeof said === "number" && said > 0
    ? { field, value: said, because: `${probe}: the server says so` }
    : assumed(field, `${probe} was refused without naming a limit`);
}

function reasoningContent(accepted: Accepted): SuggestedField {
  const field = "reasoningContent";
  const own = accepted("replay.readable");
  if (own === true) return { field, value: "verbatim", because: "replay.readable: accepted" };
  if (own === false) return { field, value: "empty", because: "replay.readable: refused" };
  const taken = accepted("refuses.content");
  if (taken === undefined) return assumed(field, "refuses.content did not run");
  return taken
    ? { field, value: "empty", because: "replay.readable: reasoning has no content" }
    : { field, value: "empty", because: "refuses.content: refused" };
}

function reasoningPayload(accepted: Accepted, given: boolean | undefined): SuggestedField {
  const field = "reasoningPayload";
  if (given === false) {
    const taken = ["replay.readable", "replay.message", "replay.call"].find((id) => accepted(id) === true);
    if (taken !== undefined)
      return { field, value: "optional", because: `${taken}: accepted without a payload` };
    const because = "replay: reasoning without a payload is refused, so it stays out";
    return { field, value: "required", because };
  }
  const bare = accepted("refuses.bare-id");
  if (bare === undefined) return assumed(field, "refuses.bare-id did not run");
  return bare
    ? { field, value: "optional", because: "refuses.bare-id: accepted" }
    : { field, value: "required", because: "refuses.bare-id: refused" };
}
