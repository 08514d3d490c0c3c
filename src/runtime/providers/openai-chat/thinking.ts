/**
 * Decides whether a vendor's model thinks. Some vendors refuse a history in which an assistant message lacks the
 * thoughts they require (failures.md V01, V02), because another model wrote it or they were left out. Thoughts are
 * never invented; thinking is switched off instead.
 */

import type { ChatProfile, RequestField, Settings } from "../../../base/events/index.ts";
import { isObject, type JsonObject, objectOf } from "../../../base/support/index.ts";
import { type Plan, type PlanEntry, type PlannedGroup, sendsReasoning } from "../../fold/index.ts";
import { ignoredEffort } from "../effort-ignored.ts";
import type { Remark } from "../provider.ts";
import { chatOf } from "./chat-profile.ts";

export interface ChatThinking {
  /** Request fields. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly on: boolean;
  readonly remarks: readonly Remark[];
}

export function thinkingOf(entries: readonly PlanEntry[], plan: Plan): ChatThinking {
  const { fields, on, remarks } = switched(entries, plan);
  const asked = askedFields(plan.settings);
  if (asked.length === 0) return { fields, on, remarks };
  const set = movedParameters(plan.settings);
  const merged = Object.fromEntries(
    Object.entries({ ...set, ...fields }).map(([name, value]) => [name, united(set[name], value)]),
  );
  const { keepThoughts } = chatOf(plan.settings);
  const sent = asked.filter((one) => on || one !== keepThoughts);
  return { fields: sent.reduce(placed, merged), on, remarks };
}

function askedFields(settings: Settings): readonly RequestField[] {
  const { showThoughts, keepThoughts } = chatOf(settings);
  return [showThoughts, keepThoughts].filter((one) => one !== undefined);
}

/** The user's parameters with the same names as ours. They move to the tail, because a name may occur only once. */
export function movedParameters(settings: Settings): JsonObject {
  const names = askedFields(settings).map(({ field }) => field.split(".")[0] ?? "");
  const { parameters } = settings;
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => names.includes(name)));
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
  const chat = chatOf(settings);
  const { thinkingSwitch } = chat;
  const asked = settings.effort === "off" ? "none" : settings.effort;
  const wanted = asked !== "none";
  const lacking = lacksThoughts(entries, plan);
  const refused = chat.thinkingOff !== "never" && thoughtsAskedFor(entries, plan);
  const staysOn = !refused && !canBeOff(chat);
  const on = staysOn || (wanted && !refused && (!lacking || thinkingSwitch === "none"));
  const word = wordOf(asked, chat);
  const remarks = [
    ...(wanted && !on ? [OFF] : []),
    ...(asked !== undefined && hasNoEffect(asked, chat, on) ? [ignoredEffort(settings)] : []),
  ];
  const effort = word === undefined ? {} : { reasoning_effort: word };
  const ifOn = on ? effort : {};
  switch (thinkingSwitch) {
    case "thinking":
      return { fields: { thinking: { type: on ? "enabled" : "disabled" }, ...ifOn }, on, remarks };
    case "enable_thinking":
      return { fields: { enable_thinking: on, ...ifOn }, on, remarks };
    case "reasoning": {
      if (chat.sendEffort) return { fields: { reasoning: { enabled: on }, ...ifOn }, on, remarks };
      const reasoning = on ? { enabled: true, effort: asked } : { enabled: false };
      return {
        fields: { reasoning: on && asked !== undefined ? { effort: asked } : reasoning },
        on,
        remarks,
      };
    }
    case "none":
      // A vendor that demands thoughts with this error supports this switch, even behind a gateway.
      return { fields: refused ? { thinking: { type: "disabled" } } : effort, on, remarks };
    default:
      return thinkingSwitch satisfies never;
  }
}

function wordOf(asked: string | undefined, { sendEffort, effortWords }: ChatProfile): string | undefined {
  if (!sendEffort || asked === undefined) return undefined;
  return effortWords === undefined ? asked : effortWords[asked];
}

function canBeOff(chat: ChatProfile): boolean {
  return (
    chat.thinkingOff !== "never" && (chat.thinkingSwitch !== "none" || wordOf("none", chat) !== undefined)
  );
}

function hasNoEffect(asked: string, chat: ChatProfile, on: boolean): boolean {
  if (asked === "none") return !canBeOff(chat);
  const taken =
    wordOf(asked, chat) !== undefined || (chat.thinkingSwitch === "reasoning" && !chat.sendEffort);
  return on && !taken;
}

/** See failures.md V01, V02. */
const OFF: Remark = {
  code: "thinking_off",
  message:
    "thinking is off for this request: the history has responses without the thoughts this endpoint requires",
};

/** The field name that healing records (turn/corrections.ts). */
const THINKING_ON = "thinking.type.enabled";

/**
 * Whether the endpoint has demanded thoughts that the history lacked (class ECHO). Thinking stays off while the request
 * holds anything the endpoint may have meant: responses from before the refusal, and later ones without thoughts.
 */
function thoughtsAskedFor(entries: readonly PlanEntry[], plan: Plan): boolean {
  const since = askedForAt(plan);
  if (since === undefined) return false;
  return entries.some(
    (entry) =>
      entry.kind === "group" &&
      entry.items.some((item) => item.action !== "omit") &&
      (entry.group.start.seq < since || !sendsReasoning(entry)),
  );
}

/** The `seq` of the latest such refusal. */
export function askedForAt({ overrides }: Plan): number | undefined {
  return overrides.findLast(({ what }) => what.kind === "field" && what.field === THINKING_ON)?.seq;
}

function lacksThoughts(entries: readonly PlanEntry[], plan: Plan): boolean {
  const { settings } = plan;
  const { reasoningRequired, whenNone } = chatOf(settings);
  if (reasoningRequired === "never" || (whenNone === "empty" && reasoningRequired !== "calls")) return false;
  const all = reasoningRequired === "with_tools" && settings.tools.length > 0;
  const rounds = roundsOf(entries);
  const asked =
    reasoningRequired === "calls"
      ? rounds.flat().filter(hasCalls)
      : rounds.filter((round) => all || round.some(hasCalls)).flat();
  return asked.some((entry) => !sendsReasoning(entry));
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
