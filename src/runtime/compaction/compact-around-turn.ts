/**
 * Runs a turn, and continues it if the context fills up: the turn ends as `incomplete: context`, the front is compacted
 * at the edge of a group, and a new turn continues automatically. This cannot loop forever: a turn that got nothing
 * done is followed by a shorter summary and then by the end, and all turns together share one limit of steps.
 */

import { addUsage, type EventDraft, NO_USAGE } from "../../base/events/index.ts";
import { opensTurn, sizeOf } from "../fold/index.ts";
import {
  isFull,
  runTurn,
  type TurnContext,
  type TurnLimits,
  type TurnOutcome,
  type TurnPlan,
} from "../turn/index.ts";
import { type CompactionOutcome, type CompactionPlan, runCompaction } from "./run-compaction.ts";

export interface CompactingOptions {
  /** Creates the context of a new turn; each turn has its own. Its limits are those below unless others are given. */
  readonly contextFor: (turn: string, kind: "turn" | "compaction", limits?: TurnLimits) => TurnContext;
  /** The signal of the caller that began the turn. The deadline of one turn does not stop those that follow. */
  readonly signal: AbortSignal;
  readonly newTurn: () => string;
  readonly limits: TurnLimits;
  /** The share of the context from which on to compact. If undefined, never automatically. */
  readonly compactAt: number | undefined;
  readonly contextTokens: number | undefined;
}

/** How the front is cut when a turn ran full, gentlest first. */
type Stage = "gentle" | "keep_message" | "short" | "shortest";

export async function runTurnCompacting(
  turn: string,
  plan: TurnPlan,
  options: CompactingOptions,
): Promise<TurnOutcome> {
  let context = options.contextFor(turn, "turn");
  let outcome = await runTurn(context, plan);
  let stage: Stage = "gentle";
  let byPerson = true;
  while (options.compactAt !== undefined && ranFull(outcome) && !options.signal.aborted) {
    let next = nextStage(stage, { didWork: outcome.responses > 0, byPerson });
    let made = await compactAfter(context, next, options);
    if (made === "nothing") {
      // Nothing precedes the message, so it alone is too long. Or only an earlier summary is left to cut.
      next = next === "keep_message" ? "shortest" : "short";
      made = await compactAfter(context, next, options);
    }
    if (made === "cancelled") return { ...outcome, status: "cancelled" };
    if (made === "failed") return outcome;
    if (next === "shortest") return endTooLong(context, outcome, byPerson || stage === "keep_message");
    stage = next;
    byPerson = false;
    const left = options.limits.maxSteps - outcome.steps;
    if (left < 1) return { ...outcome, status: "incomplete", reason: "max_steps" };
    context = options.contextFor(options.newTurn(), "turn", { ...options.limits, maxSteps: left });
    const { steps, usage } = outcome;
    outcome = await runTurn(context, { ...plan, ...continuation(context.turn) });
    outcome = { ...outcome, steps: steps + outcome.steps, usage: addUsage(usage, outcome.usage) };
  }
  return outcome;
}

/**
 * A turn ran full and the process died during its compaction. Compacts again, and continues the turn as it would have.
 * `closing` abandons the interrupted exchange; the plan's opening precedes the message that continues the turn.
 */
export async function compactAgainAndGoOn(
  turn: string,
  closing: readonly EventDraft[],
  { opening, judge }: Pick<TurnPlan, "opening" | "judge">,
  options: CompactingOptions,
): Promise<TurnOutcome> {
  const context = options.contextFor(options.newTurn(), "compaction");
  await context.live.append(closing);
  const made = await compactAfter(context, "gentle", options);
  const nothing = { text: "", steps: 0, responses: 0, usage: NO_USAGE };
  if (made === "cancelled") return { ...nothing, status: "cancelled" };
  const plan = continuation(turn);
  return runTurnCompacting(turn, { ...plan, opening: [...opening, ...plan.opening], judge }, options);
}

