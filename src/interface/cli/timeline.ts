/** Renders a session as a timeline: turns, requests, attempts, tools, their cost and what they left out. Pure. */

import { type LoggedEvent, type SubAgentSpent, shownParts, type Usage } from "../../base/events/index.ts";
import { factsOf, type RequestFacts, type TurnFacts } from "../../runtime/facts/index.ts";

export interface TimelineTool {
  readonly callId: string;
  readonly name: string;
  /** What it ran with, if its arguments were repaired. */
  readonly repaired: string | undefined;
  readonly status: string;
  readonly durationMs: number | undefined;
  /** The sub-agents that the call ran. */
  readonly spent?: readonly SubAgentSpent[] | undefined;
  /** The rule that allowed the call without a question. */
  readonly rule: string | undefined;
}

/** A rule of the session, and the calls it allowed. */
export interface TimelineRule {
  readonly rule: string;
  /** The event that added it. */
  readonly seq: number;
  /** The `seq` of each call that it allowed. */
  readonly allowed: readonly number[];
}

export interface TimelineRequest {
  /** The number that `inspect --request` takes, counted from 1 over the whole log. */
  readonly request: number;
  readonly seq: number;
  readonly step: number;
  readonly attempt: number;
  readonly model: string;
  readonly status: string;
  /** True if another program sent the request and `sessions import` brought the answer. */
  readonly imported?: true;
  readonly durationMs: number | undefined;
  readonly usage: Usage | undefined;
  readonly error: string | undefined;
  /** Why another model than the turn's own was asked, from this request on. */
  readonly fallback: string | undefined;
  readonly leftOut: readonly { readonly reason: string; readonly items: number }[];
  readonly tools: readonly TimelineTool[];
}

export interface TimelineTurn {
  readonly turn: string;
  readonly seq: number;
  readonly text: string;
  readonly status: string;
  readonly durationMs: number | undefined;
  readonly usage: Usage | undefined;
  readonly requests: readonly TimelineRequest[];
}

export function timelineOf(events: readonly LoggedEvent[]): readonly TimelineTurn[] {
  return [...factsOf(events).turns.values()].map(turnOf);
}

/** The rules that a person added to the session and that are in force. */
export function rulesOf(events: readonly LoggedEvent[]): readonly TimelineRule[] {
  const { rules, requests } = factsOf(events);
  const calls = requests.flatMap(({ tools }) => tools);
  return [...rules.values()].map(({ rule, seq }) => ({
    rule,
    seq,
    allowed: calls.flatMap((one) => (one.rule === rule ? [one.call.seq] : [])),
  }));
}

function turnOf({ turn, firstSeq, message, branch, end, requests }: TurnFacts): TimelineTurn {
  const left = branch === undefined ? "" : `(${branch.why} from event ${branch.to})`;
  return {
    turn,
    seq: firstSeq,
    text: message === undefined ? left : shownParts(message.content).join(" "),
    status: end?.status ?? "open",
    durationMs: end?.durationMs,
    usage: end?.usage,
    requests: requests.map(requestOf),
  };
}

function requestOf(facts: RequestFacts): TimelineRequest {
  const { request, start, end, model, fallback, leftOut, tools, imported } = facts;
  const { seq, step, attempt } = start;
  return {
    request,
    seq,
    step,
    attempt,
    model,
    status: end?.status ?? "open",
    ...(imported ? { imported } : {}),
    durationMs: end?.durationMs,
    usage: end?.usage,
    error: end?.error === undefined ? undefined : `[${end.error.code}] ${end.error.message}`,
    fallback: fallback?.message,
    leftOut: leftOut.map(({ reason, seqs }) => ({
      reason,
      items: seqs.reduce((sum, [from, to]) => sum + to - from + 1, 0),
    })),
    tools: tools.map(({ call, result, rule, repaired }) => ({
      callId: call.callId,
      name: call.name,
      repaired,
      status: result?.status ?? "open",
      durationMs: result?.durationMs,
      spent: result?.spent,
      rule,
    })),
  };
}
