/**
 * Runs the turns of a session: prepares their opening events, keeps their output schemas, and gives a turn that was
 * cancelled while waiting its end.
 */

import { type TurnEnding, type TurnResult, turnResult } from "../../base/api/index.ts";
import {
  type Branch,
  errorInfoOf,
  type EventDraft,
  NO_USAGE,
  type SessionParent,
  type Settings,
} from "../../base/events/index.ts";
import { codeOf, VERSION } from "../../base/support/index.ts";
import {
  compactAgainAndGoOn,
  type CompactingOptions,
  compactNow,
  runTurnCompacting,
  turnThatRanFull,
} from "../compaction/index.ts";
import { type LiveLog, stoppedBy, TURN_CANCELLED, type TurnOutcome, type TurnPlan } from "../turn/index.ts";
import { JudgedAnswer, type OutputFormat } from "./output-schema.ts";
import type { TurnContexts } from "./turn-contexts.ts";
import type { TurnHandle } from "./turn-handle.ts";
import { settingsAhead, TurnOutputs } from "./turn-outputs.ts";
import type { TurnQueue } from "./turn-queue.ts";
import type { TurnOverrides } from "./turn-setup.ts";

export interface TurnRunnerParts {
  readonly live: LiveLog;
  readonly contexts: TurnContexts;
  readonly turns: TurnQueue;
  readonly cwd: string | undefined;
  /** The call that a new session is the sub-agent of. */
  readonly parent: SessionParent | undefined;
}

/** A turn as it is about to begin. */
export interface PreparedTurn {
  readonly plan: TurnPlan;
  readonly overrides: TurnOverrides;
}

/** How a turn on a new branch begins. */
export interface BranchStart {
  readonly branch: Pick<Branch, "to" | "why">;
  /** The turn whose output schema it has, unless another was given. */
  readonly sameAs: string | undefined;
  /** The events after the branch. */
  readonly drafts: readonly EventDraft[];
}

type TurnWork = (plan: TurnPlan, options: CompactingOptions) => Promise<TurnOutcome>;

export class TurnRunner {
  readonly #parts: TurnRunnerParts;
  readonly outputs: TurnOutputs;

  constructor(parts: TurnRunnerParts) {
    this.#parts = parts;
    this.outputs = new TurnOutputs(parts.live);
  }

