/** The local session: one log, one turn at a time. */

import {
  type ApproveOptions,
  checkAnswer,
  type CompactOptions,
  type EditOptions,
  type ForkOptions,
  type Input,
  type QueuedTurn,
  type ResumeOptions,
  type RetryOptions,
  type RuleView,
  type SwitchPreview,
  type Turn,
  type TurnEnding,
  type TurnOptions,
} from "../../base/api/index.ts";
import type { ElicitationAnswer, EventDraft, SessionParent, Settings } from "../../base/events/index.ts";
import {
  aSeq,
  asErrorCode,
  aText,
  checkArgument,
  codedError,
  createIdSource,
  type IdSource,
  systemClock,
} from "../../base/support/index.ts";
import { assertKeepTurns, compactBeforeTurn, compactNow } from "../compaction/index.ts";
import { walkPath } from "../fold/index.ts";
import { createRedactor, type Store } from "../log/index.ts";
import type { Model } from "../providers/index.ts";
import { closeCall, type LiveLog, resumePlan } from "../turn/index.ts";
import { assertInput, assertMethodOptions, assertSteers } from "./agent-options.ts";
import { forkInto } from "./fork.ts";
import {
  endCut,
  endOfTurnAt,
  frontCut,
  lastMessageOf,
  lastTurnOf,
  previousOnPath,
  retryFrom,
  undoTo,
} from "./history-edits.ts";
import { toContent } from "./input.ts";
import { keptSteps } from "./kept-steps.ts";
import { knownPrices } from "./known-prices.ts";
import { formatOf } from "./output-schema.ts";
import { switchPreview } from "./previews.ts";
import { RESTORED, STORE_RESTORED } from "./restored.ts";
import { SessionTools } from "./session-tools.ts";
import { SessionView } from "./session-view.ts";
import { settingsFor } from "./settings.ts";
import { cleanTitle, titleOf } from "./title.ts";
import { TurnContexts } from "./turn-contexts.ts";
import { type KeepWithdrawn, TurnQueue, type TurnWork } from "./turn-queue.ts";
import { type BranchStart, type PreparedTurn, TurnRunner } from "./turn-runner.ts";
import type { AgentOptions, InferOutput, OutputSchema, SendOptions, Session } from "./types.ts";

export interface LocalSessionParts {
  readonly live: LiveLog;
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
  readonly #tools: SessionTools;
  readonly #ids: IdSource;
  readonly #redact: (text: string) => string;
  readonly #contexts: TurnContexts;
  readonly #seenModels = new Set<Model>();
  readonly #turns: TurnQueue;
  readonly #runner: TurnRunner;
  /** Its open turn was closed because the store was restored. The first `resume` learns that. */
  #restored = false;

  constructor(parts: LocalSessionParts) {
    const { live, options } = parts;
    const clock = options.clock ?? systemClock;
    const tools = new SessionTools({
      options,
      // Before the first request nothing depends on what was declared. A summary stands for earlier requests.
      declared: () =>
        live.fold.entries.some(({ kind }) => kind === "group" || kind === "summary")
          ? live.fold.settings
          : undefined,
      unreadable: (toolset) => {
        const { dropped } = switchPreview(live.log.events, settingsFor(this.model, options, toolset));
        return dropped - switchPreview(live.log.events, live.fold.settings ?? this.#settings()).dropped;
      },
    });
    super(live, options, tools);
    this.#tools = tools;
    this.#parts = parts;
    this.#live = live;
    this.#ids = createIdSource(() => clock.now());
    this.#turns = new TurnQueue(live, this.#ids);
    for (const model of [options.model, ...(options.fallback ?? [])]) this.#seenModels.add(model);
    this.#redact = createRedactor(() => [
      ...(options.secrets ?? []),
      ...[...this.#seenModels].flatMap((model) => model.secrets()),
      ...tools.sources.flatMap((source) => source.secrets()),
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
      tools,
    });
    const { cwd } = options;
    const { parent } = parts;
    this.#runner = new TurnRunner({ live, contexts: this.#contexts, turns: this.#turns, cwd, parent });
  }

