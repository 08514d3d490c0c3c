/** The guard decides for each group and target: `replay`, `translate` or `omit`, always with a reason. Pure. */

import {
  type AssistantMessage,
  type ItemEvent,
  originDifference,
  type Profile,
  type Reason,
  type ReplayOverride,
  type ResponseForm,
  responseFormOf,
  type ResponseStatus,
  type Settings,
  type ToolCall,
} from "../../base/events/index.ts";
import { type RawJson, shortHash } from "../../base/support/index.ts";
import type { Group } from "./entries.ts";
import { isHome } from "./home.ts";
import { type Loss, omitsAlone, withoutFollowers } from "./omissions.ts";
import { needsIds, type PlannedItem } from "./plan.ts";
import { type GroupForm, type PairContext, serverBlockOf, withWholePairs } from "./server-pairs.ts";

/** The target a group is guarded for. */
export interface GuardTarget {
  readonly settings: Settings;
  /** Overrides for this target. */
  readonly overrides: readonly ReplayOverride[];
}

export interface GuardContext extends GuardTarget, PairContext {
  /** Whether the replay policy allows this group's reasoning. */
  readonly policyAllows: boolean;
  /** Item ids that are already in the request. */
  readonly sentIds: ReadonlySet<string>;
}

export interface GuardedGroup {
  readonly items: readonly PlannedItem[];
  readonly withIds: boolean;
}

export function guardGroup(group: Group, context: GuardContext): GuardedGroup {
  const away = reasonNotToReplay(group, context);
  if (away === undefined) return atHome(group, context);
  const { omit, reason, why } = away;
  return omit ? { items: omitAll(group, reason, why), withIds: false } : plain(group, context, reason, why);
}

/** The form in which a group is sent, before its items are considered. */
export function groupForm(group: Group, target: GuardTarget): GroupForm {
  const away = reasonNotToReplay(group, target);
  return away === undefined ? "home" : away.omit ? "none" : "plain";
}

interface CloseReason {
  readonly omit: boolean;
  readonly reason: Reason;
  readonly why: string;
}

/** Why a group is not sent unchanged. */
function reasonNotToReplay(group: Group, { settings, overrides }: GuardTarget): CloseReason | undefined {
  const closed = closeReason(group);
  if (closed !== undefined) return closed;
  if (!isHome(group.origin, settings)) {
    const why = originDifference(group.origin, settings.target);
    return { omit: false, reason: "foreign_origin", why };
  }
  const refused = overrides.find((one) => one.action === "translate" && covers(one, group));
  if (refused === undefined) return undefined;
  return { omit: false, reason: "override", why: `refused: ${refused.cause.message}` };
}

/** The close table: only a completed response is replayed as a whole (law 3). */
function closeReason(group: Group): CloseReason | undefined {
  const closed = group.end === undefined ? undefined : CLOSE_TABLE[group.end.status];
  // The status comes first: it is final, so a plan made before the later attempt stays valid.
  if (closed?.omit === true) return closed;
  if (group.superseded) return { omit: true, reason: "superseded", why: "superseded by a later attempt" };
  if (group.end === undefined)
    return { omit: true, reason: "response_open", why: "the response never ended" };
  return closed;
}

const CLOSE_TABLE: Readonly<Record<ResponseStatus, CloseReason | undefined>> = {
  completed: undefined,
  incomplete: { omit: false, reason: "response_incomplete", why: "the response is incomplete" },
  failed: { omit: true, reason: "response_failed", why: "the response failed" },
  cancelled: { omit: true, reason: "response_cancelled", why: "the response was cancelled" },
  cut: { omit: true, reason: "response_cut", why: "the stream was cut" },
};

function atHome(group: Group, context: GuardContext): GuardedGroup {
  const { profile } = context.settings;
  const each = group.items.map((event) => homeItem(event, group, context));
  const home = responseFormOf(profile) === "blocks" ? withWholePairs(each, context) : each;
  const { items, lost = reasonToDropReasoning(group, home, context) } = withoutFollowers(home, profile);
  if (lost === undefined) return { items, withIds: profile.itemIds === "keep" && hasIds(items) };
  return {
    items: home.map((item) =>
      needsIds(item, group) && item.action !== "omit" ? { ...item, action: "omit", ...lost } : item,
    ),
    withIds: false,
  };
}

/** Some endpoints give no ids at all; then there is nothing to keep together. */
function hasIds(items: readonly PlannedItem[]): boolean {
  return items.every((item) => item.action === "omit" || item.event.itemId !== undefined);
}

