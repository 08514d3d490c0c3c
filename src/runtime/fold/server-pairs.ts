/**
 * Calls that the provider runs itself, where items are blocks of one message: a call and its result go together or not at
 * all, whatever they are called (rule M24). The result may stand in a later response of the same loop, because a provider
 * pauses, or waits for a tool of ours. Until then the call stays as long as the request ends there: the API resumes it.
 */

import type { ItemEvent } from "../../base/events/index.ts";
import { type RawJson, sliceMember, sliceObject, stringValue, toRawJson } from "../../base/support/index.ts";
import type { Entry, Group } from "./entries.ts";
import type { PlannedItem } from "./plan.ts";

export interface ServerBlock {
  readonly part: "call" | "result";
  /** Of the call. */
  readonly id: string;
}

/** Read from the item's own text: logs of earlier versions hold nothing else. */
export function serverBlockOf(event: ItemEvent): ServerBlock | undefined {
  if (event.type !== "hosted_item" && event.type !== "other_item") return undefined;
  if (blocks.has(event)) return blocks.get(event);
  const part = /._tool_result$/.test(event.itemType) ? "result" : "call";
  const id = textMember(event.item, part === "result" ? "tool_use_id" : "id");
  const block = id === undefined ? undefined : ({ part, id } as const);
  blocks.set(event, block);
  return block;
}

/** Results are long, and every plan asks. */
const blocks = new WeakMap<ItemEvent, ServerBlock | undefined>();

function textMember(text: string, key: string): string | undefined {
  const value = sliceMember(text, key);
  return value?.startsWith('"') === true ? stringValue(value) : undefined;
}

/** Through which server call a block was called, if through one. */
function callerOf(item: RawJson): string | undefined {
  return item.includes('"caller"') ? textMember(sliceMember(item, "caller") ?? "", "tool_id") : undefined;
}

export interface OpenCalls {
  /** Those that are sent although their response did not answer them. */
  readonly stay: ReadonlySet<string>;
  /** Nothing that is still to come can change that. */
  readonly settled: boolean;
  /** Code waits, and nobody knows where: it cannot go on, and its calls are left out. */
  readonly lost?: boolean | undefined;
}

const NONE: OpenCalls = { stay: new Set(), settled: true };

/** What is known of the rest of the request. */
export interface Surroundings {
  readonly formOf: (group: Group) => GroupForm;
  /** The request names the container that code runs in (failures.md C17). */
  readonly hasContainer: boolean;
}

/** `home`: goes as it came; `plain`: as plain meaning; `none`: not at all. */
export type GroupForm = "home" | "plain" | "none";

/** What becomes of the calls that a group leaves unanswered, by what stands behind it: `entries` from `next` on. */
export function openCallsOf(
  group: Group,
  entries: readonly Entry[],
  next: number,
  { formOf, hasContainer }: Surroundings,
): OpenCalls {
  const open = unanswered(group);
  if (open.size === 0) return NONE;
  const stay = new Set<string>();
  let last = group;
  for (const entry of entries.slice(next)) {
    if (entry.kind !== "group") return { stay, settled: true };
    const form = formOf(entry);
    if (form === "none") continue;
    last = entry;
    // Code that calls our tools is answered when it is through, many responses later.
    for (const id of open) {
      const answered = form === "home" && entry.items.some((item) => answers(item, id));
      if (answered) stay.add(id);
      if (answered || form === "plain") open.delete(id);
    }
    if (open.size === 0) return { stay, settled: true };
  }
  // What only paused stays: without it the request would end with the model's own words (failures.md C08).
  const waiting = [...open].filter((id) => hasContainer || last.calls.length === 0 || !isCode(group, id));
  return { stay: new Set([...stay, ...waiting]), settled: false, lost: waiting.length < open.size };
}

/** Code, or what code has called: it lives in a container. */
function isCode(group: Group, id: string): boolean {
  const call = group.items.find((item) => serverBlockOf(item)?.id === id);
  if (call === undefined) return false;
  const name = textMember(call.item, "name") ?? "";
  return name.endsWith("code_execution") || callerOf(call.item) !== undefined;
}

function unanswered(group: Group): Set<string> {
  const open = new Set<string>();
  for (const item of group.items) {
    const block = serverBlockOf(item);
    if (block?.part === "call") open.add(block.id);
    else if (block !== undefined) open.delete(block.id);
  }
  return open;
}

function answers(event: ItemEvent, id: string): boolean {
  const block = serverBlockOf(event);
  return block?.part === "result" && block.id === id;
}

export interface PairContext {
  /** Unanswered calls of this group that are sent all the same. */
  readonly stay: ReadonlySet<string>;
  /** Server calls that stand in the request already, since somebody last spoke. */
  readonly sentCalls: ReadonlySet<string>;
}

/** Calls without a result are left out, results without a call, and of what was called through such a call its caller. */
export function withWholePairs(
  items: readonly PlannedItem[],
  { stay, sentCalls }: PairContext,
): readonly PlannedItem[] {
  if (!items.some(({ event, item }) => serverBlockOf(event) !== undefined || callerOf(item) !== undefined))
    return items;
  const calls = new Set(sentCalls);
  return items.map((item, index) => {
    if (item.action === "omit") return item;
    const block = serverBlockOf(item.event);
    if (block?.part === "call") {
      const answered = items
        .slice(index + 1)
        .some((later) => later.action !== "omit" && answers(later.event, block.id));
      if (!answered && !stay.has(block.id)) return leftOut(item, "its result is not sent");
      calls.add(block.id);
    }
    if (block?.part === "result" && !calls.has(block.id)) return leftOut(item, "its call is not sent");
    const caller = callerOf(item.item);
    return caller === undefined || calls.has(caller) ? item : { ...item, item: withoutCaller(item.item) };
  });
}

function leftOut(item: PlannedItem, why: string): PlannedItem {
  return { ...item, action: "omit", reason: "item_not_replayable", why };
}

function withoutCaller(item: RawJson): RawJson {
  const rest = sliceObject(item).filter(({ key }) => key !== "caller");
  return toRawJson(`{${rest.map(({ key, value }) => `${JSON.stringify(key)}:${value}`).join(",")}}`);
}
