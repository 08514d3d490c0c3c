/**
 * Turns what a crash left open into the events that close it. Their texts are those that the fold renders for open
 * ends, so the request is the same before and after.
 *
 * Anyone may look for an open turn (`findOpenTurn`), but only the next writer closes it, in one of two ways:
 * - anything new (a message, a retry, an edit, a cut) first ends it permanently, as `interrupted` (`closeTurn`);
 * - `resume` continues it: a turn through resume.ts, a compaction by running it again.
 */

import {
  addUsage,
  type EventDraft,
  type EventHead,
  headsOf,
  type LoggedEvent,
  NO_USAGE,
  type ToolCall,
} from "../../base/events/index.ts";
import {
  type Fold,
  type Group,
  NEVER_STARTED,
  OUTCOME_UNKNOWN,
  resultOfOpenCall,
  showsBegunTurn,
  walkPath,
} from "../fold/index.ts";
import { partialsFromScratch } from "./scratch-journal.ts";

/**
 * A turn without an end. A compaction's turn cannot continue where it stopped, because its request is not on the
 * conversation's path. It ends by branching back to the last event before it, and the compaction is run again.
 */
export type OpenTurn = OpenWork &
  ({ readonly kind: "conversation" } | { readonly kind: "compaction"; readonly leadsBackTo: number });

interface OpenWork {
  readonly turn: string;
  readonly steps: number;
  readonly groups: readonly Group[];
  /** A message follows its last response, so that response is not the answer. */
  readonly askedOn: boolean;
}

/** Returns the last turn if it has no end. */
export function findOpenTurn(events: readonly LoggedEvent[], fold: Fold): OpenTurn | undefined {
  if (endsWithItsTurn(events)) return undefined;
  const heads = headsOf(events);
  const { path, aside } = walkPath(heads);
  // A turn that was cancelled before it began has only an end, so anything that was open before is still open.
  const begun = new Set<string | undefined>(heads.filter(showsBegunTurn).map(({ turn: of }) => of));
  const last = path.findLast((event) =>
    event.type === "turn_end" ? begun.has(event.turn) : showsBegunTurn(event),
  );
  const turn = last?.turn;
  if (turn === undefined || path.some((event) => event.type === "turn_end" && event.turn === turn)) {
    return undefined;
  }
  const groups = fold.entries.filter(
    (entry): entry is Group => entry.kind === "group" && entry.head.turn === turn,
  );
  const askedOn = fold.entries.at(-1)?.kind === "user";
  const work = { turn, groups, steps: groups.at(-1)?.start.step ?? 0, askedOn };
  const leadsBackTo = aside?.turn === turn ? aside.path.at(-1)?.seq : undefined;
  return leadsBackTo === undefined
    ? { ...work, kind: "conversation" }
    : { ...work, kind: "compaction", leadsBackTo };
}

/** The usual case, decided by the last events alone: everything after the last `branch` is on the path. */
export function endsWithItsTurn(events: readonly LoggedEvent[]): boolean {
  const ended = new Set<string>();
  const heads = headsOf(events);
  for (let index = heads.length - 1; index >= 0; index -= 1) {
    const event = heads[index] as EventHead;
    if (event.type === "branch") return false;
    if (event.turn === undefined || event.type === "notice") continue;
    if (event.type !== "turn_end") return ended.has(event.turn);
    ended.add(event.turn);
  }
  return true;
}

/** Closes open responses: records what was seen of them, and that they were cut. */
export function closeResponses(open: OpenTurn, scratch: readonly string[]): readonly EventDraft[] {
  return open.groups.flatMap((group): readonly EventDraft[] => {
    if (group.end !== undefined) return [];
    const { response } = group.start;
    const finished = new Set(group.items.map((item) => item.outputIndex));
    const partials = partialsFromScratch(scratch, response, finished).map((draft) => ({
      ...draft,
      turn: open.turn,
    }));
    return [
      ...partials,
      {
        type: "response_end",
        turn: open.turn,
        response,
        status: "cut",
        durationMs: 0,
        error: { code: "interrupted", message: "the process ended while the response was under way" },
      },
    ];
  });
}

/** Calls of replayable responses that have no result. */
export function openCalls(open: OpenTurn): readonly { readonly group: Group; readonly call: ToolCall }[] {
  return open.groups
    .filter((group) => group.end?.status === "completed" || group.end?.status === "incomplete")
    .flatMap((group) =>
      group.calls
        .filter(({ callId }) => group.resultOf(callId) === undefined)
        .map((call) => ({ group, call })),
    );
}

/** `restored`: the end of the log may be missing, so the call may have run even if nothing says that it began. */
export function closeCall(turn: string, group: Group, call: ToolCall, restored = false): EventDraft {
  const result = resultOfOpenCall(group, call);
  return {
    type: "tool_result",
    turn,
    response: call.response,
    callId: call.callId,
    ...(restored && result === NEVER_STARTED ? OUTCOME_UNKNOWN : result),
  };
}

/** All events that end an interrupted turn permanently. */
export function closeTurn(
  open: OpenTurn,
  scratch: readonly string[],
  restored = false,
): readonly EventDraft[] {
  const usage = open.groups.reduce(
    (sum, group) => (group.end?.usage === undefined ? sum : addUsage(sum, group.end.usage)),
    NO_USAGE,
  );
  return [
    ...closeResponses(open, scratch),
    ...openCalls(open).map(({ group, call }) => closeCall(open.turn, group, call, restored)),
    ...(open.kind === "conversation"
      ? []
      : [{ type: "branch", turn: open.turn, to: open.leadsBackTo, why: "compaction" } as const]),
    { type: "turn_end", turn: open.turn, status: "interrupted", steps: open.steps, usage, durationMs: 0 },
  ];
}
