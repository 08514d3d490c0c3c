/**
 * One turn: from a user message to exactly one `turn_end`. It reads top to bottom: step (fold → request → check →
 * stream → record), then tools, then the next step, until the model has answered or a limit is reached.
 */

import {
  type AssistantMessage,
  type ErrorInfo,
  errorInfoOf,
  type EventDraft,
  type ToolCall,
  type TurnStatus,
  type Usage,
} from "../../base/events/index.ts";
import { codeOf, isThroughlineError, untilAborted } from "../../base/support/index.ts";
import { CUT_OFF, type Group } from "../fold/index.ts";
import { LOG_TOO_LARGE } from "../log/index.ts";
import { remedyFor } from "../providers/index.ts";
import { Budget, type OverBudget } from "./budget.ts";
import { isFull, pressureNotice } from "./context-use.ts";
import { factsOfTurn, type TurnContext } from "./context.ts";
import { joinMessages } from "./join-messages.ts";
import { closeCall, openCalls } from "./recover.ts";
import { runCalls, settleAll } from "./run-calls.ts";
import { runStep } from "./step.ts";

export interface TurnOutcome {
  readonly status: TurnStatus;
  readonly reason?: string;
  readonly error?: ErrorInfo;
  readonly text: string;
  readonly steps: number;
  /** How many of its responses completed. */
  readonly responses: number;
  readonly usage: Usage;
}

export interface TurnPlan {
  /** The events that open the turn: recovery of an earlier turn, the branch, the user's message. */
  readonly opening: readonly EventDraft[];
  /** Calls an interrupted turn still has to run, before the first step. */
  readonly owed: readonly ToolCall[];
  readonly firstStep: number;
  /** The interrupted turn already had its answer; only the check of the answer and the end are missing. */
  readonly answered?: boolean;
  /** Checks the final answer. A returned message is sent to the model as a correction, once. */
  readonly judge?: ((text: string) => Promise<string | undefined>) | undefined;
}

type Ending = Pick<TurnOutcome, "status" | "reason" | "error">;

export async function runTurn(given: TurnContext, plan: TurnPlan): Promise<TurnOutcome> {
  let context = given;
  const { deadline } = context;
  const started = context.clock.monotonic();
  let steps = plan.firstStep - 1;
  let ending: Ending;
  let begun = false;
  try {
    if (plan.opening.length > 0) await context.live.append(plan.opening, { turn: "begin" });
    begun = true;
    context = await settled(context);
    const over = plan.owed.length > 0 ? new Budget(context).over() : undefined;
    if (over !== undefined) ending = await stopBefore(context, plan.owed, over);
    else {
      if (plan.owed.length > 0) await runCalls({ ...context, resumed: true }, plan.owed);
      ending =
        plan.answered === true && plan.judge === undefined
          ? { status: "completed" }
          : await loop(context, plan, () => (steps += 1));
    }
  } catch (error) {
    // Only the log can fail here. A failure of a provider or tool is an ordinary ending.
    ending = refusedBy(error);
  } finally {
    deadline?.stop();
  }
  if (ending.status === "cancelled") ending = stoppedBy(context);
  const { text, usage, requests } = factsOfTurn(context);
  const end: EventDraft = {
    type: "turn_end",
    turn: context.turn,
    ...ending,
    steps,
    usage,
    durationMs: Math.round(context.clock.monotonic() - started),
  };
  const responses = requests.filter(({ end: one }) => one?.status === "completed").length;
  const outcome: TurnOutcome = { ...ending, text, steps, responses, usage };
  const tooLarge = ending.error?.code === LOG_TOO_LARGE;
  // A turn refused before its first event does not exist. Its end alone would enlarge a log that is already too large, or
  // would be the first event of a session that never started.
  if (!begun && (tooLarge || ending.error?.code === "event_invalid")) return outcome;
  const { lostBy } = context.live;
  const refused = (error: unknown): TurnOutcome =>
    outcome.status === "failed" ? outcome : { ...outcome, ...refusedBy(error) };
  if (lostBy !== undefined) return refused(lostBy);
  try {
    if (tooLarge) await settleOpenCalls(context);
    await context.live.append([end], { durable: true, turn: "end" });
    return outcome;
  } catch (error) {
    return refused(error);
  }
}

/** The message is in the log by now: a server that takes its time cannot lose it. */
async function settled(context: TurnContext): Promise<TurnContext> {
  if (context.settle === undefined) return context;
  const { tools, notices } = await context.settle();
  const { turn } = context;
  if (notices.length > 0)
    await context.live.append(notices.map(({ code, message }) => ({ type: "notice", turn, code, message })));
  return { ...context, tools };
}