function homeItem(event: ItemEvent, group: Group, context: GuardContext): PlannedItem {
  const item = lateItem(event, group) ?? event.item;
  const omit = (reason: Reason, why: string): PlannedItem => ({ event, item, action: "omit", reason, why });
  const { profile } = context.settings;
  const form = responseFormOf(profile);
  const server = form === "blocks" ? serverBlockOf(event) : undefined;
  // A result goes with its call, whatever its type: without it the call is refused.
  if (event.type === "other_item" && server?.part !== "result")
    return omit("unknown_type", `"${event.itemType}" is not a known item type`);
  const hosted = event.type === "hosted_item" || event.type === "other_item";
  if (hosted && profile.hostedOmit.includes(event.itemType)) {
    return omit("item_not_replayable", `${event.itemType} cannot be sent back without server state`);
  }
  if (server !== undefined && isClosedCall([server.id], context)) return omit("override", CALL_REFUSED);
  const needsId = group.ranByProvider(event) && form === "items";
  if (needsId && (profile.itemIds === "omit" || event.itemId === undefined)) {
    return omit("item_not_replayable", `${event.itemType} cannot be sent back without its id`);
  }
  if (event.type === "tool_call" && isClosedByOverride(event, context)) {
    return omit("override", CALL_REFUSED);
  }
  if (group.isVoid(event)) return omit("superseded", VOID);
  if (isNameless(event)) return omit("item_not_replayable", NAMELESS);
  if (event.type === "assistant_message" && isBlankMessage(event, group, form)) {
    return omit("empty", "no text");
  }
  return { event, item, action: "replay", reason: "same_origin", why: "its own origin" };
}

const VOID = "the model that called it declined, and another model continued";

/** Only in a log that another program wrote; here an answer with such a call counts as cut. */
function isNameless(event: ItemEvent): boolean {
  return event.type === "tool_call" && event.name === "";
}

const NAMELESS = "a call without the name of its tool";

/** Never sent: some servers answer an empty assistant message with a 500 (failures.md S06). */
function isEmpty(event: AssistantMessage): boolean {
  return event.text === "" && (event.refusal ?? "") === "";
}

function isBlank(event: AssistantMessage): boolean {
  return event.text.trim() === "" && (event.refusal ?? "").trim() === "";
}

/** A whitespace block of a message is accepted next to one with text and refused without (LibreChat-AI/agents#124). */
function isBlankMessage(event: AssistantMessage, group: Group, form: ResponseForm): boolean {
  if (isEmpty(event)) return true;
  if (form !== "blocks" || !isBlank(event)) return false;
  return group.items.every((item) => item.type !== "assistant_message" || isBlank(item));
}

/** Applied only if the finished item lacked what came late; equality of payloads means nothing (failures.md E08). */
function lateItem(event: ItemEvent, group: Group): RawJson | undefined {
  return group.late.find((late) => late.outputIndex === event.outputIndex)?.item;
}

/** Law 2: if any part of a group cannot be sent, neither can its ids and its reasoning. */
function reasonToDropReasoning(
  group: Group,
  items: readonly PlannedItem[],
  context: GuardContext,
): Loss | undefined {
  const { profile, capabilities } = context.settings;
  const reasoning = items.filter((item) => item.event.type === "reasoning");
  if (!capabilities.reasoning && reasoning.length > 0) {
    return { reason: "not_a_reasoning_model", why: "the model accepts no reasoning" };
  }
  const override = context.overrides.find((one) => coversGroup(one, group));
  if (override !== undefined) return { reason: "override", why: `refused: ${override.cause.message}` };
  if (!context.policyAllows) return { reason: "replay_policy", why: "the replay policy excludes it" };
  const form = responseFormOf(profile);
  if (!omitsAlone(profile)) {
    const counted = form === "items" ? items : items.filter((item) => !isNegligible(item, form));
    const left =
      counted.find((item) => item.action === "omit") ??
      (profile.prefixBound && form === "blocks" ? leftOutBefore(items) : undefined);
    if (left !== undefined) return { reason: left.reason, why: left.why };
    if (reasoning.length > 0 && lacksFollower(counted, form)) {
      return { reason: "no_follower", why: "nothing of the same response follows it" };
    }
  }
  if (profile.reasoningPayload === "required" && reasoning.some((item) => !hasPayload(item))) {
    return { reason: "no_payload", why: "it has no encrypted payload" };
  }
  if (profile.itemIds !== "keep") return undefined;
  return idProblem(
    items.filter((item) => item.action !== "omit"),
    context,
  );
}

/**
 * Items with ids belong together. But no thought depends on an empty part of a message, nor on a block that only its
 * maker could read: thoughts are checked by themselves (failures.md C01).
 */
function isNegligible({ event, action, reason }: PlannedItem, form: ResponseForm): boolean {
  if (reason === "empty" || reason === "superseded") return true;
  const block = event.type === "hosted_item" || event.type === "other_item";
  return form === "blocks" && block && action === "omit";
}

/**
 * A block omitted before a thought of its message: the thought would then be bound to other content (failures.md C04).
 */
function leftOutBefore(items: readonly PlannedItem[]): PlannedItem | undefined {
  const last = items.findLastIndex(({ event }) => event.type === "reasoning");
  return items
    .slice(0, Math.max(0, last))
    .find(({ action, reason }) => action === "omit" && reason !== "empty");
}

