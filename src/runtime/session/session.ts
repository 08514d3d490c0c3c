/** The local session: one log, one turn at a time. */

import {
  type CompactOptions,
  type ForkOptions,
  type Input,
  type RetryOptions,
  type SwitchPreview,
  type Turn,
  type TurnOptions,
  type TurnResult,
  type TurnEnding,
  turnResult,
} from "../../base/api/index.ts";
import { errorInfoOf, type EventDraft, NO_USAGE, type SessionParent } from "../../base/events/index.ts";
import {
  aSeq,
  asErrorCode,
  checkArgument,
  codedError,
  codeOf,
  createIdSource,
  type IdSource,
  systemClock,
  VERSION,
} from "../../base/support/index.ts";
import {
  assertKeepTurns,
  compactBeforeTurn,
  compactNow,
  finishCompaction,
  runTurnCompacting,
} from "../compaction/index.ts";
import { createRedactor, type Log, type Store } from "../log/index.ts";
import type { Model } from "../providers/index.ts";
import { closeCall, LiveLog, resumePlan, stoppedBy, TURN_CANCELLED, type TurnPlan } from "../turn/index.ts";
import { assertInput, assertMethodOptions, assertSteers } from "./agent-options.ts";
import { forkInto } from "./fork.ts";
import {
  endCut,
  endOfTurnAt,
  frontCut,
  lastMessageOf,
  previousOnPath,
  retryFrom,
  undoTo,
} from "./history-edits.ts";
import { toContent } from "./input.ts";
import { keptSteps } from "./kept-steps.ts";
import { knownPrices } from "./known-prices.ts";
import { createOutputFormat, JudgedAnswer } from "./output-schema.ts";
import { switchPreview } from "./previews.ts";
import { SessionView } from "./session-view.ts";
import { settingsFor } from "./settings.ts";
import { cleanTitle, titleOf } from "./title.ts";
import { TurnContexts } from "./turn-contexts.ts";
import type { TurnHandle } from "./turn-handle.ts";
import { TurnQueue, type TurnWork } from "./turn-queue.ts";
import type { TurnOverrides } from "./turn-setup.ts";
import type { AgentOptions, InferOutput, OutputSchema, SendOptions, Session } from "./types.ts";

export interface LocalSessionParts {
  readonly log: Log;
  /** Whether a process holds the session as its writer: this one, if it is opened to write. */
  readonly writerLives: boolean;
  readonly store: Store;
  readonly options: AgentOptions;
  /** The call that a new session is the sub-agent of. */
  readonly parent?: SessionParent | undefined;
  /** Opens a fork with the same agent. */
  readonly open: (id: string) => Promise<Session>;
}

export class LocalSession extends SessionView implements Session {
  readonly #parts: LocalSessionParts;
  readonly #live: LiveLog;
  readonly #ids: IdSource;
  readonly #redact: (text: string) => string;
  readonly #contexts: TurnContexts;
  readonly #seenModels = new Set<Model>();
  readonly #turns: TurnQueue;

