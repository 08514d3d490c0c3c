/** What a row of the request calls an event. Pure. */

import { type LoggedEvent, shownParts, typedText } from "../../../base/events/index.ts";
import { inertLine } from "../../../base/support/index.ts";
import type { RequestFacts } from "../../../runtime/facts/index.ts";
import { callTitle, resultWords } from "./call-words.ts";
import { counted, shortTime } from "./figures.ts";

export interface ItemWords {
  readonly label: string;
  readonly more?: string | undefined;
  readonly nested: boolean;
}

interface Around {
  /** The request whose response the event belongs to. */
  readonly facts: RequestFacts | undefined;
  /** The call of the row above, if it is one. */
  readonly callAbove: string | undefined;
}

type Words<Type extends LoggedEvent["type"]> = (
  event: Extract<LoggedEvent, { readonly type: Type }>,
  around: Around,
) => ItemWords;

const LONGEST = 80;

const WORDS: { readonly [Type in LoggedEvent["type"]]?: Words<Type> } = {
  user_message: ({ content, by, steer }) => ({
    label: by === "runtime" ? "Throughline" : steer === undefined ? "You" : "You, into the turn",
    more: inertLine([typedText(content), ...shownParts(content).slice(1)].join(" "), LONGEST),
    nested: false,
  }),
  compaction: ({ summary }) => ({ label: "Summary", more: inertLine(summary, LONGEST), nested: false }),
  assistant_message: ({ text, refusal }, around) => ({
    label: refusal === undefined || text !== "" ? "Answer" : "Refusal",
    more: withAttempt(inertLine(text === "" ? (refusal ?? "") : text, LONGEST), around),
    nested: false,
  }),
  tool_call: (call, around) => ({
    label: callTitle(call),
    more: withAttempt(undefined, around),
    nested: false,
  }),
  tool_result: (result, { facts, callAbove }) => {
    const call = facts?.tools.find((tool) => tool.call.callId === result.callId)?.call;
    const ended = call === undefined ? result.status : resultWords(call, result);
    const above = callAbove === callKey(result);
    return {
      label: `Result, ${ended}`,
      more: call === undefined || above ? undefined : `of ${callTitle(call)}`,
      nested: true,
    };
  },
  hosted_item: () => ({ label: "Ran at the provider", nested: false }),
  other_item: () => ({ label: "Unknown item", nested: false }),
  partial: ({ kind }, around) => ({
    label: `${PARTIAL[kind]}, broken off`,
    more: withAttempt(undefined, around),
    nested: false,
  }),
};

const PARTIAL = { reasoning: "Thought", text: "Answer", tool_call: "Call" } as const;

/** Thoughts that follow one another in a response are one row. */
export function itemWords(events: readonly LoggedEvent[], around: Around): ItemWords {
  const thoughts = events.flatMap((event) => (event.type === "reasoning" ? [event] : []));
  if (thoughts.length > 0) {
    const ms = thoughts.reduce((sum, { durationMs }) => sum + durationMs, 0);
    const parts = thoughts.reduce((sum, one) => sum + one.parts.length, 0);
    return {
      label: `Thought for ${shortTime(ms)}`,
      more: withAttempt(parts === 0 ? "no summary" : counted(parts, "part"), around),
      nested: false,
    };
  }
  const [event] = events;
  const words =
    event === undefined ? undefined : (WORDS[event.type] as Words<LoggedEvent["type"]> | undefined);
  return event === undefined || words === undefined
    ? { label: "Unknown item", nested: false }
    : words(event, around);
}

export function callKey({
  response,
  callId,
}: {
  readonly response: string;
  readonly callId: string;
}): string {
  return `${response} ${callId}`;
}

/** Names the attempt if it failed: another one may have taken its place. */
function withAttempt(words: string | undefined, { facts }: Around): string | undefined {
  const status = facts?.end?.status;
  if (facts === undefined || status === "completed" || status === "incomplete") return words;
  const attempt = `attempt ${facts.start.attempt}`;
  return words === undefined || words === "" ? attempt : `${words} · ${attempt}`;
}
