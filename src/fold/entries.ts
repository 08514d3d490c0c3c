/**
 * The conversation as the log tells it, before anybody decides what to send: user messages and response groups, in order.
 *
 * @module
 */

import type {
  Compaction,
  ItemEvent,
  LateItem,
  Origin,
  ResponseEnd,
  ResponseStart,
  ToolResult,
  UserMessage,
} from "../events/index.ts";

export interface UserEntry {
  readonly kind: "user";
  readonly event: UserMessage;
}

export interface SummaryEntry {
  readonly kind: "summary";
  readonly event: Compaction;
}

/** All items of one response. Kept, cut, forked and dropped whole. */
export class Group {
  readonly kind = "group";
  readonly start: ResponseStart;
  readonly #items: ItemEvent[] = [];
  readonly #startedCalls = new Set<string>();
  readonly #results = new Map<string, ToolResult>();
  end: ResponseEnd | undefined;
  /** A later attempt of the same step exists. */
  superseded = false;

  constructor(start: ResponseStart) {
    this.start = start;
  }

  get origin(): Origin {
    return this.start.origin;
  }

  /** By output index: events interleave and indexes have gaps (failures.md R14). */
  get items(): readonly ItemEvent[] {
    return this.#items;
  }

  get late(): readonly LateItem[] {
    return this.end?.late ?? [];
  }

  addItem(item: ItemEvent): void {
    // The same slot twice is a repeated event of the stream: the first one counts (failures.md I04, H09).
    if (this.#items.some((other) => other.outputIndex === item.outputIndex)) return;
    this.#items.push(item);
    this.#items.sort((a, b) => a.outputIndex - b.outputIndex);
  }

  addStart(callId: string): void {
    this.#startedCalls.add(callId);
  }

  /** The first result counts: it may have been sent, and what was sent does not change (failures.md T10). */
  addResult(result: ToolResult): void {
    if (!this.#results.has(result.callId)) this.#results.set(result.callId, result);
  }

  wasStarted(callId: string): boolean {
    return this.#startedCalls.has(callId);
  }

  resultOf(callId: string): ToolResult | undefined {
    return this.#results.get(callId);
  }

  /** Nothing that is still to come can change how this group is sent. */
  get settled(): boolean {
    if (this.end === undefined) return false;
    // Calls of an incomplete response are answered too: with the constant result that recovery records.
    if (this.end.status !== "completed" && this.end.status !== "incomplete") return true;
    return this.#items.every((item) => item.type !== "tool_call" || this.#results.has(item.callId));
  }
}

export type Entry = UserEntry | SummaryEntry | Group;