  constructor(parts: LocalSessionParts) {
    const { log, options } = parts;
    const clock = options.clock ?? systemClock;
    const live = new LiveLog(log, parts.writerLives);
    super(live, options);
    this.#parts = parts;
    this.#live = live;
    this.#ids = createIdSource(() => clock.now());
    this.#turns = new TurnQueue(live, this.#ids);
    for (const model of [options.model, ...(options.fallback ?? [])]) this.#seenModels.add(model);
    this.#redact = createRedactor(() => [
      ...(options.secrets ?? []),
      ...[...this.#seenModels].flatMap((model) => model.secrets()),
    ]);
    this.#contexts = new TurnContexts({
      live,
      store: parts.store,
      options,
      ids: this.#ids,
      model: () => this.model,
      redact: this.#redact,
      costOf: knownPrices(this.#seenModels, options),
      join: (turn) => this.#turns.join(turn),
    });
  }

  get interrupted(): boolean {
    // A turn that another process is running is not interrupted.
    if (this.#turns.busy || (this.access === "read" && this.writer === "live")) return false;
    return this.#live.openTurn !== undefined;
  }

  get busy(): boolean {
    return this.#turns.busy;
  }

  send<Schema extends OutputSchema>(
    input: Input,
    options: SendOptions & { readonly output: Schema },
  ): Turn<InferOutput<Schema>>;
  send(input: Input, options: SendOptions & { readonly whenBusy: "steer" }): Turn;
  send(input: Input, options?: SendOptions & { readonly output?: undefined }): Turn<undefined>;
  send(input: Input, options?: SendOptions): Turn;
  send(input: Input, options: SendOptions = {}): Turn {
    assertMethodOptions("send", options);
    assertInput(input);
    this.#assertRoom();
    if (options.whenBusy === "reject" && this.#turns.busy) {
      throw codedError("session_busy", `session "${this.id}" is in the middle of a turn`);
    }
    const steers = options.whenBusy === "steer";
    if (steers) assertSteers(options);
    const named = options.model === undefined ? undefined : this.modelOf(options.model);
    const model = options.effort === undefined ? named : (named ?? this.model).withEffort(options.effort);
    if (model !== undefined) this.#seenModels.add(model); // its key must not reach the log either
    const output = options.output === undefined ? undefined : createOutputFormat(options.output);
    const overrides = { model, output };
    const content = steers ? () => toContent(input, this.#live.log) : undefined;
    const work: TurnWork = async (own, id) => {
      const unbegun = await this.#unbegun(own, id);
      if (unbegun !== undefined) return unbegun;
      await compactBeforeTurn(this.#contexts.around(own.signal, overrides), await this.#live.closing());
      const drafts = async (): Promise<readonly EventDraft[]> => [
        await this.#userMessage(id, input),
        ...this.#firstTitle(input),
      ];
      return (await this.#unbegun(own, id)) ?? this.#run(own, id, overrides, () => this.#opening(drafts));
    };
    return this.#turns.add(options, work, { content });
  }

  resume(options: TurnOptions = {}): Turn {
    assertMethodOptions("resume", options);
    const open = this.#live.openTurn;
    if (open === undefined || !this.interrupted) {
      throw codedError("nothing_to_resume", `session "${this.id}" has no interrupted turn`);
    }
    if (open.kind === "compaction")
      return this.#turns.add(options, (own, id) => this.#finishCompaction(own, id));
    this.#assertRoom();
    const tools = this.#parts.options.tools ?? [];
    const fellBackTo = this.#live.facts.turns.get(open.turn)?.fellBackTo;
    const prepare = async (): Promise<TurnPlan> =>
      resumePlan(open, await this.#live.log.scratch.rows(), tools);
    return this.#turns.add(
      { ...options, turn: open.turn },
      (own, turn) => this.#run(own, turn, { fellBackTo }, prepare),
      { again: true },
    );
  }

  async #finishCompaction(own: TurnHandle, turn: string): Promise<TurnResult> {
    const nothing = this.#nothingToDo(own);
    if (nothing !== undefined) return nothing;
    const { events } = this.#live.log;
    return finishCompaction(turn, events, await this.#live.closing(), this.#contexts.around(own.signal, {}));
  }

  retry(options: RetryOptions = {}): Turn {
    assertMethodOptions("retry", options);
    if (lastMessageOf(this.#live.path) === undefined) {
      throw codedError("nothing_to_retry", "there is no message to answer again");
    }
    return this.#begin(options, async (turn) => {
      const { path, fold, openTurn } = this.#live;
      const kept =
        options.from === "message" || openTurn !== undefined ? undefined : keptSteps(path, fold.entries);
      if (kept === undefined) return retryFrom(path, turn, options.from);
      const owed = kept.owed.map(({ group, call }) => closeCall(turn, group, call));
      return [{ type: "branch", turn, to: kept.to, why: "retry" }, ...owed];
    });
  }

  edit(seq: number, input: Input, options: TurnOptions = {}): Turn {
    assertMethodOptions("edit", options);
    assertInput(input);
    const { path } = this.#live;
    if (path.find((event) => event.seq === seq)?.type !== "user_message") {
      throw codedError("not_a_message", `event ${seq} is not a user message of the active path`);
    }
    const to = previousOnPath(path, seq);
    return this.#begin(options, async (turn) => [
      { type: "branch", turn, to, why: "edit" },
      await this.#userMessage(turn, input),
    ]);
  }

  /** Throws at once instead of failing a turn: nothing can begin in a log that is too large. */
  #assertRoom(): void {
    const refused = this.#live.log.refusal?.();
    if (refused !== undefined) throw refused;
  }

  #begin(options: TurnOptions, drafts: (turn: string) => Promise<readonly EventDraft[]>): Turn {
    this.#assertRoom();
    return this.#turns.add(
      options,
      async (own, turn) =>
        (await this.#unbegun(own, turn)) ?? this.#run(own, turn, {}, () => this.#opening(() => drafts(turn))),
    );
  }

  cancel(): Promise<boolean> {
    return this.#turns.cancel();
  }

  async approve(
    requestId: string,
    options: { readonly argumentsHash?: string | undefined } = {},
  ): Promise<void> {
    assertMethodOptions("approve", options);
    await this.#contexts.permissions.answer(requestId, { decision: "allow" }, options.argumentsHash);
  }

  async deny(requestId: string, reason?: string): Promise<void> {
    await this.#contexts.permissions.answer(requestId, { decision: "deny", reason });
  }

  /** Takes effect at the next step, where it becomes an event. */
  async setModel(model: Model | string): Promise<void> {
    const chosen = this.modelOf(model);
    this.#seenModels.add(chosen);
    this.changeModel(chosen);
  }

  async previewSwitch(model: Model | string): Promise<SwitchPreview> {
    return switchPreview(this.#live.log.events, settingsFor(this.modelOf(model), this.#parts.options));
  }

  async rename(title: string): Promise<void> {
    const draft: EventDraft = { type: "title", title: this.#redact(cleanTitle(title)) };
    await this.#live.append([...this.#sessionStart(), draft], { durable: true });
  }

  async fork(options: ForkOptions = {}): Promise<Session> {
    assertMethodOptions("fork", options);
    const id = options.id ?? this.#ids.next("s");
    await forkInto(this.#parts.store, this.#live.log, { ...options, id });
    const child = await this.#parts.open(id);
    await child.setModel(this.model);
    return child;
  }

  async undo(): Promise<void> {
    await this.#change({ type: "branch", to: undoTo(this.#live.path), why: "undo" });
  }

  async keepLastTurns(count: number): Promise<void> {
    const draft = frontCut(this.#live.path, count);
    if (draft !== undefined) await this.#change(draft);
  }

  async truncateFrom(seq: number): Promise<void> {
    checkArgument("truncateFrom", "seq", seq, aSeq);
    const draft = endCut(this.#live.path, seq);
    if (draft !== undefined) await this.#change(draft);
  }

  async checkout(options: { readonly to: number }): Promise<void> {
    assertMethodOptions("checkout", options);
    const to = endOfTurnAt(this.#live.log.events, options.to);
    await this.#change({ type: "branch", to, why: "checkout" });
  }

  async compact(options: CompactOptions = {}): Promise<void> {
    assertMethodOptions("compact", options);
    assertKeepTurns(options.keepTurns);
    const turn = this.#turns.add(options, async (own, id) => {
      const { contextFor } = this.#contexts.around(own.signal, {});
      const context = contextFor(id, "compaction");
      return this.#nothingToDo(own) ?? compactNow(context, await this.#live.closing(), options);
    });
    const { status, error } = await turn.result();
    if (status === "completed") return;
    throw codedError(
      asErrorCode(error?.code, `compaction_${status}`),
      error?.message ?? `the compaction was ${status}; nothing was changed`,
    );
  }

  /** Applied after the running turns, and after closing what a crash left open. */
  async #change(draft: EventDraft): Promise<void> {
    await this.#turns.settled();
    await this.#live.append([...(await this.#live.closing()), draft], { durable: true });
  }

  async close(beforeRelease?: () => Promise<void>): Promise<void> {
    if (this.#turns.closed) return;
    await this.#turns.close();
    try {
      await beforeRelease?.();
    } finally {
      await this.#live.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(
    handle: TurnHandle,
    turn: string,
    overrides: TurnOverrides,
    prepare: () => Promise<TurnPlan>,
  ): Promise<TurnResult> {
    const nothing = this.#nothingToDo(handle);
    if (nothing !== undefined) return nothing;
    try {
      const plan = await prepare();
      const opening = [...this.#sessionStart(), ...plan.opening];
      const judged = overrides.output && new JudgedAnswer(overrides.output);
      const judge = judged && ((text: string) => judged.complaint(text));
      const { responses: _responses, ...outcome } = await runTurnCompacting(
        turn,
        { ...plan, opening, judge },
        this.#contexts.around(handle.signal, overrides),
      );
      return turnResult({ ...outcome, output: judged?.value });
    } catch (error) {
      return { ...NOTHING, status: "failed", error: errorInfoOf(error) };
    }
  }

  #nothingToDo(handle: TurnHandle): TurnResult | undefined {
    return handle.signal.aborted || this.#turns.closed ? { ...NOTHING, status: "cancelled" } : undefined;
  }

  /** A turn that was cancelled while waiting still gets its end, so that its id cannot start a turn later. */
  async #unbegun({ signal, abortedBefore }: TurnHandle, turn: string): Promise<TurnResult | undefined> {
    if (!signal.aborted) return this.#turns.closed ? { ...NOTHING, status: "cancelled" } : undefined;
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
    await this.#live.append([...this.#sessionStart(), end], { durable: true, turn: "end" });
  }

  async persist(): Promise<void> {
    const { model, options } = { model: this.model, ...this.#parts };
    const chosen: readonly EventDraft[] =
      model === options.model ? [] : [{ type: "settings", settings: settingsFor(model, options) }];
    const start = chosen.length === 0 ? [] : this.#sessionStart();
    await this.#live.append([...start, ...chosen], { durable: true });
  }

  #sessionStart(): readonly EventDraft[] {
    if (this.#live.log.events.length > 0) return [];
    const { parent, options } = this.#parts;
    const { cwd } = options;
    return [{ type: "session_start", session: this.id, root: this.id, parent, writer: WRITER, cwd }];
  }

  /** A turn that begins at its first step, after closing what a crash left open. */
  async #opening(drafts: () => Promise<readonly EventDraft[]>): Promise<TurnPlan> {
    return { opening: [...(await this.#live.closing()), ...(await drafts())], owed: [], firstStep: 1 };
  }

  async #userMessage(turn: string, input: Input): Promise<EventDraft> {
    return { type: "user_message", turn, by: "person", content: await toContent(input, this.#live.log) };
  }

  #firstTitle(input: Input): readonly EventDraft[] {
    const title = this.title === undefined ? this.#redact(titleOf(input)) : "";
    return title === "" ? [] : [{ type: "title", title }];
  }
}

const NOTHING = { text: "", steps: 0, usage: NO_USAGE };

const WRITER = `throughline/${VERSION}`;
