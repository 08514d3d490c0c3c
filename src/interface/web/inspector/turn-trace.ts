/** The times of one turn: its steps, and in them attempts, thoughts, calls, waits and answers. Made of its facts. Pure. */

import type { Reasoning, ResponseStatus } from "../../../base/events/index.ts";
import type { RequestFacts, ToolFacts, TurnFacts } from "../../../runtime/facts/index.ts";
import { lengthOf, type Span, union, without, WorkedClock } from "./worked-time.ts";

export interface StepTrace {
  readonly step: number;
  /** All attempts, the last one first shown. */
  readonly attempts: readonly RequestFacts[];
  readonly span: Span;
}

export interface TurnTrace {
  readonly turn: TurnFacts;
  readonly clock: WorkedClock;
  readonly steps: readonly StepTrace[];
  readonly waitedMs: number;
}

/** A part of a step. Spans are on the clock of worked time, from the beginning of the turn. */
export type PartTrace =
  | {
      readonly kind: "attempt";
      readonly request: RequestFacts;
      readonly status: ResponseStatus;
      readonly span: Span;
      readonly ms: number;
    }
  | {
      readonly kind: "thought";
      readonly thoughts: readonly Reasoning[];
      readonly span: Span;
      readonly ms: number;
    }
  | { readonly kind: "wait"; readonly tool: ToolFacts; readonly span: Span; readonly ms: number }
  | { readonly kind: "tool"; readonly tool: ToolFacts; readonly span: Span; readonly ms: number | undefined }
  | { readonly kind: "answer"; readonly seq: number; readonly span: Span; readonly ms: number };

/** A turn that has ended does not change. */
const ended = new WeakMap<TurnFacts, TurnTrace>();

export function traceOfTurn(turn: TurnFacts): TurnTrace {
  const known = ended.get(turn);
  if (known !== undefined) return known;
  const made = makeTrace(turn);
  if (turn.end !== undefined) ended.set(turn, made);
  return made;
}

function makeTrace(turn: TurnFacts): TurnTrace {
  const from = timeOf(turn.startedAt) ?? 0;
  const whole = { from, to: Math.max(from, timeOf(turn.lastAt) ?? from) };
  const waits = union(turn.requests.flatMap(({ tools }) => tools.flatMap((tool) => waitsOf(tool, whole.to))));
  const pauses = union(turn.pauses.map((pause) => spanOf(pause.from, pause.to, whole.to)));
  const waited = without(waits, pauses);
  // Few turns wait for a person, and a turn may have thousands of requests.
  const busy =
    waited.length === 0 ? [] : union(turn.requests.flatMap((request) => busySpans(request, whole.to)));
  const clock = new WorkedClock(whole, union([...without(waited, busy), ...pauses]));
  return { turn, clock, steps: stepsOf(turn, clock), waitedMs: lengthOf(waited) };
}

function stepsOf({ requests }: TurnFacts, clock: WorkedClock): readonly StepTrace[] {
  const groups: RequestFacts[][] = [];
  for (const request of requests) {
    const last = groups.at(-1);
    if (last?.[0]?.start.step === request.start.step) last.push(request);
    else groups.push([request]);
  }
  // A step lasts until the next one begins, so that the steps of a turn add up to it.
  const begins = groups.map(([first], index) => (index === 0 ? 0 : clock.at(timeOf(first?.start.at) ?? 0)));
  return groups.map((attempts, index) => ({
    step: attempts[0]?.start.step ?? 0,
    attempts,
    span: { from: begins[index] ?? 0, to: Math.max(begins[index] ?? 0, begins[index + 1] ?? clock.length) },
  }));
}

