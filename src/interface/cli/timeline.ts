/**
 * A session as a timeline: turns, requests, attempts, tools; what each cost and what each left out. Pure.
 *
 * @module
 */

import type {
  LeftOut,
  LoggedEvent,
  ResponseEnd,
  ResponseStart,
  ToolResult,
  Usage,
} from "../../base/events/index.ts";

export interface TimelineTool {
  readonly callId: string;
  readonly name: string;
  readonly status: string;
  readonly durationMs: number | undefined;
}

export interface TimelineRequest {
  /** From 1, over the whole log: what `inspect --request` takes. */
  readonly request: number;
  readonly seq: number;
  readonly step: number;
  readonly attempt: number;
  readonly model: string;
  readonly status: string;
  readonly durationMs: number | undefined;
  readonly usage: Usage | undefined;
  readonly error: string | undefined;
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
  const starts = events.filter((event): event is ResponseStart => event.type === "response_start");
  const requests = starts.map((start, index) => requestOf(start, index + 1, events));
  const turns = [...new Set(events.flatMap((event) => (event.turn === undefined ? [] : [event.turn])))];
  return turns.map((turn) =>
    turnOf(
      turn,
      events,
      requests.filter((_, index) => starts[index]?.turn === turn),
    ),
  );
}

function turnOf(
  turn: string,
  events: readonly LoggedEvent[],
  requests: readonly TimelineRequest[],
): TimelineTurn {
  const own = events.filter((event) => event.turn === turn);
  const message = own.find((event) => event.type === "user_message");
  const end = own.find((event) => event.type === "turn_end");
  const branch = own.find((event) => event.type === "branch");
  return {
    turn,
    seq: own[0]?.seq ?? 0,
    text:
      message?.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ") ??
      (branch === undefined ? "" : `(${branch.why} from event ${branch.to})`),
    status: end?.status ?? "open",
    durationMs: end?.durationMs,
    usage: end?.usage,
    requests,
  };
}

function requestOf(start: ResponseStart, request: number, events: readonly LoggedEvent[]): TimelineRequest {
  const own = events.filter((event) => event.response === start.response);
  const end = own.find((event): event is ResponseEnd => event.type === "response_end");
  const { seq, step, attempt } = start;
  return {
    request,
    seq,
    step,
    attempt,
    model: `${start.origin.provider}/${start.origin.model}`,
    status: end?.status ?? "open",
    durationMs: end?.durationMs,
    usage: end?.usage,
    error: end?.error === undefined ? undefined : `[${end.error.code}] ${end.error.message}`,
    leftOut: leftOutOf(start, events).map(({ reason, seqs }) => ({
      reason,
      items: seqs.reduce((sum, [from, to]) => sum + to - from + 1, 0),
    })),
    tools: own.flatMap((event): readonly TimelineTool[] => {
      if (event.type !== "tool_call") return [];
      const result = own.find(
        (one): one is ToolResult => one.type === "tool_result" && one.callId === event.callId,
      );
      return [
        {
          callId: event.callId,
          name: event.name,
          status: result?.status ?? "open",
          durationMs: result?.durationMs,
        },
      ];
    }),
  };
}

export function leftOutOf(start: ResponseStart, events: readonly LoggedEvent[]): readonly LeftOut[] {
  if (start.leftOutAs === undefined) return start.leftOut ?? [];
  const earlier = events[start.leftOutAs];
  return earlier?.type === "response_start" ? (earlier.leftOut ?? []) : [];
}
