/**
 * Whether a vendor is asked to think. Some refuse a history in which an assistant message lacks the thoughts they ask for
 * (failures.md V01, V02): another model wrote it, or it was left out. Nothing is invented then: thinking is off instead.
 */

import type { RequestField, Settings } from "../../../base/events/index.ts";
import { isObject, type JsonObject, objectOf } from "../../../base/support/index.ts";
import type { PlanEntry, PlannedGroup, Plan } from "../../fold/index.ts";
import type { Remark } from "../provider.ts";
import { chatOf } from "./chat-profile.ts";

export interface ChatThinking {
  /** Request fields. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly on: boolean;
  readonly remarks: readonly Remark[];
}

export function thinkingOf(entries: readonly PlanEntry[], plan: Plan): ChatThinking {
  const { settings } = plan;
  const { keepThoughts } = chatOf(settings);
  const { fields, on, remarks } = switched(entries, plan);
  if (keepThoughts === undefined) return { fields, on, remarks };
  const set = mergedParameter(keepThoughts, settings);
  const merged = Object.fromEntries(
    Object.entries({ ...set, ...fields }).map(([name, value]) => [name, united(set[name], value)]),
  );
  const refused = plan.strip.some(({ field }) => field === keepThoughts.field);
  return { fields: on && !refused ? placed(merged, keepThoughts) : merged, on, remarks };
}

/** What a user sets under the same name: it stands where ours stands, because a name may be there once. */
export function mergedParameter({ field }: RequestField, { parameters }: Settings): JsonObject {
  const [name = ""] = field.split(".");
  return Object.hasOwn(parameters, name) ? { [name]: parameters[name] } : {};
}

function united(theirs: unknown, ours: unknown): unknown {
  return isObject(theirs) && isObject(ours) ? { ...theirs, ...ours } : ours;
}

function placed(fields: JsonObject, { field, value }: RequestField): JsonObject {
  const [name = "", ...rest] = field.split(".");
  const inner = { field: rest.join("."), value };
  return { ...fields, [name]: rest.length === 0 ? value : placed(objectOf(fields[name]), inner) };
}

function switched(entries: readonly PlanEntry[], plan: Plan): ChatThinking {
  const { settings } = plan;
  const { thinkingSwitch, sendEffort } = chatOf(settings);
  const wanted = settings.effort !== "off" && settings.effort !== "none";
  const lacking = lacksThoughts(entries, plan);
  const on = wanted && (!lacking || thinkingSwitch === "none");
  const remarks = wanted && !on ? [OFF] : [];
  const effort = settings.effort === "off" ? "none" : settings.effort;
  switch (thinkingSwitch) {
    case "thinking":
      return { fields: { thinking: { type: on ? "enabled" : "disabled" } }, on, remarks };
    case "enable_thinking":
      return { fields: { enable_thinking: on }, on, remarks };
    case "reasoning": {
      const reasoning = on ? { enabled: true, effort } : { enabled: false };
      return { fields: { reasoning: on && effort !== undefined ? { effort } : reasoning }, on, remarks };
    }
    case "none":
      return { fields: sendEffort && effort !== undefined ? { reasoning_effort: effort } : {}, on, remarks };
    default:
      return thinkingSwitch satisfies never;
  }
}

const OFF: Remark = {
  code: "thinking_off",
  message:
    "thinking is off for this request: the history holds tool calls without the thoughts this endpoint asks for (failures.md V01, V02)",
};

function lacksThoughts(entries: readonly PlanEntry[], plan: Plan): boolean {
  const { reasoningRequired } = chatOf(plan.settings);
  if (reasoningRequired === "never") return false;
  const rounds = roundsOf(entries);
  const asked =
    reasoningRequired === "calls"
      ? rounds.flat().filter(hasCalls)
      : rounds.filter((round) => round.some(hasCalls)).flat();
  return asked.some(
    (entry) => !entry.items.some((item) => item.event.type === "reasoning" && item.action === "replay"),
  );
}

/** The groups between two user messages. */
function roundsOf(entries: readonly PlanEntry[]): readonly (readonly PlannedGroup[])[] {
  const rounds: PlannedGroup[][] = [[]];
  for (const entry of entries) {
    if (entry.kind !== "group") rounds.push([]);
    else if (entry.items.some((item) => item.action !== "omit")) rounds.at(-1)?.push(entry);
  }
  return rounds;
}

function hasCalls(entry: PlannedGroup): boolean {
  return entry.results.length > 0;
}
