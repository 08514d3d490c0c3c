/**
 * Calls that the provider runs itself, in dialects where items are blocks of one message. A call and its result are
 * sent together or not at all, whatever their types (rule M24). The result may be in a later response of the same loop,
 * because a provider pauses or waits for one of our tools. Until then the call stays as long as the request ends there:
 * the API resumes it.
 */

import type { ItemEvent } from "../../base/events/index.ts";
import { type RawJson, sliceMember, sliceObject, stringValue, toRawJson } from "../../base/support/index.ts";
import type { Entry, Group } from "./entries.ts";
import type { PlannedItem } from "./plan.ts";

export interface ServerBlock {
  readonly part: "call" | "result";
  /** The id of the call. */
  readonly id: string;
}

/** Read from the item's own text, because logs of earlier versions hold nothing else. */
export function serverBlockOf(event: ItemEvent): ServerBlock | undefined {
  if (event.type !== "hosted_item" && event.type !== "other_item") return undefined;
  if (blocks.has(event)) return blocks.get(event);
  const part = /._tool_result$/.test(event.itemType) ? "result" : "call";
  const id = textMember(event.item, part === "result" ? "tool_use_id" : "id");
  const block = id === undefined ? undefined : ({ part, id } as const);
  blocks.set(event, block);
  return block;
}

/** Cached: results are long, and every plan needs this. */
const blocks = new WeakMap<ItemEvent, ServerBlock | undefined>();

function textMember(text: string, key: string): string | undefined {
  const value = sliceMember(text, key);
  return value?.startsWith('"') === true ? stringValue(value) : undefined;
}

/** The server call through which a block was called, if any. */
function callerOf(item: RawJson): string | undefined {
  return item.includes('"caller"') ? textMember(sliceMember(item, "caller") ?? "", "tool_id") : undefined;
}

export interface OpenCalls {
  /** Calls that are sent although their response did not answer them. */
  readonly stay: ReadonlySet<string>;
  /** Whether no later event can change that. */
  readonly settled: boolean;
  /** Code is pending, but its container is unknown: it cannot continue, and its calls are omitted. */
  readonly lost?: boolean | undefined;
}

const NONE: OpenCalls = { stay: new Set(), settled: true };

/** Facts about the rest of the request. */
export interface Surroundings {
  readonly formOf: (group: Group) => GroupForm;
  /** Whether the request names the container that code runs in (failures.md C17). */
  readonly hasContainer: boolean;
}

/** `home`: sent unchanged; `plain`: as plain meaning; `none`: not sent. */
export type GroupForm = "home" | "plain" | "none";

/** Decides about the calls that a group leaves unanswered, by what follows it: `entries` from `next` on. */
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
    // Code that calls our tools is answered when it has finished, many responses later.
    for (const id of open) {
      const answered = form === "home" && entry.items.some((item) => answers(item, id));
      if (answered) stay.add(id);
      if (answered || form === "plain") open.delete(id);
    }
    if (open.size === 0) return { stay, settled: true };
  }
  // A merely paused call stays: without it the request would end with the model's own text (failures.md C08).
  const waiting = [...open].filter((id) => hasContainer || last.calls.length === 0 || !isCode(group, id));
  return { stay: new Set([...stay, ...waiting]), settled: false, lost: waiting.length < open.size };
}

/** Whether it is code, or was called by code: either depends on a container. */
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
  /** Unanswered calls of this group that are still sent. */
  readonly stay: ReadonlySet<string>;
  /** Server calls that are already in the request, since the last message or summary. */
  readonly sentCalls: ReadonlySet<string>;
}

/**
 * Omits calls without a result and results without a call. Blocks called through an omitted call lose their `caller`.
 */
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