/** Another writer continues the session and decides how the turn ends; until then its outcome is unknown. */
function refusedBy(error: unknown): Ending {
  const info = errorInfoOf(error);
  const goesOn = info.code === "session_fenced" || info.code === SESSION_HANDED_OVER;
  return { status: goesOn ? "interrupted" : "failed", error: info };
}

/** Codes of the signal's reason that stop a turn. Any other reason is an event that the log refused. */
export const TURN_CANCELLED = "turn_cancelled";
export const SESSION_CLOSED = "session_closed";
/** The turn is left open in the log, and another node goes on with it. */
export const SESSION_HANDED_OVER = "session_handed_over";

/** How a turn ends whose signal was aborted. */
export function stoppedBy({ signal, deadline }: Pick<TurnContext, "signal" | "deadline">): Ending {
  if (deadline?.ranOut === true) return { status: "incomplete", reason: "time" };
  const { reason } = signal as { readonly reason: unknown };
  const code = isThroughlineError(reason) ? reason.code : TURN_CANCELLED;
  return code === TURN_CANCELLED || code === SESSION_CLOSED ? { status: "cancelled" } : refusedBy(reason);
}

/** The log had no room for the turn in progress. Calls without a result get one now, as after a crash. */
async function settleOpenCalls({ live, turn }: TurnContext): Promise<void> {
  const open = live.openTurn;
  const results = open === undefined ? [] : openCalls(open);
  try {
    await live.append(results.map(({ group, call }) => closeCall(turn, group, call)));
  } catch (error) {
    if (codeOf(error) !== LOG_TOO_LARGE) throw error; // requests say the same about a call without a result
  }
}

/** Claude's stop reasons for a long turn of server tools, and for a summary made before the answer (failures.md §3). */
const PAUSED = "pause_turn";
const SUMMARISED = "compaction";

async function loop(context: TurnContext, plan: TurnPlan, nextStep: () => number): Promise<Ending> {
  const { limits, signal } = context;
  const repeats = new RepeatGuard(limits.maxRepeats);
  const budget = new Budget(context);
  let nudged = false;
  let complained = correctedBefore(context);
  /** Returns how the turn ends with this answer, or undefined if the model was told to answer again. */
  const judged = async (
    group: Group | undefined,
    step: number,
    over: OverBudget | undefined,
  ): Promise<Ending | undefined> => {
    const text = textOf(group).trim();
    const judging = text === "" ? undefined : plan.judge?.(text);
    const complaint = judging && (await untilAborted(judging, signal)); // the schema may be the caller's own code
    if (judging !== undefined && signal.aborted) return { status: "cancelled" };
    if (over !== undefined && (text === "" || complaint !== undefined)) return over.ending;
    const last = step >= limits.maxSteps; // then nothing is asked again
    if (text === "" && !nudged && !last) {
      // A completed response that only thought is asked again once, with a different request (failures.md R09).
      nudged = true;
      await context.live.append([runtimeMessage(context, "Your last response had no text. Answer now.")]);
      return undefined;
    }
    if (text === "") return { status: "incomplete", reason: "empty_response" };
    if (complaint === undefined) return { status: "completed" };
    if (complained || last)
      return { status: "failed", error: { code: "output_invalid", message: complaint } };
    complained = true;
    await context.live.append([
      runtimeMessage(context, `${MISFIT}${complaint}. Answer again with the corrected JSON only.`),
    ]);
    return undefined;
  };
  if (plan.answered === true) {
    const ending = await judged(lastGroupOf(context), plan.firstStep - 1, budget.over());
    if (ending !== undefined) return ending;
  }
  for (;;) {
    if (signal.aborted) return { status: "cancelled" };
    const before = budget.over();
    if (before !== undefined) return before.ending;
    await joinMessages(context);
    const step = nextStep();
    const { response, end, over: stopped } = await runStep(context, step, budget);
    const group = context.live.fold.group(response);
    const calls = group?.calls ?? [];
    const { contextTokens } = context.live.fold.settings?.capabilities ?? {};
    const { turn, compactAt } = context;
    const pressure = pressureNotice(context.live.fold, { turn, contextTokens, compactAt });
    if (pressure.length > 0) await context.live.append(pressure);

    if (end.status === "cancelled") return { status: "cancelled" };
    if (end.status === "incomplete") {
      await context.live.append(settleAll(context, calls, CUT_OFF));
      return { status: "incomplete", reason: contextReason(end.reason) };
    }
    if (stopped !== undefined) return stopped.ending;
    if (end.status !== "completed") return failure(end.error);
    const over = budget.over();
    if ((end.reason === PAUSED || end.reason === SUMMARISED) && calls.length === 0) {
      // The provider paused its own work: its output is sent back unchanged, and it continues. The step ends, not the
      // turn.
      if (over !== undefined) return over.ending;
      if (step >= limits.maxSteps) return { status: "incomplete", reason: "max_steps" };
      // A request must not end with the model's own text (failures.md C08), but may end with a server tool.
      if (end.reason === SUMMARISED || !goesOnAlone(context))
        await context.live.append([runtimeMessage(context, "Go on.")]);
      continue;
    }

    if (calls.length > 0) {
      if (step >= limits.maxSteps)
        return stopBefore(
          context,
          calls,
          atLimit("max_steps", `the turn reached its limit of ${limits.maxSteps} steps`),
        );
      if (over !== undefined) return stopBefore(context, calls, over);
      if (repeats.tooOften(calls))
        return stopBefore(
          context,
          calls,
          atLimit("loop", `the same calls came ${limits.maxRepeats} times in a row`),
        );
      await runCalls(context, calls);
      if (compactAt !== undefined && !signal.aborted && isFull(context.live.fold, contextTokens, compactAt))
        return { status: "incomplete", reason: "context" };
      continue;
    }
    const ending = await judged(group, step, over);
    if (ending !== undefined) return ending;
  }
}

