/** The trace as rows of a tree: turns, steps, and what happened in them. Rows of closed nodes are not made. Pure. */

import type { ResponseStatus } from "../../../base/events/index.ts";
import type { SessionFacts } from "../../../runtime/facts/index.ts";
import { callFailed, callTitle, resultWords } from "./call-words.ts";
import { counted, exactTime, shortTime } from "./figures.ts";
import { type PartTrace, partsOf, type StepTrace, traceOfTurn, type TurnTrace } from "./turn-trace.ts";

export type Bar = "span" | "thinking" | "tool" | "answer" | "failed" | "wait";

export interface TraceRow {
  readonly id: string;
  readonly parent: string | undefined;
  readonly level: 1 | 2 | 3;
  readonly position: number;
  readonly siblings: number;
  /** Undefined for a row that has nothing below it. */
  readonly open: boolean | undefined;
  readonly sign: "thought" | "ok" | "bad" | "wait" | "answer" | "live" | undefined;
  readonly label: string;
  readonly bar: { readonly kind: Bar; readonly from: number; readonly to: number };
  readonly time: string;
  readonly bad: boolean;
  /** The event whose block it leads to. */
  readonly seq: number | undefined;
  /** The block it leads to, if no event of it is logged yet. */
  readonly block?: string | undefined;
}

export interface Trace {
  readonly head: string;
  readonly times: string;
  readonly workedMs: number;
  readonly rows: readonly TraceRow[];
  /** True if older rows were left out. */
  readonly cut: boolean;
}

export interface TraceOptions {
  /** What a person opened and closed. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** About how many rows are made, the newest. A step is not torn apart. */
  readonly most: number;
  readonly busy: boolean;
  /** What is being generated and not logged yet, in the last step. */
  readonly generating: { readonly block: string; readonly kind: "thought" | "answer" } | undefined;
  /** Turns on other branches. */
  readonly isLeft: (seq: number) => boolean;
}

/** How many rows are open before a person opens any. */
const OPEN_ROWS = 60;

export function traceOf(facts: SessionFacts, options: TraceOptions): Trace {
  const turns = [...facts.turns.values()].map(traceOfTurn);
  const begins: number[] = [];
  let workedMs = 0;
  let waitedMs = 0;
  let steps = 0;
  for (const { clock, waitedMs: waited, steps: own } of turns) {
    begins.push(workedMs);
    workedMs += clock.length;
    waitedMs += waited;
    steps += own.length;
  }
  const rows: TraceRow[] = [];
  let budget = OPEN_ROWS;
  let cut = false;
  let at = turns.length - 1;
  // From the newest back, so that a session of thousands of turns costs no more than what is shown.
  for (; at >= 0 && rows.length < options.most; at -= 1) {
    const turn = turns[at] as TurnTrace;
    const most = options.most - rows.length;
    const place = { begin: begins[at] ?? 0, number: at + 1, turns: turns.length, budget, most };
    const made = turnRows(turn, place, options);
    budget -= made.rows.length;
    cut = made.cut;
    rows.unshift(...made.rows);
  }
  return {
    head: `${counted(turns.length, "turn")}, ${counted(steps, "step")}`,
    times: `${exactTime(workedMs)} worked${waitedMs === 0 ? "" : `, ${shortTime(waitedMs)} waited for you`}`,
    workedMs,
    rows,
    cut: at >= 0 || cut,
  };
}

interface Placed {
  /** Where the turn begins on the clock of the session. */
  readonly begin: number;
  readonly number: number;
  readonly turns: number;
  /** How many rows may still be open by themselves. */
  readonly budget: number;
  /** How many rows may still be made. */
  readonly most: number;
}

interface Made {
  readonly rows: readonly TraceRow[];
  /** True if the first steps were left out. */
  readonly cut: boolean;
}

function turnRows(trace: TurnTrace, place: Placed, options: TraceOptions): Made {
  const { turn, clock, steps } = trace;
  const live = options.busy && turn.end === undefined;
  const isOpen = steps.length > 0 && (options.opened.get(turn.turn) ?? place.budget > 0);
  const status = turn.end?.status;
  const words = [
    `Turn ${place.number}`,
    ...(turn.requests[0]?.start.purpose === "compaction" ? ["compaction"] : []),
    ...(status === undefined || status === "completed" ? [] : [ENDINGS[status]]),
    ...(options.isLeft(turn.firstSeq) ? ["another branch"] : []),
  ];
  const row: TraceRow = {
    id: turn.turn,
    parent: undefined,
    level: 1,
    position: place.number,
    siblings: place.turns,
    open: steps.length === 0 ? undefined : isOpen,
    sign: undefined,
    label: words.join(" · "),
    bar: { kind: "span", from: place.begin, to: place.begin + clock.length },
    time: exactTime(clock.length),
    bad: status === "failed",
    seq: turn.message?.seq,
  };
  if (!isOpen) return { rows: [row], cut: false };
  let { budget } = place;
  const below: TraceRow[] = [];
  let at = steps.length - 1;
  for (; at >= 0 && below.length < place.most; at -= 1) {
    const step = steps[at] as StepTrace;
    const isLast = at === steps.length - 1;
    const made = stepRows(trace, step, { ...place, budget, position: at + 1, live: live && isLast }, options);
    budget -= made.length;
    below.push(...made.toReversed());
  }
  return { rows: [row, ...below.toReversed()], cut: at >= 0 };
}