/** The parts of a step in the order they began. */
export function partsOf({ clock, turn }: TurnTrace, { attempts }: StepTrace): readonly PartTrace[] {
  const last = timeOf(turn.lastAt) ?? 0;
  const parts = attempts.flatMap((request, index): readonly PartTrace[] => {
    const status = request.end?.status;
    const failed = status !== undefined && status !== "completed" && status !== "incomplete";
    const sending = spanOf(request.start.at, request.end?.at, last);
    const attempt: readonly PartTrace[] = failed
      ? [{ kind: "attempt", request, status, span: clock.span(sending), ms: request.end?.durationMs ?? 0 }]
      : [];
    if (index < attempts.length - 1) return attempt;
    return [
      ...attempt,
      ...thoughtParts(request, clock),
      ...answerParts(request, clock, sending),
      ...request.tools.flatMap((tool) => toolParts(tool, clock, last)),
    ];
  });
  return parts.toSorted((a, b) => a.span.from - b.span.from);
}

/** Thoughts that follow one another are one. */
function thoughtParts({ thoughts }: RequestFacts, clock: WorkedClock): readonly PartTrace[] {
  const runs: Reasoning[][] = [];
  for (const thought of thoughts) {
    const run = runs.at(-1);
    if (run !== undefined && (run.at(-1)?.outputIndex ?? 0) + 1 === thought.outputIndex) run.push(thought);
    else runs.push([thought]);
  }
  return runs.map((run) => {
    const from = timeOf(run[0]?.startedAt) ?? 0;
    const ms = run.reduce((sum, { durationMs }) => sum + durationMs, 0);
    return { kind: "thought", thoughts: run, span: clock.span({ from, to: from + ms }), ms };
  });
}

/** From the last thought to the end of the response; calls are written in that time too. */
function answerParts(
  { messages, thoughts, end }: RequestFacts,
  clock: WorkedClock,
  sending: Span,
): readonly PartTrace[] {
  const [first] = messages;
  if (first === undefined || end === undefined) return [];
  const thought = thoughts.at(-1);
  const from = thought === undefined ? sending.from : (timeOf(thought.startedAt) ?? 0) + thought.durationMs;
  const span = { from: Math.min(Math.max(from, sending.from), sending.to), to: sending.to };
  return [{ kind: "answer", seq: first.seq, span: clock.span(span), ms: span.to - span.from }];
}

function toolParts(tool: ToolFacts, clock: WorkedClock, last: number): readonly PartTrace[] {
  const waits = waitsOf(tool, last).map((wait): PartTrace => {
    const at = clock.at(wait.from);
    return { kind: "wait", tool, span: { from: at, to: at }, ms: wait.to - wait.from };
  });
  const { startedAt, result, call } = tool;
  // A call that never ran has no time of its own.
  const ran = startedAt === undefined ? undefined : spanOf(startedAt, result?.at, last);
  const at = ran ?? {
    from: timeOf(result?.at ?? call.at) ?? last,
    to: timeOf(result?.at ?? call.at) ?? last,
  };
  return [...waits, { kind: "tool", tool, span: clock.span(at), ms: toolTime(tool) }];
}

/** How long a call ran, without its waits for a person. Undefined while it runs or if it never ran. */
export function toolTime(tool: ToolFacts): number | undefined {
  const { startedAt, result } = tool;
  if (startedAt === undefined || result?.durationMs === undefined) return undefined;
  const end = timeOf(result.at) ?? 0;
  const began = timeOf(startedAt) ?? 0;
  const asked = union(waitsOf(tool, end)).filter(({ from }) => from >= began);
  return Math.max(0, result.durationMs - lengthOf(asked));
}

function waitsOf({ waits = [] }: ToolFacts, last: number): readonly Span[] {
  return waits.map(({ from, to }) => spanOf(from, to, last));
}

function busySpans(request: RequestFacts, last: number): readonly Span[] {
  return [
    spanOf(request.start.at, request.end?.at, last),
    ...request.tools.flatMap((tool) =>
      tool.startedAt === undefined
        ? []
        : without([spanOf(tool.startedAt, tool.result?.at, last)], union(waitsOf(tool, last))),
    ),
  ];
}

function spanOf(from: string, to: string | undefined, last: number): Span {
  const begin = timeOf(from) ?? 0;
  return { from: begin, to: Math.max(begin, timeOf(to) ?? last) };
}

function timeOf(at: string | undefined): number | undefined {
  const time = at === undefined ? Number.NaN : Date.parse(at);
  return Number.isNaN(time) ? undefined : time;
}