function ranFull(outcome: TurnOutcome): boolean {
  return outcome.status === "incomplete" && outcome.reason === "context";
}

/**
 * A turn that got something done is cut gently. If its very first request was too long, only the person's message is
 * kept and nothing before it; if even that does not fit, the message itself is too long. A turn that the runtime began
 * is cut short.
 */
function nextStage(stage: Stage, turn: { readonly didWork: boolean; readonly byPerson: boolean }): Stage {
  if (turn.didWork) return "gentle";
  if (turn.byPerson) return "keep_message";
  return stage === "gentle" ? "short" : "shortest";
}

async function compactAfter(
  context: TurnContext,
  stage: Stage,
  options: CompactingOptions,
): Promise<CompactionOutcome["status"]> {
  const own = options.contextFor(options.newTurn(), "compaction");
  const message = context.live.fold.entries.findLast(opensTurn);
  // If the model's context size is unknown, what did not fit shows how much is too much.
  const whole = context.live.fold.entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  const maxLength = Math.min(summaryLength(options.contextTokens), Math.max(SHORTEST, whole * SUMMARY_SHARE));
  const plans: Readonly<Record<Stage, CompactionPlan>> = {
    gentle: { keep: { share: KEPT_SHARE, wholeTurns: false }, ask: true, maxLength },
    keep_message: { keep: { from: message?.event.seq ?? 0 }, ask: true, maxLength },
    short: { keep: { turns: 0 }, ask: false, maxLength: Math.min(SHORT, maxLength) },
    shortest: { keep: { turns: 0 }, ask: false, maxLength: Math.min(SHORTEST, maxLength) },
  };
  return (await runCompaction(own, plans[stage])).status;
}

const KEPT_SHARE = 0.25;
const SUMMARY_SHARE = 0.15;
const SHORT = 2000;
const SHORTEST = 600;

/**
 * A share of the model's context, at four characters per token. If that is unknown, a length that any model accepts.
 */
export function summaryLength(contextTokens: number | undefined): number {
  if (contextTokens === undefined) return 16_000;
  return Math.round(Math.min(40_000, Math.max(SHORTEST, contextTokens * 4 * SUMMARY_SHARE)));
}

function continuation(turn: string): Pick<TurnPlan, "opening" | "owed" | "firstStep" | "answered"> {
  const text =
    "The conversation no longer fitted the context: its front was replaced by the summary above. Go on from where it stopped.";
  const content = [{ type: "text", text }] as const;
  const opening: readonly EventDraft[] = [{ type: "user_message", turn, by: "runtime", content }];
  return { opening, owed: [], firstStep: 1, answered: false };
}

async function endTooLong(
  context: TurnContext,
  outcome: TurnOutcome,
  message: boolean,
): Promise<TurnOutcome> {
  const what = message
    ? "the message alone is longer than the model's context. Later requests carry only its beginning. Send it in parts, or as a file that a tool can read"
    : "the conversation is still longer than the model's context after compaction. The instructions and tools may be too long for this model";
  const error = { ...(outcome.error ?? { code: "context", class: "LIMIT" as const }), message: what };
  try {
    await context.live.append(
      [{ type: "notice", turn: context.turn, code: "context_too_small", message: what }],
      { durable: true },
    );
  } catch {
    // The log has already reported it, and the outcome does too.
  }
  return { ...outcome, error };
}

/** Called before a turn: compacts while there is still room to write the summary. */
export async function compactBeforeTurn(
  options: CompactingOptions,
  opening: readonly EventDraft[],
): Promise<void> {
  const { compactAt, contextTokens } = options;
  if (compactAt === undefined) return;
  const context = options.contextFor(options.newTurn(), "compaction");
  if (!isFull(context.live.fold, contextTokens, compactAt)) return;
  await runCompaction(context, {
    opening,
    keep: { share: KEPT_SHARE, wholeTurns: true },
    ask: true,
    maxLength: summaryLength(contextTokens),
  });
}
