/**
 * The local session: one log, one turn at a time.
 *
 * @module
 */

import type { Cut, ForkOptions, Input, SwitchPreview, Turn, TurnOptions, TurnResult } from "../api/index.ts";
import { type EventDraft, NO_USAGE } from "../events/index.ts";
import type { Log, Store } from "../log/index.ts";
import type { Model } from "../providers/index.ts";
import {
  codeOf,
  createIdSource,
  type IdSource,
  messageOf,
  systemClock,
  ThroughlineError,
} from "../support/index.ts";
import { createRedactor } from "../trace/index.ts";
import { DEFAULT_LIMITS, runTurn, type TurnContext, type TurnPlan } from "../turn/index.ts";
import { assertInput } from "./agent-options.ts";
import { forkInto } from "./fork.ts";
import { cutBefore, lastMessageOf, lastTurnsFrom, previousOnPath } from "./history-edits.ts";
import { toContent } from "./input.ts";
import { Journal } from "./journal.ts";
import { createOutputFormat } from "./output-schema.ts";
import { PendingPermissions } from "./pending-permissions.ts";
import { switchPreview } from "./previews.ts";
import { resumePlan } from "./resume.ts";
import { SessionView } from "./session-view.ts";
import { settingsFor } from "./settings.ts";
import { cleanTitle, titleOf } from "./title.ts";
import { TurnHandle } from "./turn-handle.ts";
import { SetupCache, type TurnOverrides } from "./turn-setup.ts";
import type { AgentOptions, SendOptions, Session } from "./types.ts";

export interface LocalSessionParts {
  readonly log: Log;
  /** Whether anybody holds the session as its writer; the session itself, if it is opened to write. */
  readonly writerLives: boolean;
  readonly store: Store;
  readonly options: AgentOptions;
  /** Opens a fork with the same agent. */
  readonly open: (id: string) => Promise<Session>;
}

type Prepare = (turn: string) => Promise<TurnPlan> | TurnPlan;

export class LocalSession extends SessionView implements Session {
  readonly #parts: LocalSessionParts;
  readonly #journal: Journal;
  readonly #ids: IdSource;
  readonly #permissions = new PendingPermissions();
  readonly #redact: (text: string) => string;
  readonly #setup: SetupCache;
  readonly #seenModels = new Set<Model>();
  readonly #turns = new Set<string>();
  /** Turns run one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #current: TurnHandle | undefined;
  #closed = false;

  constructor(parts: LocalSessionParts) {
    const { log, options } = parts;
    const clock = options.clock ?? systemClock;
    const journal = new Journal(log, clock, parts.writerLives);
    super(journal, options);
    this.#parts = parts;
    this.#journal = journal;
    this.#ids = createIdSource(() => clock.now());
    this.#setup = new SetupCache(options);
    this.#seenModels.add(options.model);
    this.#redact = createRedactor(() => [
      ...(options.secrets ?? []),
      ...[...this.#seenModels].flatMap((model) => model.secrets()),
    ]);
  }

  get interrupted(): boolean {
    // What another process has under way is not interrupted.
    if (this.#current !== undefined || (this.access === "read" && this.writer === "live")) return false;
    return this.#journal.openTurn !== undefined;
  }

  send(input: Input, options: SendOptions = {}): Turn {
    assertInput(input);
    if (options.whenBusy === "reject" && this.#waiting > 0) {
      throw new ThroughlineError({
        code: "session_busy",
        message: `session "${this.id}" is in the middle of a turn`,
      });
    }
    const named = options.model === undefined ? undefined : this.modelOf(options.model);
    const model = options.effort === undefined ? named : (named ?? this.model).withEffort(options.effort);
    if (model !== undefined) this.#seenModels.add(model); // its key must not reach the log either
    const output = options.output === undefined ? undefined : createOutputFormat(options.output);
    const overrides = {
      ...(model === undefined ? {} : { model }),
      ...(output === undefined ? {} : { output }),
    };
    return this.#turn(options, overrides, (turn) =>
      this.#opening(async () => [await this.#userMessage(turn, input), ...this.#firstTitle(input)]),
    );
  }

  resume(options: TurnOptions = {}): Turn {
    const open = this.#journal.openTurn;
    if (open === undefined || this.#current !== undefined) {
      throw new ThroughlineError({
        code: "nothing_to_resume",
        message: `session "${this.id}" has no interrupted turn`,
      });
    }
    const tools = this.#parts.options.tools ?? [];
    const prepare = async (): Promise<TurnPlan> =>
      resumePlan(open, await this.#journal.log.scratch.read(), tools);
    return this.#turn({ ...options, turn: open.turn }, {}, prepare, "again");
  }

  retry(options: TurnOptions = {}): Turn {
    const last = lastMessageOf(this.#journal.path);
    if (last === undefined) {
      throw new ThroughlineError({
        code: "nothing_to_retry",
        message: "there is no message to answer again",
      });
    }
    return this.#turn(options, {}, (turn) =>
      this.#opening(async () => [{ type: "branch", turn, to: last.seq, why: "retry" }]),
    );
  }

  edit(seq: number, input: Input, options: TurnOptions = {}): Turn {
    assertInput(input);
    const { path } = this.#journal;
    if (path.find((event) => event.seq === seq)?.type !== "user_message") {
      throw new ThroughlineError({
        code: "not_a_message",
        message: `event ${seq} is not a user message of the active path`,
      });
    }
    const to = previousOnPath(path, seq);
    return this.#turn(options, {}, (turn) =>
      this.#opening(async () => [
        { type: "branch", turn, to, why: "edit" },
        await this.#userMessage(turn, input),
      ]),
    );
  }

  async cancel(): Promise<void> {
    this.#current?.cancel();
  }

  async approve(requestId: string): Promise<void> {
    this.#permissions.answer(requestId, { decision: "allow" });
  }

  async deny(requestId: string, reason?: string): Promise<void> {
    this.#permissions.answer(requestId, { decision: "deny", ...(reason === undefined ? {} : { reason }) });
  }

  /** Takes effect at the next step, where it becomes an event. */
  async setModel(model: Model | string): Promise<void> {
    const chosen = this.modelOf(model);
    this.#seenModels.add(chosen);
    this.changeModel(chosen);
  }

