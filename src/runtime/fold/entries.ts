/**
 * The conversation as the log has it, before any decision about what to send: user messages and response groups, in
 * order.
 */

import {
  type Compaction,
  type EventHead,
  eventOf,
  isQuiet,
  type ItemEvent,
  type ItemSketch,
  type LateItem,
  type Origin,
  originOf,
  type ResponseEnd,
  type ResponseStart,
  type ResultSketch,
  sketchOfItem,
  sketchOfResult,
  type ToolCall,
  type ToolResult,
  type ToolStart,
  type UserMessage,
} from "../../base/events/index.ts";
import { addAll } from "../../base/support/index.ts";

export interface UserEntry {
  readonly kind: "user";
  readonly event: UserMessage;
}

/** Whether it is a message with which a person began a turn. One that joined a running turn is not. */
export function opensTurn(entry: Entry): entry is UserEntry {
  return entry.kind === "user" && entry.event.by === "person" && entry.event.steer === undefined;
}

export interface SummaryEntry {
  readonly kind: "summary";
  readonly event: Compaction;
}

/** The items and results of a group, as a request needs them. */
export interface GroupSketch {
  readonly items: readonly ItemSketch[];
  readonly results: readonly ResultSketch[];
}

/** All items of one response. Kept, cut, forked and dropped as a whole. */
export class Group {
  readonly kind = "group";
  /** The head of its `response_start`. */
  readonly head: EventHead;
  /** Items, starts and results of calls that nobody has asked for yet: opening a session decodes none of them. */
  #arrived: EventHead[] = [];
  /** Those that somebody has asked for, in the order in which they arrived. */
  readonly #taken: EventHead[] = [];
  readonly #items: ItemEvent[] = [];
  /** Created on demand: a long session has many responses without a call. */
  #startedCalls: Set<string> | undefined;
  #results: Map<string, ToolResult> | undefined;
  #answered: Set<string> | undefined;
  #fallbackAt = -1;
  /** The head of its `response_end`. */
  #end: EventHead | undefined;
  /** A later attempt of the same step exists. */
  superseded = false;

  constructor(start: EventHead) {
    this.head = start;
  }

  get start(): ResponseStart {
    return eventOf(this.head) as ResponseStart;
  }

  get origin(): Origin {
    return originOf(this.head);
  }

  get end(): ResponseEnd | undefined {
    return this.#end === undefined ? undefined : (eventOf(this.#end) as ResponseEnd);
  }

  /** Whether the response has ended, whatever its status. */
  get isClosed(): boolean {
    return this.#end !== undefined;
  }

  /** Whether the response is complete and nothing of it came late. */
  get endedWell(): boolean {
    // A response that ended otherwise was decoded when its line was read (line-head.ts).
    if (this.#end !== undefined && isQuiet(this.#end)) return true;
    return this.end?.status === "completed" && this.late.length === 0;
  }

  /**
   * What a request needs of the group, if it is as usual: items in order, each call with one result. Decodes nothing
   * that was not decoded before, and keeps nothing.
   */
  sketch(): GroupSketch | undefined {
    const items: ItemSketch[] = [];
    const results: ResultSketch[] = [];
    let lastIndex = -1;
    const heads = this.#taken.length === 0 ? this.#arrived : [...this.#taken, ...this.#arrived];
    for (const head of heads) {
      if (head.type === "tool_start") continue;
      if (head.type === "tool_result") results.push(sketchOfResult(head));
      else {
        const item = sketchOfItem(head);
        if (item.outputIndex <= lastIndex) return undefined;
        lastIndex = item.outputIndex;
        items.push(item);
      }
    }
    return { items, results };
  }

  /** Ordered by output index: events interleave and indexes have gaps (failures.md R14). */
  get items(): readonly ItemEvent[] {
    this.#takeArrived();
    return this.#items;
  }

  /** The calls that we have to run and answer. */
  get calls(): readonly ToolCall[] {
    return this.items.filter(
      (item): item is ToolCall =>
        item.type === "tool_call" && !this.isVoid(item) && !this.ranByProvider(item),
    );
  }

  /**
   * Whether the call no longer counts. If Claude declined in mid-answer and another model continued, a `fallback` block
   * says so, and all calls before it are void (code-yeongyu/senpi#113).
   */
  isVoid(item: ItemEvent): boolean {
    this.#takeArrived();
    return item.type === "tool_call" && item.outputIndex < this.#fallbackAt;
  }

  get late(): readonly LateItem[] {
    return this.end?.late ?? [];
  }

  /** An item, the start or the result of a call, or the end. Of several ends the first counts. */
  add(event: EventHead): void {
    if (event.type === "response_end") this.#end ??= event;
    else this.#arrived.push(event);
  }

  #takeArrived(): void {
    if (this.#arrived.length === 0) return;
    const arrived = this.#arrived;
    this.#arrived = [];
    addAll(this.#taken, arrived);
    for (const head of arrived) {
      const event = eventOf(head) as ItemEvent | ToolStart | ToolResult;
      if (event.type === "tool_start") (this.#startedCalls ??= new Set()).add(event.callId);
      else if (event.type === "tool_result") this.#addResult(event);
      else this.#addItem(event);
    }
  }

  #addItem(item: ItemEvent): void {
    // The same slot twice is a repeated stream event: the first one counts (failures.md I04, H09).
    let at = this.#items.length;
    while (at > 0 && (this.#items[at - 1] as ItemEvent).outputIndex > item.outputIndex) at -= 1;
    if (this.#items[at - 1]?.outputIndex === item.outputIndex) return;
    if (at === this.#items.length) this.#items.push(item);
    else this.#items.splice(at, 0, item);
    if (item.itemType === "fallback") this.#fallbackAt = Math.max(this.#fallbackAt, item.outputIndex);
    if (item.type === "hosted_item" && item.answers !== undefined) {
      (this.#answered ??= new Set()).add(item.answers);
    }
  }

  /** Hosted items, and calls whose output arrived in the same response: we must neither run nor answer them. */
  ranByProvider(item: ItemEvent): boolean {
    if (item.type === "hosted_item") return true;
    this.#takeArrived();
    return item.type === "tool_call" && this.#answered?.has(item.callId) === true;
  }

  /** The first result counts: it may have been sent, and what was sent does not change (failures.md T10). */
  #addResult(result: ToolResult): void {
    this.#results ??= new Map();
    if (!this.#results.has(result.callId)) this.#results.set(result.callId, result);
  }

  /** The time of the newest event of this group that a request is made of. */
  get newestAt(): string {
    this.#takeArrived();
    const times = [...(this.#results?.values() ?? [])].map(({ at }) => at);
    return [this.end?.at ?? this.start.at, ...times].reduce((a, b) => (b > a ? b : a));
  }

  wasStarted(callId: string): boolean {
    this.#takeArrived();
    return this.#startedCalls?.has(callId) ?? false;
  }

  resultOf(callId: string): ToolResult | undefined {
    this.#takeArrived();
    return this.#results?.get(callId);
  }

  /** Whether no later event can change how this group is sent. */
  get settled(): boolean {
    if (this.end === undefined) return false;
    // Calls of an incomplete response are answered too, with the constant result that recovery records.
    if (this.end.status !== "completed" && this.end.status !== "incomplete") return true;
    return this.calls.every(({ callId }) => this.resultOf(callId) !== undefined);
  }
}

export type Entry = UserEntry | SummaryEntry | Group;
