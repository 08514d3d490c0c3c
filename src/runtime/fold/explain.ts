/** The plan as a table: one decision for each event that could be in a request. */

import {
  type Decision,
  isItemEvent,
  type LeftOut,
  type LoggedEvent,
  type Reason,
} from "../../base/events/index.ts";
import { activePath } from "./active-path.ts";
import type { PlanEntry, PlannedResult } from "./plan.ts";

/** Decisions for every event of the log, including those on another branch or before a cut. */
export function explain(events: readonly LoggedEvent[], entries: readonly PlanEntry[]): readonly Decision[] {
  const decisions = new Map<number, Decision>();
  for (const entry of entries) {
    for (const one of decisionsOf(entry)) decisions.set(one.seq, one);
  }
  const onPath = new Set(activePath(events).map((event) => event.seq));
  for (const event of events) {
    if (decisions.has(event.seq)) continue;
    const left = leftBehind(event, onPath.has(event.seq));
    if (left !== undefined) decisions.set(event.seq, left);
  }
  return [...decisions.values()].toSorted((a, b) => a.seq - b.seq);
}

function decisionsOf(entry: PlanEntry): readonly Decision[] {
  if (entry.kind === "user") {
    return [
      decision(
        entry.event,
        "replay",
        "user_input",
        entry.event.by === "person" ? "from the user" : "from the runtime",
      ),
    ];
  }
  if (entry.kind === "summary") {
    return [decision(entry.event, "translate", "compacted", "replaces what was compacted")];
  }
  const items = entry.items.map(({ event, action, reason, why }) => decision(event, action, reason, why));
  const results = entry.results.flatMap((result) =>
    result.seq === undefined
      ? []
      : [
          decision(
            { seq: result.seq, type: "tool_result" },
            "replay",
            "call_result",
            `result of ${result.callId}${imagesIn(result)}`,
          ),
        ],
  );
  return [...items, ...results];
}

function imagesIn({ images = [] }: PlannedResult): string {
  if (images.length === 0) return "";
  return `, with ${images.length === 1 ? "an image" : `${images.length} images`}`;
}

function leftBehind(event: LoggedEvent, onPath: boolean): Decision | undefined {
  if (event.type === "partial")
    return decision(event, "omit", "for_people", "the visible part of an unfinished item");
  if (!isItemEvent(event) && event.type !== "user_message" && event.type !== "tool_result") return undefined;
  if (!onPath) return decision(event, "omit", "left_branch", "on an abandoned branch");
  if (event.type === "tool_result")
    return decision(event, "omit", "superseded", "its call is not sent, or already had a result");
  return decision(event, "omit", "compacted", "before the last compaction");
}

function decision(
  event: { readonly seq: number; readonly type: string },
  action: Decision["action"],
  reason: Reason,
  why: string,
): Decision {
  return { seq: event.seq, type: event.type, action, reason, why };
}

/** The item events a request does not carry, as ranges, as `response_start` records them. Grows with the request. */
export class LeftOutRanges {
  readonly #byReason = new Map<Reason, [number, number][]>();

  add(entry: PlanEntry): void {
    if (entry.kind !== "group" || entry.whole !== undefined) return;
    for (const { event, action, reason } of entry.items) {
      if (action !== "omit") continue;
      const ranges = this.#byReason.get(reason) ?? [];
      const last = ranges.at(-1);
      if (last !== undefined && last[1] + 1 === event.seq) last[1] = event.seq;
      else ranges.push([event.seq, event.seq]);
      this.#byReason.set(reason, ranges);
    }
  }

  /** The current ranges, as a copy that later entries do not change. */
  list(): readonly LeftOut[] {
    return [...this.#byReason].map(([reason, ranges]) => ({
      reason,
      seqs: ranges.map(([from, to]) => [from, to] as const),
    }));
  }
}