  /** A turn that begins at its first step, after closing what a crash left open. */
  async opening(
    turn: string,
    overrides: TurnOverrides,
    drafts: () => Promise<readonly EventDraft[]>,
  ): Promise<PreparedTurn> {
    const opening = [
      ...(await this.#parts.live.closing()),
      ...this.settingsAhead(turn, overrides),
      ...(await drafts()),
    ];
    return { plan: { opening, owed: [], firstStep: 1 }, overrides };
  }

  /** The same on a new branch. */
  async openingOnBranch(
    turn: string,
    { branch, sameAs, drafts }: BranchStart,
    given: OutputFormat | undefined,
  ): Promise<PreparedTurn> {
    const { live } = this.#parts;
    const overrides = { output: given ?? this.outputs.of(sameAs) };
    const ahead = this.#settingsAfter(live.facts.settingsAt(branch.to), turn, overrides);
    const opening = [
      ...(await live.closing()),
      { type: "branch", turn, ...branch } as const,
      ...ahead,
      ...drafts,
    ];
    return { plan: { opening, owed: [], firstStep: 1 }, overrides };
  }

  /** The settings event of a turn with another output schema than the path has at its end. */
  settingsAhead(turn: string, overrides: TurnOverrides): readonly EventDraft[] {
    const { openTurn, facts, fold } = this.#parts.live;
    const before = openTurn?.kind === "compaction" ? facts.settingsAt(openTurn.leadsBackTo) : fold.settings;
    return this.#settingsAfter(before, turn, overrides);
  }

  #settingsAfter(
    before: Settings | undefined,
    turn: string,
    overrides: TurnOverrides,
  ): readonly EventDraft[] {
    return settingsAhead(turn, this.#parts.contexts.settings(overrides), before);
  }

  async run(
    handle: TurnHandle,
    turn: string,
    prepare: () => Promise<PreparedTurn>,
    work: TurnWork = (plan, options) => runTurnCompacting(turn, plan, options),
  ): Promise<TurnResult> {
    if (this.#isStopped(handle)) return { ...NOTHING, status: "cancelled" };
    try {
      const { plan, overrides } = await prepare();
      const { output } = overrides;
      const opening = [...this.sessionStart(), ...plan.opening];
      const judged = output && new JudgedAnswer(output);
      const judge = judged && ((text: string) => judged.complaint(text));
      const around = this.#parts.contexts.around(handle.signal, overrides);
      const newTurn = (): string => this.outputs.keep(around.newTurn(), output); // it may continue this turn
      this.outputs.keep(turn, output);
      const outcome = await work({ ...plan, opening, judge }, { ...around, newTurn });
      return turnResult({ ...outcome, output: judged?.value });
    } catch (error) {
      return { ...NOTHING, status: "failed", error: errorInfoOf(error) };
    }
  }

  /** Runs an interrupted compaction again. If it was made for a turn that ran full, that turn then continues. */
  async finishCompaction(
    handle: TurnHandle,
    turn: string,
    given: OutputFormat | undefined,
  ): Promise<TurnResult> {
    const nothing = this.nothingToDo(handle);
    if (nothing !== undefined) return nothing;
    const { live, contexts } = this.#parts;
    const closing = await live.closing();
    const full = turnThatRanFull(live.log.events);
    if (full === undefined)
      return compactNow(contexts.around(handle.signal, {}).contextFor(turn, "compaction"), closing, {});
    const prepare = async (): Promise<PreparedTurn> => {
      const overrides = { output: given ?? this.outputs.of(full) };
      const opening = this.settingsAhead(turn, overrides);
      return { plan: { opening, owed: [], firstStep: 1 }, overrides };
    };
    return this.run(handle, turn, prepare, (plan, options) =>
      compactAgainAndGoOn(turn, closing, plan, options),
    );
  }

  /** A turn that was cancelled begins or goes on all the same: the log then has its end. */
  #isStopped({ signal, abortedBefore }: TurnHandle): boolean {
    if (this.#parts.turns.closed || abortedBefore) return true;
    return signal.aborted && codeOf(signal.reason) !== TURN_CANCELLED;
  }

  nothingToDo(handle: TurnHandle): TurnResult | undefined {
    const isOver = handle.signal.aborted || this.#parts.turns.closed;
    return isOver ? { ...NOTHING, status: "cancelled" } : undefined;
  }

  /** A turn that was cancelled while waiting still gets its end, so that its id cannot start a turn later. */
  async unbegun({ signal, abortedBefore }: TurnHandle, turn: string): Promise<TurnResult | undefined> {
    if (!signal.aborted) return this.#parts.turns.closed ? { ...NOTHING, status: "cancelled" } : undefined;
    const result = turnResult({ ...NOTHING, ...stoppedBy({ signal }) });
    if (abortedBefore || codeOf(signal.reason) !== TURN_CANCELLED) return result;
    try {
      await this.endUnbegun(turn, result);
      return result;
    } catch (error) {
      return { ...NOTHING, status: "failed", error: errorInfoOf(error) };
    }
  }

  async endUnbegun(turn: string, { status, error }: Pick<TurnEnding, "status" | "error">): Promise<void> {
    const end: EventDraft = {
      type: "turn_end",
      turn,
      status,
      error,
      steps: 0,
      usage: NO_USAGE,
      durationMs: 0,
    };
    await this.#parts.live.append([...this.sessionStart(), end], { durable: true, turn: "end" });
  }

  /** The first event of a new log; nothing for a log that has begun. */
  sessionStart(): readonly EventDraft[] {
    const { live, cwd, parent } = this.#parts;
    if (live.log.events.length > 0) return [];
    const { session } = live.log;
    return [{ type: "session_start", session, root: session, parent, writer: WRITER, cwd }];
  }
}

const NOTHING = { text: "", steps: 0, usage: NO_USAGE };

const WRITER = `throughline/${VERSION}`;
