/**
 * The conversation as the log has it, before any decision about what to send: user messages and response groups, in
 * order.
 */

import type {
  Compaction,
  ItemEvent,
  LateItem,
  Origin,
  ResponseEnd,
  ResponseStart,
  ToolCall,
  ToolResult,
  UserMessage,
} from "../../base/events/index.ts";

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

/** All items of one response. Kept, cut, forked and dropped as a whole. */
export class Group {
  readonly kind = "group";
  readonly start: ResponseStart;
  readonly #items: ItemEvent[] = [];
  /** Created on demand: a long session has many responses without a call. */
  #startedCalls: Set<string> | undefined;
  #results: Map<string, ToolResult> | undefined;
  #answered: Set<string> | undefined;
  #fallbackAt = -1;
  end: ResponseEnd | undefined;
  /** A later attempt of the same step exists. */
  superseded = false;

  constructor(start: ResponseStart) {
    this.start = start;
  }

  get origin(): Origin {
    return this.start.origin;
  }

  /** Ordered by output index: events interleave and indexes have gaps (failures.md R14). */
  get items(): readonly ItemEvent[] {
    return this.#items;
  }

  /** The calls that we have to run and answer. */
  get calls(): readonly ToolCall[] {
    return this.#items.filter(
      (item): item is ToolCall =>
        item.type === "tool_call" && !this.isVoid(item) && !this.ranByProvider(item),
    );
  }

  /**
   * Whether the call no longer counts. If Claude declined in mid-answer and another model continued, a `fallback` block
   * says so, and all calls before it are void (code-yeongyu/senpi#113).
   */
  isVoid(item: ItemEvent): boolean {
    return item.type === "tool_call" && item.outputIndex < this.#fallbackAt;
  }

  get late(): readonly LateItem[] {
    return this.end?.late ?? [];
  }

  addItem(item: ItemEvent): void {
    // The same slot twice is a repeated stream event: the first one counts (failures.md I04, H09).
    let at = this.#items.length;
    while (at > 0 && (this.#items[at - 1] as ItemEvent).outputIndex > item.outputIndex) at -= 1;
    if (this.#items[at - 1]?.outputIndex === item.outputIndex) return;
    this.#items.splice(at, 0, item);
    if (item.itemType === "fallback") this.#fallbackAt = Math.max(this.#fallbackAt, item.outputIndex);
    if (item.type === "hosted_item" && item.answers !== undefined) {
      (this.#answered ??= new Set()).add(item.answers);
    }
  }

  /** Hosted items, and calls whose output arrived in the same response: we must neither run nor answer them. */
  ranByProvider(item: ItemEvent): boolean {
    if (item.type === "hosted_item") return true;
    return item.type === "tool_call" && this.#answered?.has(item.callId) === true;
  }

  addStart(callId: string): void {
    (this.#startedCalls ??= new Set()).add(callId);
  }

  /** The first result counts: it may have been sent, and what was sent does not change (failures.md T10). */
  addResult(result: ToolResult): void {
    this.#results ??= new Map();
    if (!this.#results.has(result.callId)) this.#results.set(result.callId, result);
  }

  /** The time of the newest event of this group that a request is made of. */
  get newestAt(): string {
    const times = [...(this.#results?.values() ?? [])].map(({ at }) => at);
    return [this.end?.at ?? this.start.at, ...times].reduce((a, b) => (b > a ? b : a));
  }

  wasStarted(callId: string): boolean {
    return this.#startedCalls?.has(callId) ?? false;
  }

  resultOf(callId: string): ToolResult | undefined {
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
