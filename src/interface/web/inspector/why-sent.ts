/** Why something is sent, in plain words. Pure. */

import type { Decision } from "../../../access/client/index.ts";
import type { LoggedEvent } from "../../../base/events/index.ts";
import type { RequestFacts } from "../../../runtime/facts/index.ts";

interface Around {
  readonly facts: RequestFacts | undefined;
  /** True if a thought of the same response is sent too. */
  readonly thoughtful: boolean;
}

export function whySent(decision: Decision, event: LoggedEvent, { facts, thoughtful }: Around): string {
  const { reason, why, action, type } = decision;
  if (reason === "user_input")
    return "by" in event && event.by === "person" ? "your words" : "added by Throughline";
  if (reason === "call_result")
    return /, with .*image/.test(why) ? "answers the call, with images" : "answers the call";
  if (reason === "compacted") return "stands for what was compacted";
  if (action === "translate") return why;
  if (reason !== "same_origin") return why;
  if (type === "reasoning") return "same model and endpoint";
  const attempt = facts?.start.attempt ?? 1;
  if (attempt > 1) return `of attempt ${attempt}, whole`;
  return type === "tool_call" && thoughtful ? "belongs to its thought" : "its own response";
}
