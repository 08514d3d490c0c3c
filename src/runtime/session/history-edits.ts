/** Where a cut may be made: never inside a group, never between a call and its result. */

import {
  type Compaction,
  type EventDraft,
  isItemEvent,
  type LoggedEvent,
  type UserMessage,
} from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import { activePath, showsBegunTurn } from "../fold/index.ts";

/** The last message on the path with which a person began a turn. */
export function lastMessageOf(path: readonly LoggedEvent[]): UserMessage | undefined {
  return path.findLast(isOpening);
}

function isOpening(event: LoggedEvent): event is UserMessage {
  return event.type === "user_message" && event.by === "person" && event.steer === undefined;
}

/**
 * Where a turn that answers the last message again begins. The messages that joined the turn are part of it: a retry
 * begins after the last of them, and one that starts at the message repeats them.
 */
export function retryFrom(
  path: readonly LoggedEvent[],
  turn: string,
  from: "message" | undefined,
): { readonly to: number; readonly joined: readonly EventDraft[] } {
  const index = path.findLastIndex(isOpening);
  const messages = path
    .slice(index + 1)
    .filter((event): event is UserMessage => event.type === "user_message" && event.steer !== undefined);
  const to = (from === undefined ? messages.at(-1) : undefined) ?? path[index];
  const again = ({ by, content, steer }: UserMessage): EventDraft => ({
    type: "user_message",
    turn,
    by,
    content,
    steer,
  });
  return { to: to?.seq ?? -1, joined: from === undefined ? [] : messages.map(again) };
}

/** The last turn that began on the path. */
export function lastTurnOf(path: readonly LoggedEvent[]): string | undefined {
  return path.findLast(showsBegunTurn)?.turn;
}

/** The seq of the event before `seq` on the path. */
export function previousOnPath(path: readonly LoggedEvent[], seq: number): number {
  return path[path.findIndex((event) => event.seq === seq) - 1]?.seq ?? -1;
}

/** Undoing a turn leads to the event before its message, even if others joined it; undoing an edit restores the path from before the edit. */
export function undoTo(path: readonly LoggedEvent[]): number {
  const last = lastMessageOf(path);
  if (last === undefined) throw codedError("nothing_to_undo", "there is no message to undo");
  const edit = path.find(
    (event) => event.type === "branch" && event.why === "edit" && event.turn === last.turn,
  );
  return edit === undefined ? previousOnPath(path, last.seq) : edit.seq - 1;
}

/** The event that drops what comes from `from` on, or undefined if the path is empty. */
export function endCut(path: readonly LoggedEvent[], from: number): EventDraft | undefined {
  const to = cutBefore(path, from);
  return path.length === 0 ? undefined : { type: "branch", to, why: "truncate" };
}

/** The event that drops what comes before the last turns, or undefined if there is nothing to drop. */
export function frontCut(path: readonly LoggedEvent[], count: number): EventDraft | undefined {
  const before = lastTurnsFrom(path, count);
  const earlier = path.findLast((event): event is Compaction => event.type === "compaction");
  // Keeping more turns than are left must not bring back what an earlier cut removed.
  if (path.length === 0 || (earlier !== undefined && earlier.before >= before)) return undefined;
  return { type: "compaction", before, summary: "" };
}

/**
 * A branch ends with a whole turn: returns the last event of the turn that `seq` belongs to, if `seq` is on that turn's
 * path.
 */
export function endOfTurnAt(events: readonly LoggedEvent[], seq: number): number {
  const event = events[seq];
  if (event === undefined) throw codedError("seq_unknown", `there is no event ${seq} in the log`);
  const end = events.find((one) => one.type === "turn_end" && one.turn === event.turn);
  if (event.turn === undefined || end === undefined) return seq;
  const onItsPath = activePath(events.slice(0, end.seq + 1)).some((one) => one.seq === seq);
  return onItsPath ? end.seq : seq;
}

/**
 * The last event to keep if everything from `from` on is cut. Moved back to the edge of the group that `from` is in.
 */
function cutBefore(path: readonly LoggedEvent[], from: number): number {
  const event = path.find((one) => one.seq >= from);
  if (event === undefined) throw codedError("seq_unknown", `there is no event ${from} on the active path`);
  const inGroup = isItemEvent(event) || GROUP_TYPES.has(event.type);
  const start = inGroup
    ? path.find((one) => one.type === "response_start" && one.response === event.response)
    : undefined;
  return previousOnPath(path, (start ?? event).seq);
}

const GROUP_TYPES: ReadonlySet<string> = new Set([
  "partial",
  "response_end",
  "permission_request",
  "permission_decision",
  "tool_start",
  "elicitation_request",
  "elicitation_answer",
  "tool_result",
]);

/** The seq of the message that opens the nth turn from the end. */
function lastTurnsFrom(path: readonly LoggedEvent[], count: number): number {
  const messages = path.filter(isOpening);
  if (!Number.isInteger(count) || count < 1) {
    throw codedError("keep_turns_invalid", "count must be a whole number, 1 or more");
  }
  return messages.at(-count)?.seq ?? messages[0]?.seq ?? 0;
}
