/**
 * Whether a vendor is asked to think. Some refuse a history in which an assistant message lacks the thoughts they ask for
 * (failures.md V01, V02): another model wrote it, or it was left out. Nothing is invented then: thinking is off instead.
 */

import { type Plan, type PlanEntry, type PlannedGroup, sendsReasoning } from "../../fold/index.ts";
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
  const { thinkingSwitch: known, sendEffort } = chatOf(settings);
  const refused = wasRefused(entries, plan);
  // Whoever asks for thoughts thinks by default: the switch of the two vendors that are known to ask.
  const thinkingSwitch = refused && known === "none" ? "thinking" : known;
  const wanted = settings.effort !== "off" && settings.effort !== "none";
  const lacking = refused || lacksThoughts(entries, plan);
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

/**
 * The endpoint has asked for thoughts that a history lacked (class ECHO). Thinking stays off while anything it may have
 * meant is in the request: what was there then, and what has no thoughts since.
 */
function wasRefused(entries: readonly PlanEntry[], { strip, overrides }: Plan): boolean {
  if (!strip.some(({ field }) => field === THINKING_ON)) return false;
  const since =
    overrides.findLast(({ what }) => what.kind === "field" && what.field === THINKING_ON)?.seq ?? 0;
  return entries.some(
    (entry) =>
      entry.kind === "group" &&
      entry.items.some((item) => item.action !== "omit") &&
      (entry.group.start.seq < since || !sendsReasoning(entry)),
  );
}

/** As healing names it (turn/corrections.ts). */
const THINKING_ON = "thinking.type.enabled";

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