/** How the correction of an answer begins. */
const MISFIT = "Your answer does not fit the required format: ";

/** An answer is corrected once per turn, even if the process died after the correction. */
function correctedBefore({ live, turn }: TurnContext): boolean {
  return live.fold.entries.some(
    (entry) =>
      entry.kind === "user" &&
      entry.event.turn === turn &&
      entry.event.by === "runtime" &&
      entry.event.content.some((part) => part.type === "text" && part.text.startsWith(MISFIT)),
  );
}

function lastGroupOf({ live, turn }: TurnContext): Group | undefined {
  return live.fold.entries.findLast(
    (entry): entry is Group => entry.kind === "group" && entry.start.turn === turn,
  );
}

/** Whether the next request ends with a server tool, judged by what is sent: a result without its call is not sent. */
function goesOnAlone({ live }: TurnContext): boolean {
  const last = live.fold.plan()?.entries.at(-1);
  if (last?.kind !== "group") return true;
  return last.items.some(
    ({ action, event }) => action !== "omit" && /._tool_(?:use|result)$/.test(event.itemType),
  );
}

/** Some providers answer with what still fitted instead of refusing. */
function contextReason(reason: string | undefined): string {
  return reason === "model_context_window_exceeded" ? "context" : (reason ?? "unknown");
}

function failure(error: ErrorInfo | undefined): Ending {
  if (error !== undefined && remedyFor(error).remedy === "compact") {
    const reason = error.code === "max_output_tokens" ? "max_output_tokens" : "context";
    return { status: "incomplete", reason, error };
  }
  return {
    status: "failed",
    error: error ?? { code: "unknown", message: "the response failed without saying why" },
  };
}

async function stopBefore(
  context: TurnContext,
  calls: readonly ToolCall[],
  { ending, why }: OverBudget,
): Promise<Ending> {
  await context.live.append(
    settleAll(context, calls, { status: "not_executed", text: `not executed: ${why}` }),
  );
  return ending;
}

function atLimit(reason: string, why: string): OverBudget {
  return { ending: { status: "incomplete", reason }, why };
}

function runtimeMessage(context: TurnContext, text: string): EventDraft {
  return { type: "user_message", turn: context.turn, by: "runtime", content: [{ type: "text", text }] };
}

function textOf(group: Group | undefined): string {
  return (group?.items ?? [])
    .filter((item): item is AssistantMessage => item.type === "assistant_message")
    .map((message) => (message.text === "" ? (message.refusal ?? "") : message.text))
    .join("\n\n");
}

class RepeatGuard {
  readonly #max: number;
  #last = "";
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  tooOften(calls: readonly ToolCall[]): boolean {
    const now = JSON.stringify(calls.map(({ name, arguments: text }) => [name, text]));
    this.#count = now === this.#last ? this.#count + 1 : 1;
    this.#last = now;
    return this.#count > this.#max;
  }
}
