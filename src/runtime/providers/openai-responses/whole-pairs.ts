/**
 * Hosted calls and their outputs are sent in pairs or not at all; calls made by a program are sent only with the
 * program.
 *
 * A program runs at the provider and calls our tools. Its calls name it (`caller`), and they and its output may arrive
 * in later responses than the program. So this depends on which items of earlier responses were sent.
 */

import { objectOf, sliceMember, stringOf, stringValue, tryParseJson } from "../../../base/support/index.ts";
import {
  type Plan,
  type PlanEntry,
  type PlannedGroup,
  type PlannedItem,
  withItems,
  withoutFollowers,
  withoutReasoning,
} from "../../fold/index.ts";
import { CALLS_BY_ID } from "./client-calls.ts";
import { HOSTED_RULES } from "./item-fields.ts";

export function wholePairs(entry: PlanEntry, plan: Plan, before: readonly PlanEntry[]): PlanEntry {
  // Settings from earlier versions do not know such items; their requests must not change.
  if (plan.settings.profile.omitsAlone !== true) return entry;
  if (entry.kind !== "group" || !entry.items.some(isBound)) return entry;
  const whole = withoutHalves(entry, plan, before);
  const orphan = whole.items.some((item) => isOurs(item) && lacksProgram(item, whole, before));
  const rest = orphan ? withoutReasoning(whole, "item_not_replayable", "its program is not sent") : whole;
  // Without its program, a program's call becomes an ordinary call; so does a call that needs its id if ids are not
  // sent.
  const isPlain = (item: PlannedItem): boolean =>
    isOurs(item) &&
    (lacksProgram(item, rest, before) || (!rest.withIds && CALLS_BY_ID.has(item.event.itemType)));
  return withItems(
    rest,
    rest.items.map((item) => (isPlain(item) ? { ...item, action: "translate", ...PLAIN } : item)),
  );
}

const PLAIN = {
  reason: "item_not_replayable",
  why: "sent as a plain call, because the item it belongs to is not sent",
} as const;

function isBound(item: PlannedItem): boolean {
  const { itemType } = item.event;
  if (item.action !== "replay") return false;
  return HOSTED_RULES[itemType]?.home === "pair" || CALLS_BY_ID.has(itemType) || callerOf(item) !== undefined;
}

function isOurs({ action, event }: PlannedItem): boolean {
  return action === "replay" && event.type === "tool_call";
}

/** The exact text of `caller`, if the caller is a program. */
export function callerOf({ event, item }: PlannedItem): string | undefined {
  if (event.type === "reasoning" || !item.includes('"caller"')) return undefined;
  const caller = sliceMember(item, "caller");
  return caller !== undefined && programOf(caller) !== undefined ? caller : undefined;
}

function programOf(caller: string): string | undefined {
  const { type, caller_id } = objectOf(tryParseJson(caller));
  return type === "program" ? (stringOf(caller_id) ?? "") : undefined;
}

function lacksProgram(item: PlannedItem, entry: PlannedGroup, before: readonly PlanEntry[]): boolean {
  const caller = callerOf(item);
  return caller !== undefined && !hasProgram(programOf(caller), item, entry, before);
}

/** Whether the program precedes the item, in the same response or an earlier one. */
function hasProgram(
  id: string | undefined,
  item: PlannedItem,
  entry: PlannedGroup,
  before: readonly PlanEntry[],
): boolean {
  const isIt = (one: PlannedItem): boolean =>
    one.action === "replay" && one.event.itemType === "program" && callIdOf(one) === id;
  return (
    entry.items.slice(0, entry.items.indexOf(item)).some(isIt) ||
    before.findLast((one) => one.kind === "group" && one.items.some(isIt)) !== undefined
  );
}

/** The call id that identifies an item; tool searches run by the server have none. */
function callIdOf({ event, item }: PlannedItem): string | undefined {
  if (event.type === "tool_call") return event.callId;
  return event.type === "hosted_item" && event.answers !== undefined
    ? event.answers
    : stringValue(sliceMember(item, "call_id") ?? "");
}

function withoutHalves(entry: PlannedGroup, plan: Plan, before: readonly PlanEntry[]): PlannedGroup {
  const halves = entry.items.filter((item) => isHalf(item, entry, before));
  if (halves.length === 0) return entry;
  const items = entry.items.map((item) => (halves.includes(item) ? { ...item, ...HALF } : item));
  const { items: left, lost } = withoutFollowers(items, plan.settings.profile);
  const rest = withItems(entry, left);
  const without = lost === undefined ? rest : withoutReasoning(rest, lost.reason, lost.why);
  return withoutHalves(without, plan, before); // the removed item may have been half of another pair
}

const HALF = {
  action: "omit",
  reason: "item_not_replayable",
  why: "its other half (the call or the output) is not sent",
} as const;

/**
 * Whether an item lacks its other half: a provider-run call without its output, an output without its call, or a
 * program's item without the program.
 */
function isHalf(item: PlannedItem, entry: PlannedGroup, before: readonly PlanEntry[]): boolean {
  const { event } = item;
  if (item.action !== "replay" || !entry.group.ranByProvider(event)) return false;
  if (lacksProgram(item, entry, before)) return true;
  if (event.itemType === "program_output") return !hasProgram(callIdOf(item), item, entry, before);
  if (event.type === "hosted_item" && HOSTED_RULES[event.itemType]?.home !== "pair") return false;
  const id = callIdOf(item);
  const pair = entry.items.filter(
    (other) =>
      other.action === "replay" &&
      familyOf(other.event.itemType) === familyOf(event.itemType) &&
      callIdOf(other) === id,
  );
  const at = pair.indexOf(item);
  // Searches run by the server have no ids to tell them apart: the output is the next one after its call.
  return isOutput(item)
    ? pair[at - 1] === undefined || isOutput(pair[at - 1] as PlannedItem)
    : pair[at + 1] === undefined || !isOutput(pair[at + 1] as PlannedItem);
}

/** The common part of the type names of a call and its output. */
function familyOf(itemType: string): string {
  if (itemType.startsWith("mcp_")) return "mcp";
  return itemType.startsWith("tool_search_") ? "tool_search" : itemType.replace(/_output$/, "");
}

function isOutput({ event: { itemType } }: PlannedItem): boolean {
  return itemType.endsWith("_output") || itemType === "mcp_approval_response" || itemType === "mcp_call";
}
