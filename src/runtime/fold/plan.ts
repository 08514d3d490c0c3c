/**
 * The plan: every event that could be sent, with what happens to it and why. Requests are rendered from it, `explain`
 * prints it.
 */

import type {
  Action,
  Compaction,
  ItemEvent,
  Reason,
  ReplayOverride,
  Settings,
  UserMessage,
} from "../../base/events/index.ts";
import type { RawJson } from "../../base/support/index.ts";
import type { Group } from "./entries.ts";

export interface PlannedItem {
  readonly event: ItemEvent;
  /** The item's text, with what came late laid over it. */
  readonly item: RawJson;
  readonly action: Action;
  readonly reason: Reason;
  readonly why: string;
  /** The call id as sent; differs from the vendor's only abroad or where ids repeat. */
  readonly callId?: string;
  /** The name of a call's tool as sent; differs from the model's only where no API would take that. */
  readonly name?: string;
}

export interface PlannedResult {
  readonly callId: string;
  readonly text: string;
  /** It did not do what was asked: told where the dialect can tell it. */
  readonly failed: boolean;
  /** The tool_result event, or none for a call that never got one. */
  readonly seq: number | undefined;
}

export interface PlannedGroup {
  readonly kind: "group";
  readonly group: Group;
  /** Item ids are sent: all of the group's or none (law 2). */
  readonly withIds: boolean;
  readonly items: readonly PlannedItem[];
  readonly results: readonly PlannedResult[];
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
  /** Entries of equal revision and index are the same objects: what was rendered from them stays valid. */
  readonly revision: number;
  /** Fields this origin has refused; `itemType` absent means a field of the request itself. */
  readonly strip: readonly { readonly itemType?: string | undefined; readonly field: string }[];
  readonly overrides: readonly ReplayOverride[];
  /** Where the provider runs the code of this conversation (failures.md C17). */
  readonly container?: string | undefined;
  /** Code waits at the provider and no answer said where: it is left out. */
  readonly codeLost?: boolean | undefined;
}

/** The group with its reasoning and ids left out, because of something only the renderer can see. */
export function withoutReasoning(entry: PlannedGroup, reason: Reason, why: string): PlannedGroup {
  return {
    ...entry,
    withIds: false,
    items: entry.items.map((item) =>
      needsIds(item, entry.group) && item.action !== "omit" ? { ...item, action: "omit", reason, why } : item,
    ),
  };
}

/** What cannot stay in a group that goes without ids: thoughts (law 2), and hosted items whose dialect gives them one. */
export function needsIds({ event }: PlannedItem, group: Group): boolean {
  return event.type === "reasoning" || (event.itemId !== undefined && group.ranByProvider(event));
}

export function sendsReasoning(entry: PlannedGroup): boolean {
  return entry.items.some((item) => item.event.type === "reasoning" && item.action === "replay");
}
