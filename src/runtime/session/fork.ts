/**
 * A fork copies the active path up to a point, with its ids, into a new log. The parent is not touched. References by
 * seq are adjusted, and what was open in the parent is closed in the child.
 */

import {
  type EventDraft,
  type LeftOut,
  type LoggedEvent,
  type ResponseStart,
} from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import { factsOf } from "../facts/index.ts";
import { Fold, RUNNING_IN_PARENT, walkPath } from "../fold/index.ts";
import { type AppendDraft, blobsIn, type Log, type Store } from "../log/index.ts";
import { closeTurn, findOpenTurn } from "../turn/index.ts";

interface ForkOptions {
  readonly id: string;
  /** The last event to copy. Default: all. */
  readonly at?: number | undefined;
  readonly compacted?: boolean | undefined;
}

/** Writes the child as a whole or not at all: its log, and the blobs its events name. */
export async function forkInto(store: Store, parent: Log, options: ForkOptions): Promise<void> {
  const drafts = forkDrafts(parent, options);
  await store.create(options.id, { events: drafts, blobs: await blobsOf(parent, blobsIn(drafts)) });
}

async function blobsOf(log: Log, names: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  const blobs = new Map<string, Uint8Array>();
  for (const name of names) {
    const bytes = await log.getBlob(name);
    if (bytes !== undefined) blobs.set(name, bytes);
  }
  return blobs;
}

function forkDrafts({ events, session }: Log, { id, at, compacted }: ForkOptions): readonly AppendDraft[] {
  const { path: current, aside } = walkPath(events);
  const whole = aside?.path ?? current; // a running compaction belongs to the parent
  const last = at ?? whole.at(-1)?.seq ?? -1;
  const onPath = new Set(whole);
  const front = compacted === true ? frontEnd(whole, last) : 0;
  const path = events.filter(
    (event) =>
      (event.seq >= front || STAYS.has(event.type)) &&
      // Refusals of an origin hold on every branch, and in the child too.
      (onPath.has(event) || event.type === "replay_override") &&
      event.seq <= last &&
      event.type !== "branch" &&
      event.type !== "permission_rule" && // allowed in the parent, not here
      event.type !== "unknown",
  );
  const [start, ...rest] = path;
  if (start?.type !== "session_start" || (at !== undefined && !whole.some((event) => event.seq === at))) {
    throw codedError("seq_unknown", `cannot fork at ${last}: there is no such event on the active path`);
  }
  const newSeq = new Map(path.map((event, index) => [event.seq, index]));
  const copied = rest.map((event) => copy(event, newSeq, events));
  return [
    {
      at: start.at,
      type: "session_start",
      session: id,
      root: start.root,
      writer: start.writer,
      parent: { session, seq: last },
      cwd: start.cwd,
    },
    ...copied,
    ...(front === 0 ? [] : [FRONT_LEFT]),
    ...closing(path),
    ...titleLeftBehind(path, events),
  ];
}

/** Types of events that stay in force across a cut. */
const STAYS: ReadonlySet<LoggedEvent["type"]> = new Set([
  "session_start",
  "settings",
  "title",
  "replay_override",
]);

/** Requests before it were made with events that are not in this log; `check` does not report that as a fault. */
const FRONT_LEFT: EventDraft = {
  type: "notice",
  code: "front_left",
  message: "this copy begins with the summary; earlier messages are in the session it was forked from",
};

/** The first event that the last summary does not cover. */
function frontEnd(path: readonly LoggedEvent[], last: number): number {
  const cut = path.findLast((event) => event.type === "compaction" && event.seq <= last);
  if (cut?.type === "compaction") return Math.min(cut.before, cut.seq);
  throw codedError("not_compacted", "there is no summary to start from. Compact the session first");
}

/** A title belongs to the session, not to the branch on which it was set. */
function titleLeftBehind(
  path: readonly LoggedEvent[],
  events: readonly LoggedEvent[],
): readonly EventDraft[] {
  const { title } = factsOf(events);
  return title === undefined || factsOf(path).title !== undefined ? [] : [{ type: "title", title }];
}

/** Calls that ran in the parent have an outcome there, which the child cannot know. */
function closing(path: readonly LoggedEvent[]): readonly EventDraft[] {
  const fold = new Fold();
  fold.add(path);
  const open = findOpenTurn(path, fold);
  if (open === undefined) return [];
  return closeTurn(open, []).map((draft) =>
    draft.type === "tool_result" && draft.status === "outcome_unknown"
      ? { ...draft, ...RUNNING_IN_PARENT }
      : draft,
  );
}

function copy(
  event: LoggedEvent,
  newSeq: ReadonlyMap<number, number>,
  events: readonly LoggedEvent[],
): AppendDraft {
  const { v: _v, seq: _seq, epoch: _epoch, ...draft } = event;
  if (event.type === "compaction") {
    // Counted, because the event it refers to may not be copied.
    const before = [...newSeq.keys()].filter((seq) => seq < event.before).length;
    return { ...draft, before } as AppendDraft;
  }
  if (event.type === "response_start") {
    const { leftOut: _leftOut, leftOutAs: _leftOutAs, ...start } = draft as typeof event;
    return { ...start, ...movedLeftOut(event, newSeq, events) };
  }
  return draft as AppendDraft;
}

/** If the event it refers to is on a branch that is not copied, its list is copied instead. */
function movedLeftOut(
  event: ResponseStart,
  newSeq: ReadonlyMap<number, number>,
  events: readonly LoggedEvent[],
): Pick<ResponseStart, "leftOut" | "leftOutAs"> {
  const as = event.leftOutAs === undefined ? undefined : newSeq.get(event.leftOutAs);
  if (as !== undefined) return { leftOutAs: as };
  const said = event.leftOutAs === undefined ? event : events[event.leftOutAs];
  if (said?.type !== "response_start" || said.leftOut === undefined) return {};
  const leftOut = said.leftOut.map(({ reason, seqs }): LeftOut => ({
    reason,
    seqs: seqs.flatMap(([from, to]) => {
      const first = newSeq.get(from);
      const lastOne = newSeq.get(to);
      return first === undefined || lastOne === undefined ? [] : [[first, lastOne] as const];
    }),
  }));
  return { leftOut };
}
