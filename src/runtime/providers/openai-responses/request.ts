/** Plan → request body of the Responses dialect. */

import type { Settings } from "../../../base/events/index.ts";
import { arrayOf, objectOf } from "../../../base/support/index.ts";
import { type Plan, type PlanEntry, withoutReasoning } from "../../fold/index.ts";
import { createRequestCheck, ITEM_ID_PREFIXES } from "../../rules/index.ts";
import type { RequestForm } from "../growing-request.ts";
import type { RenderContext } from "../provider.ts";
import { definedOnly, freeParameters, openBody, refusedFields } from "../request-fields.ts";
import { systemTextOf } from "../system-text.ts";
import { CALLS_BY_ID } from "./client-calls.ts";
import { renderEntry } from "./render-items.ts";
import { wholePairs } from "./whole-pairs.ts";

export const RENDERER_VERSION = 1;

export const RESPONSES_FORM: RequestForm = {
  head: headOf,
  prefixHead: ({ settings }) => JSON.stringify([systemTextOf(settings) ?? null, toolsOf(settings)]),
  guard: (entry, plan, before) => (isSentWhole(entry) ? entry : wholePairs(guardIds(entry), plan, before)),
  pathOf: (index) => `input[${index}]`,
  opening: () => [],
  render: renderEntry,
  tail: () => ({ text: "]}", remarks: [] }),
  startCheck: (_plan, parameters) => createRequestCheck("openai-responses", { head: parameters }),
};

/** Whether this dialect too has nothing to change in a group. */
function isSentWhole(entry: PlanEntry): boolean {
  if (entry.kind !== "group" || entry.whole === undefined) return false;
  const { withIds } = entry;
  return entry.whole.items.every(({ itemType, itemId = "" }) =>
    withIds ? fitsItsType(itemId, itemType) : !CALLS_BY_ID.has(itemType),
  );
}

/** If an id has the prefix of another type, the API refuses it, so the group is sent without ids (failures.md I06). */
function guardIds(entry: PlanEntry): PlanEntry {
  if (entry.kind !== "group" || !entry.withIds) return entry;
  for (const { action, event } of entry.items) {
    const { itemType, itemId } = event;
    if (action === "omit" || itemId === undefined || fitsItsType(itemId, itemType)) continue;
    return withoutReasoning(entry, "id_invalid", `the id ${itemId} does not belong to a ${itemType}`);
  }
  return entry;
}

function fitsItsType(itemId: string, itemType: string): boolean {
  return ITEM_ID_PREFIXES[itemType]?.some((prefix) => itemId.startsWith(prefix)) ?? true;
}

/** Everything before the items. Key order is fixed; unset keys are not sent. */
function headOf(plan: Plan, context: RenderContext): string {
  const { settings } = plan;
  const { profile, capabilities, parameters } = settings;
  const tools = toolsOf(settings);
  const system = systemTextOf(settings);
  const refused = new Set(refusedFields(plan));
  const { temperature, top_p } = parameters;
  const body: Record<string, unknown> = {
    model: settings.target.model,
    ...(profile.sendStore ? { store: false } : {}),
    stream: true,
    ...includeOf(settings),
    ...reasoningOf(settings, refused),
    ...(system === undefined ? {} : { instructions: system }),
    ...(tools.length === 0 ? {} : { tools, parallel_tool_calls: true }),
    ...(settings.maxOutputTokens === undefined ? {} : { max_output_tokens: settings.maxOutputTokens }),
    ...(settings.output === undefined
      ? {}
      : { text: { format: { type: "json_schema", ...settings.output } } }),
    ...(profile.sendPromptCacheKey ? { prompt_cache_key: context.cacheKey } : {}),
    ...(capabilities.sampling ? definedOnly({ temperature, top_p }) : {}),
    ...freeParameters(settings, profile.unitesParameters === true ? FIXED_AND_UNITED : FIXED_FIELDS),
  };
  return openBody(body, refused, "input");
}

/**
 * Users cannot set these. Some keep requests free of server state: a stored or chained request breaks later (P06, I10).
 */
const FIXED_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "store",
  "input",
  "previous_response_id",
  "conversation",
  "temperature",
  "top_p",
]);

/** Plus the fields whose values are merged with the user's. */
const FIXED_AND_UNITED: ReadonlySet<string> = new Set([...FIXED_FIELDS, "include", "reasoning"]);

/** Always includes ciphertext: without it, the thoughts of this response could never be sent back (I01). */
function includeOf({ parameters, profile }: Settings): { readonly include?: readonly unknown[] } {
  const ours = profile.sendInclude ? ["reasoning.encrypted_content"] : [];
  const more = profile.unitesParameters === true ? arrayOf(parameters["include"]) : [];
  const include = [...new Set([...ours, ...more])];
  return include.length === 0 ? {} : { include };
}

function reasoningOf(settings: Settings, refused: ReadonlySet<string>): { readonly reasoning?: object } {
  const { effort, summary, capabilities, profile, parameters } = settings;
  const ours = {
    effort: effort === "off" ? "none" : effort,
    summary: summary === "none" ? undefined : (summary ?? "auto"),
    context: settings.reasoningContext,
  };
  const reasoning = definedOnly({
    ...(capabilities.reasoning ? ours : {}),
    ...(profile.unitesParameters === true ? objectOf(parameters["reasoning"]) : {}),
  });
  for (const field of refused) {
    if (field.startsWith("reasoning.")) delete reasoning[field.slice("reasoning.".length)];
  }
  return Object.keys(reasoning).length === 0 ? {} : { reasoning };
}

/** Tools are top-level, not nested under `function` (failures.md S13). */
function toolsOf(settings: Settings): readonly object[] {
  const functions = settings.tools.map(({ name, description, parameters, strict }) => ({
    type: "function",
    name,
    description,
    parameters,
    strict,
  }));
  return [...functions, ...settings.hosted];
}