interface StepPlace extends Placed {
  readonly position: number;
  readonly live: boolean;
}

function stepRows(
  trace: TurnTrace,
  step: StepTrace,
  place: StepPlace,
  options: TraceOptions,
): readonly TraceRow[] {
  const id = `${trace.turn.turn}/${place.position}`;
  const last = step.attempts.at(-1);
  const attempt = last?.start.attempt ?? 1;
  const isOpen = options.opened.get(id) ?? place.budget > 0;
  const parts = isOpen ? partsOf(trace, step) : [];
  const generating = isOpen && place.live ? options.generating : undefined;
  const below = parts.length + (generating === undefined ? 0 : 1);
  const row: TraceRow = {
    id,
    parent: trace.turn.turn,
    level: 2,
    position: place.position,
    siblings: trace.steps.length,
    open: isOpen && below === 0 ? undefined : isOpen,
    sign: place.live ? "live" : undefined,
    label: `Step ${step.step} · request ${last?.request ?? ""}${attempt > 1 ? `, attempt ${attempt}` : ""}`,
    bar: { kind: "span", from: place.begin + step.span.from, to: place.begin + step.span.to },
    time: exactTime(step.span.to - step.span.from),
    bad: false,
    seq: undefined,
  };
  const inStep = (index: number) =>
    ({
      id: `${id}/${index}`,
      parent: id,
      level: 3,
      position: index + 1,
      siblings: below,
      open: undefined,
    }) as const;
  const end = row.bar.to;
  return [
    row,
    ...parts.map((part, index) => ({
      ...inStep(index),
      ...partRow(part, place.live),
      bar: { kind: barOf(part), from: place.begin + part.span.from, to: place.begin + part.span.to },
    })),
    ...(generating === undefined
      ? []
      : [
          {
            ...inStep(parts.length),
            sign: "live" as const,
            label: generating.kind === "thought" ? "Thinks" : "Answers",
            bar: {
              kind: generating.kind === "thought" ? ("thinking" as const) : ("answer" as const),
              from: end,
              to: end,
            },
            time: "",
            bad: false,
            seq: undefined,
            block: generating.block,
          },
        ]),
  ];
}

const ENDINGS = {
  incomplete: "reached a limit",
  failed: "failed",
  cancelled: "stopped",
  interrupted: "interrupted",
} as const;

const ATTEMPTS: Readonly<Record<ResponseStatus, string>> = {
  completed: "completed",
  incomplete: "incomplete",
  failed: "failed",
  cancelled: "stopped",
  cut: "cut",
};

function barOf(part: PartTrace): Bar {
  switch (part.kind) {
    case "attempt":
      return "failed";
    case "thought":
      return "thinking";
    case "wait":
    case "answer":
      return part.kind;
    case "tool":
      return callFailed(part.tool.call, part.tool.result) ? "failed" : "tool";
    default:
      return part satisfies never;
  }
}

type PartWords = Pick<TraceRow, "sign" | "label" | "time" | "bad" | "seq">;

function partRow(part: PartTrace, live: boolean): PartWords {
  switch (part.kind) {
    case "attempt":
      return {
        sign: "bad",
        label: `Attempt ${part.request.start.attempt}, ${ATTEMPTS[part.status]}`,
        time: exactTime(part.ms),
        bad: true,
        seq: part.request.thoughts[0]?.seq ?? part.request.start.seq,
      };
    case "thought": {
      const parts = part.thoughts.reduce((sum, one) => sum + one.parts.length, 0);
      return {
        sign: "thought",
        label: parts === 0 ? "Thought, no summary" : `Thought, ${counted(parts, "part")}`,
        time: exactTime(part.ms),
        bad: false,
        seq: part.thoughts[0]?.seq,
      };
    }
    case "wait":
      return {
        sign: "wait",
        label:
          live && part.tool.result === undefined && part.tool.waits?.at(-1)?.to === undefined
            ? "Waits for you"
            : "Waited for you",
        time: shortTime(part.ms),
        bad: false,
        seq: part.tool.call.seq,
      };
    case "answer":
      return { sign: "answer", label: "Answer", time: exactTime(part.ms), bad: false, seq: part.seq };
    case "tool": {
      const { call, result } = part.tool;
      const bad = callFailed(call, result);
      const ended = result === undefined ? undefined : resultWords(call, result);
      const told = ended !== undefined && (bad || ended.startsWith("exit"));
      return {
        sign: bad ? "bad" : result === undefined ? (live ? "live" : undefined) : "ok",
        label: told ? `${callTitle(call)}, ${ended}` : callTitle(call),
        time: part.ms === undefined ? "" : exactTime(part.ms),
        bad,
        seq: call.seq,
      };
    }
    default:
      return part satisfies never;
  }
}