/** The order within one message has no meaning, and thoughts alone are not a message. */
function lacksFollower(items: readonly PlannedItem[], form: ResponseForm): boolean {
  if (form === "message") return items.every((item) => item.event.type === "reasoning");
  return items.at(-1)?.event.type === "reasoning";
}

/** A late item replaces the first one only if it brought the payload (`response_end.late`). */
function hasPayload(item: PlannedItem): boolean {
  return (item.event.type === "reasoning" && item.event.opaque) || item.item !== item.event.item;
}

/** Finds an id the endpoint would refuse. Ids are never hashed or rewritten (failures.md I04–I07, E03). */
function idProblem(items: readonly PlannedItem[], context: GuardContext): Loss | undefined {
  const { itemIdsRepeat } = context.settings.profile;
  const seen = new Set<string>();
  const some = items.some((item) => item.event.itemId !== undefined);
  for (const { event } of items) {
    const id = event.itemId;
    if (id === undefined) {
      if (some) return { reason: "id_invalid", why: "an item of its response has no id" };
      continue;
    }
    if (!isItemId(id, context.settings.profile)) {
      return {
        reason: "id_invalid",
        why: `the id of an item of its response cannot be sent back (${id.length} characters)`,
      };
    }
    if ((seen.has(id) && itemIdsRepeat !== true) || context.sentIds.has(id)) {
      return { reason: "id_repeated", why: `the id ${id} is already in the request` };
    }
    seen.add(id);
  }
  return undefined;
}

/** Whether an item id can be sent back (failures.md I05, I07). */
export function isItemId(id: string, { maxItemIdLength }: Profile): boolean {
  return id.length <= maxItemIdLength && ITEM_ID.test(id);
}

const ITEM_ID = /^[A-Za-z0-9_-]+$/;

function coversGroup(override: ReplayOverride, group: Group): boolean {
  return (override.action === "omit_reasoning" || override.action === "omit_ids") && covers(override, group);
}

function covers(override: ReplayOverride, group: Group): boolean {
  return (
    // "all" means everything that existed when it was refused; later groups were made under the corrected conditions.
    (override.what.kind === "all" && group.start.seq < override.seq) ||
    (override.what.kind === "group" && override.what.response === group.start.response)
  );
}

const CALL_REFUSED = "the provider refused this call";

function isClosedByOverride(call: ToolCall, context: GuardContext): boolean {
  if (context.overrides.length === 0) return false; // the usual case; the search below would run for every call
  return isClosedCall([call.callId, mappedCallId(call, context.settings.profile)], context);
}

function isClosedCall(sentAs: readonly string[], { overrides }: GuardTarget): boolean {
  return overrides.some(
    (one) => one.action === "close_call" && one.what.kind === "call" && sentAs.includes(one.what.callId),
  );
}

/**
 * Replaces a call id that cannot be sent. Derived from our own id, so it never changes (T05; Mistral: nine characters).
 */
export function mappedCallId(call: ToolCall, profile: Profile): string {
  const mapped = `call_${call.id}`;
  return isCallId(mapped, profile) ? mapped : shortHash(call.id, Math.min(profile.maxCallIdLength, 12));
}

export function isCallId(id: string, { maxCallIdLength, callIdPattern }: Profile): boolean {
  if (id === "" || id.length > maxCallIdLength) return false;
  return callIdPattern === undefined || new RegExp(callIdPattern).test(id);
}

/** As plain meaning: text and calls, without ids, reasoning or anything opaque. */
function plain(group: Group, context: GuardContext, reason: Reason, why: string): GuardedGroup {
  const items = group.items.map((event): PlannedItem => {
    const base = { event, item: event.item, why };
    if (isNameless(event)) return { ...base, action: "omit", reason: "item_not_replayable", why: NAMELESS };
    if (group.isVoid(event)) return { ...base, action: "omit", reason: "superseded", why: VOID };
    if (event.type === "tool_call" && !group.ranByProvider(event)) {
      return isClosedByOverride(event, context)
        ? { ...base, action: "omit", reason: "override", why: CALL_REFUSED }
        : { ...base, action: "translate", reason };
    }
    if (event.type === "assistant_message") {
      return isBlank(event)
        ? { ...base, action: "omit", reason: "empty", why: "no text" }
        : { ...base, action: "translate", reason };
    }
    const noted =
      event.type === "reasoning" &&
      reason === "foreign_origin" &&
      context.settings.foreign === "note" &&
      event.parts.some((part) => part.text !== "");
    return noted
      ? { ...base, action: "translate", reason, why: `${why}; its summary is sent as a note` }
      : { ...base, action: "omit", reason };
  });
  return { items, withIds: false };
}

function omitAll(group: Group, reason: Reason, why: string): readonly PlannedItem[] {
  return group.items.map((event) => ({ event, item: event.item, action: "omit", reason, why }));
}
