/**
 * Decides whether and how Claude thinks in this request. The API treats a whole tool loop as one assistant turn:
 * thinking cannot be switched on in a loop that began without it, nor off in one that has it (failures.md C02, C06,
 * C13). So while a loop lasts the loop decides; once a person speaks, the settings decide.
 */

import type { Settings } from "../../../base/events/index.ts";
import { objectOf, stringOf } from "../../../base/support/index.ts";
import { isHome, type Plan, type PlanEntry, type PlannedGroup, type PlannedItem } from "../../fold/index.ts";
import { effortIgnored } from "../effort-ignored.ts";
import type { Remark } from "../provider.ts";

export interface ThinkingChoice {
  /** The `thinking` parameter; undefined for models that have none. */
  readonly thinking: Readonly<Record<string, unknown>> | undefined;
  readonly effort: string | undefined;
  readonly on: boolean;
  readonly remarks: readonly Remark[];
}

export function thinkingOf(entries: readonly PlanEntry[], plan: Plan): ThinkingChoice {
  const { settings } = plan;
  const mode = thinkingModeOf(plan);
  if (mode === "none")
    return { thinking: undefined, effort: undefined, on: false, remarks: effortIgnored(settings) };
  const wanted = settings.effort !== "off" && settings.effort !== "none" && !forcesTool(settings, mode);
  const off = thinkingOffOf(plan);
  const loop = openLoop(entries);
  // A model whose thinking cannot be disabled accepts a loop that began without a thought: adaptive thinking allows it.
  const on = loop.length === 0 || off !== "disabled" ? wanted : loopThinks(loop, plan, mode, wanted);
  if (!on && off === "disabled") {
    return { thinking: { type: off }, effort: undefined, on, remarks: wanted ? [OFF_IN_LOOP] : [] };
  }
  if (!on && off === "between_tools") return { thinking: { type: off }, effort: undefined, on, remarks: [] };
  const thinking = {
    ...(mode === "budget"
      ? { type: "enabled", budget_tokens: budgetOf(settings.effort) }
      : { type: "adaptive" }),
    display: settings.summary === "none" ? "omitted" : "summarized",
    ...(settings.profile.prefixBound ? { block_binding: { prefix_mismatch_behavior: "drop_block" } } : {}),
  };
  const effort = on ? effortOf(settings.effort) : LOWEST_EFFORT;
  const remarks = on ? [] : [NOT_OFF];
  return { thinking, effort: mode === "adaptive" ? effort : undefined, on: true, remarks };
}

/**
 * The thinking mode, from the model's known capabilities and its refusals (`thinking.type.enabled`, failures.md C18).
 */
export function thinkingModeOf(plan: Plan): "adaptive" | "budget" | "none" {
  const mode = plan.settings.capabilities.thinking ?? "adaptive";
  if (mode === "budget" && hasRefused(plan, "enabled")) return "adaptive";
  return mode === "adaptive" && hasRefused(plan, "adaptive") ? "budget" : mode;
}

function thinkingOffOf(plan: Plan): "disabled" | "between_tools" | "never" {
  const off = plan.settings.capabilities.thinkingOff ?? "disabled";
  return hasRefused(plan, off) ? "never" : off;
}

function hasRefused({ strip }: Plan, type: string): boolean {
  return strip.some((one) => one.itemType === undefined && one.field === `thinking.type.${type}`);
}

const LOWEST_EFFORT = "low";

/** See failures.md C18. */
const NOT_OFF: Remark = {
  code: "thinking_not_off",
  message: "thinking cannot be switched off for this model; the request uses the lowest effort instead",
};

/** See failures.md C02. */
const OFF_IN_LOOP: Remark = {
  code: "thinking_off",
  message:
    "thinking is off until this turn ends: its tool loop was started by another model, or without thinking",
};

/** The groups since the last message, if the request continues from their results. */
function openLoop(entries: readonly PlanEntry[]): readonly PlannedGroup[] {
  const loop: PlannedGroup[] = [];
  for (const entry of entries.toReversed()) {
    if (entry.kind !== "group") break;
    if (entry.items.some((item) => item.action !== "omit")) loop.unshift(entry);
  }
  return loop;
}

/**
 * With a budget, the last message must begin with a thought, and a message that does cannot be sent with thinking off.
 * Adaptive models may answer without a thought, so for them only an omitted thought or another model's response counts.
 */
function loopThinks(
  loop: readonly PlannedGroup[],
  { settings, overrides }: Plan,
  mode: "adaptive" | "budget",
  wanted: boolean,
): boolean {
  const last = loop.at(-1);
  if (last === undefined) return wanted;
  const begins = last.items.find((item) => item.action !== "omit");
  if (begins !== undefined && goesBack(begins)) return true;
  if (mode === "budget") return false;
  const refused = new Set(overrides.flatMap(({ what }) => (what.kind === "group" ? [what.response] : [])));
  const own = loop.every(({ group }) => isHome(group.origin, settings) && !refused.has(group.start.response));
  const items = loop.flatMap((entry) => entry.items);
  // Thoughts anywhere in the loop require thinking on (failures.md C06), even if another was left out.
  if (own && items.some(goesBack)) return true;
  const whole = own && items.every((item) => item.event.type !== "reasoning" || goesBack(item));
  return wanted && whole;
}

function goesBack({ event, action }: PlannedItem): boolean {
  return event.type === "reasoning" && action === "replay";
}

/** The API refuses a forced tool together with a budget (failures.md C13). */
function forcesTool(settings: Settings, mode: "adaptive" | "budget"): boolean {
  const type = stringOf(objectOf(settings.parameters["tool_choice"])["type"]);
  return mode === "budget" && (type === "any" || type === "tool");
}

const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 31_999,
};

export function budgetOf(effort: string | undefined): number {
  return BUDGETS[effort ?? "medium"] ?? 8192;
}

/** The API has no `minimal` (messages.d.ts 3918). */
function effortOf(effort: string | undefined): string | undefined {
  return effort === "minimal" ? "low" : effort;
}
