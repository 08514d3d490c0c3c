/**
 * Where a cut may be made: never inside a group, never between a call and its result.
 *
 * @module
 */

import { isItemEvent, type LoggedEvent, type UserMessage } from "../events/index.ts";
import { ThroughlineError } from "../support/index.ts";

/** What a person said last on the path. */
export function lastMessageOf(path: readonly LoggedEvent[]): UserMessage | undefined {
  return path.findLast(
    (event): event is UserMessage => event.type === "user_message" && event.by === "person",
  );
}

/** The seq of the event before `seq` on the path. */
export function previousOnPath(path: readonly LoggedEvent[], seq: number): number {
  return path[path.findIndex((event) => event.seq === seq) - 1]?.seq ?? -1;
}

/** The last event to keep when everything from `from` on goes: moved back to the edge of the group it falls into. */
export function cutBefore(path: readonly LoggedEvent[], from: number): number {
  const event = path.find((one) => one.seq >= from);
  if (event === undefined)
    throw new ThroughlineError({
      code: "seq_unknown",
      message: `there is no event ${from} on the active path`,
    });
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
  "tool_result",
]);

/** The seq of the message that opens the nth turn from the end. */
export function lastTurnsFrom(path: readonly LoggedEvent[], keepTurns: number): number {
  const messages = path.filter((event) => event.type === "user_message" && event.by === "person");
  if (!Number.isInteger(keepTurns) || keepTurns < 1) {
    throw new ThroughlineError({
      code: "keep_turns_invalid",
      message: "keepTurns must be a whole number, 1 or more",
    });
  }
  return messages.at(-keepTurns)?.seq ?? messages[0]?.seq ?? 0;
}