  async previewSwitch(model: Model | string): Promise<SwitchPreview> {
    return switchPreview(this.#journal.log.events, settingsFor(this.modelOf(model), this.#parts.options));
  }

  async rename(title: string): Promise<void> {
    await this.#journal.append([{ type: "title", title: this.#redact(cleanTitle(title)) }], {
      durable: true,
    });
  }

  async fork(options: ForkOptions = {}): Promise<Session> {
    const id = options.id ?? this.#ids.next("s");
    await forkInto(this.#parts.store, this.#journal.log, {
      id,
      ...(options.at === undefined ? {} : { at: options.at }),
    });
    const child = await this.#parts.open(id);
    await child.setModel(this.model);
    return child;
  }

  async undo(): Promise<void> {
    const { path } = this.#journal;
    const last = lastMessageOf(path);
    if (last === undefined)
      throw new ThroughlineError({ code: "nothing_to_undo", message: "there is no message to take back" });
    await this.#last;
    const draft: EventDraft = { type: "branch", to: previousOnPath(path, last.seq), why: "undo" };
    await this.#journal.append([...(await this.#journal.closing()), draft], { durable: true });
  }

  async truncate(cut: Cut): Promise<void> {
    const { path } = this.#journal;
    const draft: EventDraft =
      "from" in cut
        ? { type: "branch", to: cutBefore(path, cut.from), why: "truncate" }
        : { type: "compaction", before: lastTurnsFrom(path, cut.keepTurns), summary: "" };
    if (path.length === 0) return; // nothing to cut, nothing to record
    await this.#last;
    await this.#journal.append([...(await this.#journal.closing()), draft], { durable: true });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#current?.cancel();
    await this.#last;
    await this.#journal.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #turn(options: TurnOptions, overrides: TurnOverrides, prepare: Prepare, which?: "again"): Turn {
    const { turn = this.#ids.next("tn"), signal } = options;
    if (which !== "again" && options.turn !== undefined) this.#assertNewTurn(options.turn);
    if (this.#journal.log.mode === "read") {
      throw new ThroughlineError({
        code: "log_read_only",
        message: `session "${this.id}" was opened to read`,
      });
    }
    if (this.#closed)
      throw new ThroughlineError({ code: "log_closed", message: `session "${this.id}" was closed` });
    const before = this.#last;
    this.#waiting += 1;
    this.#turns.add(turn);
    const handle = new TurnHandle(turn, signal, async (own) => {
      await before;
      this.#current = own;
      this.#journal.listener = (events) => own.push(events);
      try {
        return await this.#run(own, turn, overrides, prepare);
      } finally {
        this.#current = undefined;
        this.#journal.listener = undefined;
        this.#waiting -= 1;
        this.#journal.changed();
      }
    });
    this.#last = handle.result();
    return handle;
  }

  /** The caller's id makes sending it a second time harmless: over a network nobody knows whether the first came through. */
  #assertNewTurn(turn: string): void {
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(turn))
      throw new ThroughlineError({
        code: "turn_invalid",
        message: "a turn's id is 1 to 64 letters, digits, _ or -",
      });
    if (this.#turns.has(turn) || this.#journal.log.events.some((event) => event.turn === turn))
      throw new ThroughlineError({ code: "turn_exists", message: `there is a turn "${turn}" already` });
  }

  async #run(
    handle: TurnHandle,
    turn: string,
    overrides: TurnOverrides,
    prepare: Prepare,
  ): Promise<TurnResult> {
    const nothing = { text: "", steps: 0, usage: NO_USAGE };
    if (handle.signal.aborted || this.#closed) return { status: "cancelled", ...nothing };
    try {
      const plan = await prepare(turn);
      const { output } = overrides;
      const outcome = await runTurn(this.#context(handle, turn, overrides), {
        ...plan,
        opening: [...this.#sessionStart(), ...plan.opening],
        ...(output === undefined ? {} : { judge: (text) => output.judge(text) }),
      });
      if (output === undefined || outcome.status !== "completed") return outcome;
      return { ...outcome, output: output.read(outcome.text) };
    } catch (error) {
      return {
        status: "failed",
        ...nothing,
        error: { code: codeOf(error) ?? "internal", message: messageOf(error) },
      };
    }
  }

  #context(handle: TurnHandle, turn: string, overrides: TurnOverrides): TurnContext {
    const { options } = this.#parts;
    const journal = this.#journal;
    return {
      turn,
      rootSession: journal.rootSession,
      log: journal.log,
      fold: journal.fold,
      clock: options.clock ?? systemClock,
      ids: this.#ids,
      signal: handle.signal,
      limits: { ...DEFAULT_LIMITS, ...options.limits },
      tools: options.tools ?? [],
      permissions: options.permissions ?? "read-only",
      canAsk: options.canAsk ?? true,
      fetch: options.fetch,
      onWire: options.trace,
      setup: () => this.#setup.get(this.model, overrides),
      append: (drafts, appendOptions) => journal.append(drafts, appendOptions),
      emit: (events) => journal.publish(events),
      ask: (ask) => this.#permissions.ask(ask.requestId, handle.signal),
      redact: this.#redact,
      loadBlobs: () => journal.blobs.load(),
      blob: (name) => journal.blobs.get(name),
      random: () => Math.random(),
      setSnapshot: (snapshot) => {
        journal.snapshot = snapshot;
      },
    };
  }

  #sessionStart(): readonly EventDraft[] {
    if (this.#journal.log.events.length > 0) return [];
    const { cwd } = this.#parts.options;
    return [
      {
        type: "session_start",
        session: this.id,
        root: this.id,
        writer: WRITER,
        ...(cwd === undefined ? {} : { cwd }),
      },
    ];
  }

  /** A turn that begins at its first step, after whatever a crash left open has been closed. */
  async #opening(drafts: () => Promise<readonly EventDraft[]>): Promise<TurnPlan> {
    return { opening: [...(await this.#journal.closing()), ...(await drafts())], owed: [], firstStep: 1 };
  }

  async #userMessage(turn: string, input: Input): Promise<EventDraft> {
    return { type: "user_message", turn, by: "person", content: await toContent(input, this.#journal.log) };
  }

  #firstTitle(input: Input): readonly EventDraft[] {
    const title = this.title === undefined ? this.#redact(titleOf(input)) : "";
    return title === "" ? [] : [{ type: "title", title }];
  }
}

const WRITER = "throughline/0.1.0";
