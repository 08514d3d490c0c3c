/**
 * Plans how a turn that a crash left open (recover.ts) continues. Its open responses are closed and calls that never
 * started are run. Of the calls that were running, only idempotent ones run again; the outcome of the others is unknown
 * (law 5).
 */

import type { Tool } from "../tools/index.ts";
import { closeCall, closeResponses, openCalls, type OpenTurn } from "./recover.ts";
import type { TurnPlan } from "./turn.ts";

export function resumePlan(open: OpenTurn, scratch: readonly string[], tools: readonly Tool[]): TurnPlan {
  const calls = openCalls(open);
  const owed = calls.filter(({ group, call }) => {
    if (group.end?.status !== "completed") return false;
    return (
      !group.wasStarted(call.callId) || tools.find(({ name }) => name === call.name)?.idempotent === true
    );
  });
  const closed = calls.filter((one) => !owed.includes(one));
  const last = open.groups.at(-1);
  const whole = last?.end?.status === "completed";
  const hasCalls = (last?.calls.length ?? 0) > 0;
  const spoke = whole && !hasCalls && last.items.some((item) => item.type === "assistant_message");
  const answered = spoke && !open.askedOn;
  return {
    opening: [
      ...closeResponses(open, scratch),
      ...closed.map(({ group, call }) => closeCall(open.turn, group, call)),
    ],
    owed: owed.map(({ call }) => call),
    // A response that was cut is requested again, as another attempt of the same step.
    firstStep: whole ? open.steps + 1 : Math.max(1, open.steps),
    answered,
  };
}