  get interrupted(): boolean {
    // A turn that another process is running is not interrupted.
    if (this.#turns.busy || (this.access === "read" && this.writer === "live")) return false;
    return this.#live.openTurn !== undefined;
  }

  get asks(): boolean {
    return this.#contexts.permissions.waits || this.#contexts.elicitations.waits;
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
    const overrides = { model, output: formatOf(options.output) };
    const content = steers ? () => toContent(input, this.#live.log) : undefined;
    const work: TurnWork = async (own, id) => {
      const unbegun = await this.#runner.unbegun(own, id);
      if (unbegun !== undefined) return unbegun;
      await compactBeforeTurn(this.#contexts.around(own.signal, overrides), await this.#live.closing());
      const drafts = async (): Promise<readonly EventDraft[]> => [
        await this.#userMessage(id, input),
        ...this.#firstTitle(input),
      ];
      const prepare = (): Promise<PreparedTurn> => this.#runner.opening(id, overrides, drafts);
      return (await this.#runner.unbegun(own, id)) ?? this.#runner.run(own, id, prepare);
    };
    return this.#turns.add(options, work, { input, content });
  }

  resume<Schema extends OutputSchema>(
    options: ResumeOptions<Schema> & { readonly output: Schema },
  ): Turn<InferOutput<Schema>>;
  resume(options?: ResumeOptions<OutputSchema>): Turn;
  resume(options: ResumeOptions<OutputSchema> = {}): Turn {
    assertMethodOptions("resume", options);
    const open = this.#live.openTurn;
    if (this.#restored && open === undefined) {
      this.#restored = false;
      throw codedError(STORE_RESTORED, RESTORED);
    }
    if (open === undefined || !this.interrupted) {
      throw codedError("nothing_to_resume", `session "${this.id}" has no interrupted turn`);
    }
    const given = formatOf(options.output);
    if (open.kind === "compaction")
      return this.#turns.add(options, (own, id) => this.#runner.finishCompaction(own, id, given));
    this.#assertRoom();
    const { fellBackTo } = this.#live.facts.turns.get(open.turn) ?? {};
    const output = given ?? this.#runner.outputs.of(open.turn);
    const overrides = { output, fellBackTo, keepTools: true };
    const prepare = async (): Promise<PreparedTurn> => {
      // Whether a call may run again is known only when its server is there.
      const tools = await this.#tools.declared();
      const plan = resumePlan(open, await this.#live.log.scratch.rows(), tools);
      const ahead = this.#runner.settingsAhead(open.turn, overrides);
      return { plan: { ...plan, opening: [...plan.opening, ...ahead] }, overrides };
    };
    return this.#turns.add(
      { ...options, turn: open.turn },
      (own, turn) => this.#runner.run(own, turn, prepare),
      { again: true },
    );
  }

  retry<Schema extends OutputSchema>(
    options: RetryOptions<Schema> & { readonly output: Schema },
  ): Turn<InferOutput<Schema>>;
  retry(options?: RetryOptions<OutputSchema>): Turn;
  retry(options: RetryOptions<OutputSchema> = {}): Turn {
    assertMethodOptions("retry", options);
    if (lastMessageOf(this.#live.path) === undefined) {
      throw codedError("nothing_to_retry", "there is no message to answer again");
    }
    return this.#begin(options, async (turn) => {
      const { path, fold, openTurn, log } = this.#live;
      const kept =
        options.from === "message" || openTurn !== undefined ? undefined : keptSteps(path, fold.entries);
      const sameAs = lastTurnOf(walkPath(log.events).aside?.path ?? path);
      if (kept === undefined) {
        const { to, joined } = retryFrom(path, turn, options.from);
        return { branch: { to, why: "retry" }, sameAs, drafts: joined };
      }
      const owed = kept.owed.map(({ group, call }) => closeCall(turn, group, call));
      return { branch: { to: kept.to, why: "retry" }, sameAs, drafts: owed };
    });
  }

  edit<Schema extends OutputSchema>(
    seq: number,
    input: Input,
    options: EditOptions<Schema> & { readonly output: Schema },
  ): Turn<InferOutput<Schema>>;
  edit(seq: number, input: Input, options?: EditOptions<OutputSchema>): Turn;
  edit(seq: number, input: Input, options: EditOptions<OutputSchema> = {}): Turn {
    assertMethodOptions("edit", options);
    assertInput(input);
    const { path } = this.#live;
    const replaced = path.find((event) => event.seq === seq);
    if (replaced?.type !== "user_message") {
      throw codedError("not_a_message", `event ${seq} is not a user message of the active path`);
    }
    const to = previousOnPath(path, seq);
    const start = async (turn: string): Promise<BranchStart> => ({
      branch: { to, why: "edit" },
      sameAs: replaced.turn,
      drafts: [await this.#userMessage(turn, input)],
    });
    return this.#begin(options, start, input);
  }

  /** Throws at once instead of failing a turn: nothing can begin in a log that is too large. */
  #assertRoom(): void {
    const refused = this.#live.log.refusal?.();
    if (refused !== undefined) throw refused;
  }

  /** A turn on a new branch. */
  #begin(
    options: TurnOptions & { readonly output?: OutputSchema | undefined },
    start: (turn: string) => Promise<BranchStart>,
    input?: Input,
  ): Turn {
    this.#assertRoom();
    const given = formatOf(options.output);
    const work: TurnWork = async (own, turn) => {
      const prepare = async (): Promise<PreparedTurn> =>
        this.#runner.openingOnBranch(turn, await start(turn), given);
      return (await this.#runner.unbegun(own, turn)) ?? this.#runner.run(own, turn, prepare);
    };
    return this.#turns.add(options, work, { input });
  }

  cancel(): Promise<boolean> {
    return this.#turns.cancel();
  }

  get queued(): readonly QueuedTurn[] {
    return this.#turns.queued;
  }

  async withdraw(turn: string, keep: KeepWithdrawn = async () => undefined): Promise<Input> {
    checkArgument("withdraw", "turn", turn, aText);
    return this.#turns.withdraw(turn, keep);
  }

  async approve(requestId: string, options: ApproveOptions = {}): Promise<void> {
    assertMethodOptions("approve", options);
    await this.#contexts.permissions.answer(requestId, { decision: "allow" }, options);
  }

  async deny(requestId: string, reason?: string): Promise<void> {
    await this.#contexts.permissions.answer(requestId, { decision: "deny", reason });
  }

  async answer(requestId: string, answer: ElicitationAnswer): Promise<void> {
    checkAnswer(answer);
    await this.#contexts.elicitations.answer(requestId, answer);
  }

  get rules(): readonly RuleView[] {
    return this.#contexts.rules.view;
  }

  async allow(rule: string): Promise<void> {
    await this.#live.append([...this.#runner.sessionStart(), this.#contexts.rules.added(rule)], {
      durable: true,
    });
  }

  async disallow(rule: string): Promise<void> {
    await this.#live.append([this.#contexts.rules.removed(rule)], { durable: true });
  }

  /** Takes effect at the next step, where it becomes an event. */
  async setModel(model: Model | string): Promise<void> {
    const chosen = this.modelOf(model);
    this.#seenModels.add(chosen);
    this.changeModel(chosen);
  }

  async previewSwitch(model: Model | string): Promise<SwitchPreview> {
    return switchPreview(this.#live.log.events, this.#settings(this.modelOf(model)));
  }

  async rename(title: string): Promise<void> {
    const draft: EventDraft = { type: "title", title: this.#redact(cleanTitle(title)) };
    await this.#live.append([...this.#runner.sessionStart(), draft], { durable: true });
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
      return this.#runner.nothingToDo(own) ?? compactNow(context, await this.#live.closing(), options);
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

  async close(beforeRelease?: () => Promise<void>, turns: "cancel" | "leave" = "cancel"): Promise<void> {
    if (this.#turns.closed) return;
    await (turns === "leave" ? this.#turns.leave() : this.#turns.close());
    try {
      await beforeRelease?.();
    } finally {
      await this.#live.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  endUnbegun(turn: string, end: Pick<TurnEnding, "status" | "error">): Promise<void> {
    return this.#turns.reserving(turn, () => this.#runner.endUnbegun(turn, end));
  }

  get takeovers(): number {
    return this.#live.log.takeovers ?? 0;
  }

  async closeInterrupted(code: string, message: string): Promise<void> {
    const turn = this.#live.openTurn?.turn;
    await this.#change({ type: "notice", turn, code, message });
  }

  /** The store was set back to an earlier state: the open turn cannot go on, because nobody knows how far it got. */
  async closeRestored(): Promise<void> {
    if (!this.#live.log.restored || this.#live.openTurn === undefined) return;
    this.#restored = true;
    await this.closeInterrupted(STORE_RESTORED, RESTORED);
  }

  async persist(): Promise<void> {
    const { model, options } = { model: this.model, ...this.#parts };
    const chosen: readonly EventDraft[] =
      model === options.model ? [] : [{ type: "settings", settings: this.#settings(model) }];
    const start = chosen.length === 0 ? [] : this.#runner.sessionStart();
    await this.#live.append([...start, ...chosen], { durable: true });
  }

  #settings(model: Model = this.model): Settings {
    return settingsFor(model, this.#parts.options, this.#tools.current);
  }

  async #userMessage(turn: string, input: Input): Promise<EventDraft> {
    return { type: "user_message", turn, by: "person", content: await toContent(input, this.#live.log) };
  }

  #firstTitle(input: Input): readonly EventDraft[] {
    const title = this.title === undefined ? this.#redact(titleOf(input)) : "";
    return title === "" ? [] : [{ type: "title", title }];
  }
}
