/**
 * The usual group: finished, from the target's own origin, with nothing to correct. Every item is sent unchanged, and
 * every call has its result. One loop over the sketches of its items shows that, and no event is decoded, so a long
 * history costs a fraction of what the guard would take to reach the same decisions. Anything unusual goes to the
 * guard. A property test ensures that both give the same plan, and `npm run test:laws` removes each of these checks.
 */

import {
  eventOf,
  type ItemEvent,
  type ItemSketch,
  type Profile,
  type ResultSketch,
  sameOrigin,
  type Settings,
  type ToolResult,
} from "../../base/events/index.ts";
import { isSendableToolName } from "../../base/support/index.ts";
import type { Group, GroupSketch } from "./entries.ts";
import { type GuardTarget, isItemId } from "./guard.ts";
import type { PlannedGroup, PlannedItem, PlannedResult } from "./plan.ts";

/** What is already in the request. */
export interface SentIds {
  readonly itemIds: Set<string>;
  readonly callIds: Set<string>;
}

/** The plan of a group that is sent as it is, or undefined if the guard has to look at it. Adds its ids to `sent`. */
export function wholeGroup(group: Group, target: GuardTarget, sent: SentIds): PlannedGroup | undefined {
  const { settings, overrides } = target;
  if (overrides.length > 0 || !mayBeWhole(group, settings)) return undefined;
  const sketch = group.sketch();
  if (sketch === undefined || !isWhole(sketch, settings, sent)) return undefined;
  const withIds = settings.profile.itemIds === "keep";
  for (const { type, itemId, callId } of sketch.items) {
    if (withIds && itemId !== undefined) sent.itemIds.add(itemId);
    if (type === "tool_call") sent.callIds.add(callId);
  }
  return new WholeGroup(group, withIds, sketch);
}

class WholeGroup implements PlannedGroup {
  readonly kind = "group";
  readonly group: Group;
  readonly withIds: boolean;
  readonly #sketch: GroupSketch;

  constructor(group: Group, withIds: boolean, sketch: GroupSketch) {
    this.group = group;
    this.withIds = withIds;
    this.#sketch = sketch;
  }

  get whole(): GroupSketch {
    return this.#sketch;
  }

  get items(): readonly PlannedItem[] {
    return this.#sketch.items.map(({ head }): PlannedItem => {
      const event = eventOf(head) as ItemEvent;
      const item = { event, item: event.item, action: "replay", reason: "same_origin", why: HOME } as const;
      return event.type === "tool_call" ? { ...item, callId: event.callId, name: event.name } : item;
    });
  }

  /** In the order of the calls. */
  get results(): readonly PlannedResult[] {
    const { items, results } = this.#sketch;
    return items.flatMap(({ type, callId }): readonly PlannedResult[] => {
      const found = type === "tool_call" ? resultOf(callId, results) : undefined;
      if (found === undefined) return [];
      const { text, status, seq } = eventOf(found.head) as ToolResult;
      return [{ callId, text, failed: status !== "ok", images: undefined, seq }];
    });
  }
}

const HOME = "its own origin";

/** What holds for the group as a whole: it ended well, nothing replaced it, nothing came late, and it is at home. */
function mayBeWhole(group: Group, settings: Settings): boolean {
  if (group.superseded || !group.endedWell) return false;
  return sameOrigin(group.origin, settings.target);
}

function isWhole({ items, results }: GroupSketch, settings: Settings, sent: SentIds): boolean {
  const { profile, capabilities } = settings;
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at] as ItemSketch;
    if (profile.itemIds === "keep" && !isNewId(item.itemId, items, at, profile, sent)) return false;
    if (item.type === "reasoning") {
      if (!capabilities.reasoning) return false;
      if (profile.reasoningPayload === "required" && !item.opaque) return false;
      continue;
    }
    // A program's call, or a call of the provider's code, depends on other items.
    if (item.called) return false;
    if (item.type === "tool_call") {
      if (!isPlainCall(item, items, at, profile, sent)) return false;
      if (resultOf(item.callId, results)?.hasParts !== false) return false;
    } else if (item.type !== "assistant_message" || item.blank) return false;
  }
  // A thought at the end has no follower.
  return items.length > 0 && items.at(-1)?.type !== "reasoning";
}

/** Whether an id can be sent, and is not in the request yet. */
function isNewId(
  id: string | undefined,
  items: readonly ItemSketch[],
  at: number,
  profile: Profile,
  sent: SentIds,
): boolean {
  if (id === undefined || !isItemId(id, profile) || sent.itemIds.has(id)) return false;
  for (let before = 0; before < at; before += 1) if (items[before]?.itemId === id) return false;
  return true;
}

/** The first one counts. */
export function resultOf(id: string, results: readonly ResultSketch[]): ResultSketch | undefined {
  for (const result of results) if (result.callId === id) return result;
  return undefined;
}

/** Whether a call is sent as it is. A pattern, or an id that repeats, needs the guard. */
function isPlainCall(
  { callId, name }: ItemSketch,
  items: readonly ItemSketch[],
  at: number,
  { maxCallIdLength, callIdPattern, callIdsRepeat }: Profile,
  sent: SentIds,
): boolean {
  if (callId === "" || callId.length > maxCallIdLength || callIdPattern !== undefined) return false;
  if (!isSendableToolName(name)) return false;
  return (
    !callIdsRepeat || (!sent.callIds.has(callId) && items.findIndex((one) => one.callId === callId) === at)
  );
}
