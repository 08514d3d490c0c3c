/**
 * Plan → request body of the Messages dialect. Fields that depend on the whole conversation (thinking) come after the
 * messages, so that everything before them keeps the same bytes.
 */

import type { Settings } from "../../../base/events/index.ts";
import { isObject, objectOf } from "../../../base/support/index.ts";
import type { Plan, PlanEntry } from "../../fold/index.ts";
import { createRequestCheck } from "../../rules/index.ts";
import type { RequestForm, Tail } from "../growing-request.ts";
import type { Remark } from "../provider.ts";
import { closeBody, definedOnly, freeParameters, openBody, refusedFields } from "../request-fields.ts";
import { systemTextOf } from "../system-text.ts";
import { renderEntry } from "./render-messages.ts";
import { budgetOf, thinkingModeOf, thinkingOf } from "./thinking.ts";

export const RENDERER_VERSION = 1;

export const MESSAGES_FORM: RequestForm = {
  head: headOf,
  prefixHead: ({ settings }) => JSON.stringify([systemTextOf(settings) ?? null, toolsOf(settings)]),
  guard: (entry) => entry,
  pathOf: (index) => `messages.${index}`,
  opening: () => [],
  render: renderEntry,
  tail: tailOf,
  startCheck: (_plan, parameters) => createRequestCheck("anthropic-messages", { head: parameters }),
};

const CACHED = { type: "ephemeral" } as const;

function headOf(plan: Plan): string {
  const { settings } = plan;
  const tools = toolsOf(settings);
  const system = systemTextOf(settings);
  const body: Record<string, unknown> = {
    model: settings.target.model,
    max_tokens: maxTokensOf(plan),
    stream: true,
    ...(system === undefined || system.trim() === ""
      ? {}
      : { system: [{ type: "text", text: system, cache_control: CACHED }] }),
    ...(tools.length === 0 ? {} : { tools }),
    ...freeParameters(settings, plan.container === undefined ? FIXED_FIELDS : FIXED_WITH_CONTAINER),
    ...(ignoresForcedTool(settings) ? { tool_choice: { type: "auto" } } : {}),
  };
  return openBody(body, refusedFields(plan), "messages");
}

/** Users cannot set these: they determine how the history is read. */
const FIXED_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "system",
  "tools",
  "thinking",
  "stream",
  "output_config",
  "temperature",
  "top_p",
  "top_k",
]);

/** With a container, the field is in the tail. */
const FIXED_WITH_CONTAINER: ReadonlySet<string> = new Set([...FIXED_FIELDS, "container"]);

/** Keeps the skills of the user's container object; a container given by name wins. */
function containerFor({ container, settings }: Plan): unknown {
  const theirs = settings.parameters["container"];
  if (container === undefined || typeof theirs === "string") return theirs;
  return isObject(theirs) ? { ...theirs, id: container } : container;
}

/** Required by the API, and must exceed the thinking budget if there is one (messages.d.ts 4295). */
function maxTokensOf(plan: Plan): number {
  const { settings } = plan;
  const { capabilities, maxOutputTokens } = settings;
  const limit = maxOutputTokens ?? capabilities.maxOutputTokens ?? DEFAULT_MAX_TOKENS;
  if (thinkingModeOf(plan) !== "budget") return limit;
  const budget = budgetOf(settings.effort);
  return limit > budget ? limit : budget + limit;
}

const DEFAULT_MAX_TOKENS = 32_000;

function tailOf(entries: readonly PlanEntry[], plan: Plan): Tail {
  const { settings } = plan;
  const { thinking, effort, on, remarks } = thinkingOf(entries, plan);
  const { temperature, top_p, top_k } = settings.parameters;
  const format = settings.output && { type: "json_schema", schema: settings.output.schema };
  const config = definedOnly({ effort, format });
  const body: Record<string, unknown> = {
    thinking,
    ...(Object.keys(config).length === 0 ? {} : { output_config: config }),
    // The API refuses sampling parameters while the model thinks.
    ...(on || !settings.capabilities.sampling ? {} : definedOnly({ temperature, top_p, top_k })),
    ...(plan.container === undefined ? {} : { container: containerFor(plan) }),
    cache_control: CACHED,
  };
  for (const field of refusedFields(plan)) remove(body, field.split("."));
  return closeBody(body, [
    ...remarks,
    ...(plan.codeLost === true ? [CODE_LOST] : []),
    ...(ignoresForcedTool(settings) ? [NOT_FORCED] : []),
  ]);
}

function ignoresForcedTool({ capabilities, parameters }: Settings): boolean {
  const { type } = objectOf(parameters["tool_choice"]);
  return capabilities.forcedTools === false && (type === "any" || type === "tool");
}

/** See failures.md C20. */
const NOT_FORCED: Remark = {
  code: "tool_not_forced",
  message: "this model does not accept a forced tool; it chooses whether to call one",
};

/** See failures.md C17. */
const CODE_LOST: Remark = {
  code: "code_lost",
  message:
    "code running at the provider cannot continue, because the response did not name its container; it is left out of the request",
};

function remove(body: Record<string, unknown>, [first = "", ...rest]: readonly string[]): void {
  const inner = body[first];
  if (rest.length === 0) delete body[first];
  else if (typeof inner === "object" && inner !== null) {
    const copy = { ...inner } as Record<string, unknown>;
    remove(copy, rest);
    body[first] = copy;
  }
}

function toolsOf(settings: Settings): readonly object[] {
  const own = settings.tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  }));
  return [...own, ...settings.hosted];
}
