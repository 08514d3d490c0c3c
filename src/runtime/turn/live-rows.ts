/**
 * The response that another process is generating, from its log and the rows of its scratch journal. Gives the same
 * live events that a viewer in that process gets, and a snapshot for a viewer that joins late.
 *
 * Rows of responses that have ended and of finished items are dropped, because the log has them.
 */

import {
  type EphemeralEvent,
  type EventHead,
  eventOf,
  type LoggedEvent,
  type SessionEvent,
} from "../../base/events/index.ts";
import { LiveItem } from "./live-item.ts";
import { type ReadRow, readRow } from "./scratch-journal.ts";

interface OpenResponse {
  readonly turn: string;
  readonly finished: Set<number>;
  readonly items: Map<number, LiveItem>;
}

/** Times do not matter here: the writer's own events carry them. */
const NO_TIME = { now: 0, monotonic: 0 };

export class LiveRows {
  readonly #open = new Map<string, OpenResponse>();

  /** `heads` are those of the log so far. */
  constructor(heads: readonly EventHead[]) {
    const lastEnd = heads.findLastIndex(({ type }) => type === "turn_end");
    for (const head of heads.slice(lastEnd + 1)) this.#event(eventOf(head));
  }

  /** Returns the events, each item preceded by the end of its live events, followed by the live events of the rows. */
  take(events: readonly LoggedEvent[], rows: readonly string[]): readonly SessionEvent[] {
    if (rows.length === 0 && this.#open.size === 0 && events.every(({ type }) => type !== "response_start"))
      return events;
    const merged: SessionEvent[] = [];
    for (const event of events) {
      for (const end of this.#event(event)) merged.push(end);
      merged.push(event);
    }
    for (const line of rows) {
      const row = readRow(line);
      const response = row && this.#open.get(row.response);
      if (row === undefined || response === undefined) continue;
      for (const live of liveOf(response, row)) merged.push(live);
    }
    return merged;
  }

  /** The items in progress, for a viewer who joins now. */
  snapshot(): readonly EphemeralEvent[] {
    return [...this.#open.values()].flatMap(({ items }) =>
      [...items.values()].flatMap((item) => item.snapshot()),
    );
  }

  #event(event: LoggedEvent): readonly EphemeralEvent[] {
    if (event.type === "response_start") {
      const { response, turn = "" } = event;
      this.#open.set(response, { turn, finished: new Set(), items: new Map() });
    } else if (event.type === "response_end") this.#open.delete(event.response);
    else if (event.type === "turn_end") this.#open.clear();
    else if ("outputIndex" in event) return this.#finish(event);
    return [];
  }

  #finish(event: Extract<LoggedEvent, { readonly outputIndex: number }>): readonly EphemeralEvent[] {
    const response = this.#open.get(event.response);
    const item = response?.items.get(event.outputIndex);
    response?.finished.add(event.outputIndex);
    response?.items.delete(event.outputIndex);
    // An unfinished item has no end event.
    if (item === undefined || event.type === "partial") return [];
    return item.ended(event.type === "reasoning" ? event.durationMs : 0);
  }
}

function liveOf({ turn, finished, items }: OpenResponse, row: ReadRow): readonly EphemeralEvent[] {
  const { response, start, delta } = row;
  const { outputIndex } = start;
  if (finished.has(outputIndex)) return [];
  const live: EphemeralEvent[] = [];
  let item = delta === undefined ? undefined : items.get(outputIndex);
  if (item === undefined) {
    item = new LiveItem(start, { turn, response, outputIndex }, NO_TIME);
    items.set(outputIndex, item);
    for (const event of item.started()) live.push(event);
  }
  if (delta !== undefined) item.delta(delta.channel, delta.part, delta.text, live);
  return live;
}
