/**
 * The plan: every event that could be sent, with what happens to it and why. Requests are rendered from it, and
 * `explain` prints it.
 */

import type {
  Action,
  Compaction,
  ItemEvent,
  Reason,
  ReplayOverride,
  ResultPart,
  Settings,
  UserMessage,
} from "../../base/events/index.ts";
import type { RawJson } from "../../base/support/index.ts";
import type { Group, GroupSketch } from "./entries.ts";

export interface PlannedItem {
  readonly event: ItemEvent;
  /** The item's text, with late content applied. */
  readonly item: RawJson;
  readonly action: Action;
  readonly reason: Reason;
  readonly why: string;
  /** The call id as sent. Differs from the vendor's only abroad or where ids repeat. */
  readonly callId?: string;
  /** The tool name as sent. Differs from the model's only if no API would accept that. */
  readonly name?: string;
}

export interface PlannedResult {
  readonly callId: string;
  readonly text: string;
  /** The call did not do what was requested. Sent if the dialect can express it. */
  readonly failed: boolean;
  /** Only if the model accepts images. Sent if the dialect can express them. */
  readonly images?: readonly ResultPart[] | undefined;
  /** The seq of the tool_result event. Undefined for a call that never got one. */
  readonly seq: number | undefined;
}

/** The pseudo-field of an origin that refused the images of results. They are then sent as text alone. */
export const RESULT_IMAGES = { itemType: "tool_result", field: "image" } as const;

export interface PlannedGroup {
  readonly kind: "group";
  readonly group: Group;
  /** Whether item ids are sent: all of the group's or none (law 2). */
  readonly withIds: boolean;
  readonly items: readonly PlannedItem[];
  readonly results: readonly PlannedResult[];
  /** Set if every item is sent unchanged (whole-groups.ts). */
  readonly whole?: GroupSketch | undefined;
}

export interface PlannedUser {
  readonly kind: "user";
  readonly event: UserMessage;
}

export interface PlannedSummary {
  readonly kind: "summary";
  readonly event: Compaction;
}

export type PlanEntry = PlannedUser | PlannedSummary | PlannedGroup;

export interface Plan {
  readonly settings: Settings;
  readonly entries: readonly PlanEntry[];
  /** Entries of equal revision and index are the same objects, so what was rendered from them stays valid. */
  readonly revision: number;
  /** Fields this origin has refused. Without `itemType`, a field of the request itself. */
  readonly strip: readonly { readonly itemType?: string | undefined; readonly field: string }[];
  readonly overrides: readonly ReplayOverride[];
  /** Where the provider runs the code of this conversation (failures.md C17). */
  readonly container?: string | undefined;
  /** Code is pending at the provider, but no answer said where, so it is omitted. */
  readonly codeLost?: boolean | undefined;
}

/** The group with other decisions. Not a spread: a whole group makes its items when it is asked for them. */
export function withItems(
  { group, results, withIds }: PlannedGroup,
  items: readonly PlannedItem[],
  ids = withIds,
): PlannedGroup {
  return { kind: "group", group, withIds: ids, items, results };
}

/** The group without its reasoning and ids, for a reason only the renderer can see. */
export function withoutReasoning(entry: PlannedGroup, reason: Reason, why: string): PlannedGroup {
  const items = entry.items.map((item): PlannedItem =>
    needsIds(item, entry.group) && item.action !== "omit" ? { ...item, action: "omit", reason, why } : item,
  );
  return withItems(entry, items, false);
}

/**
 * Whether an item must be omitted if its group is sent without ids: thoughts (law 2), and hosted items whose dialect
 * gives them an id.
 */
export function needsIds({ event }: PlannedItem, group: Group): boolean {
  return event.type === "reasoning" || (event.itemId !== undefined && group.ranByProvider(event));
}

export function sendsReasoning(entry: PlannedGroup): boolean {
  return entry.items.some((item) => item.event.type === "reasoning" && item.action === "replay");
}
