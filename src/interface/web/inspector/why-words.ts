/** Why something is not sent, in plain words. A thought has those that the conversation has for it. */

import type { Decision } from "../../../access/client/index.ts";
import type { Origin } from "../../../base/events/index.ts";
import { type Block, ThoughtMarks } from "../../fragments/index.ts";

/** `block` shows the event, if any does; `inUse` is who the request is for. */
export function whyWords(decision: Decision, block: Block | undefined, inUse: Origin | undefined): string {
  if (block?.kind !== "reasoning") return decision.why;
  return new ThoughtMarks([decision], inUse).of(block)?.words ?? decision.why;
}
