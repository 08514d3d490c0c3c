/**
 * The local session: one log, one fold, one turn at a time.
 *
 * @module
 */

import {
  addUsage,
  type EventDraft,
  type LoggedEvent,
  NO_USAGE,
  type SessionEvent,
  type Settings,
  type Usage,
  type UserMessage,
} from "../events/index.ts";
import { activePath, type Decision, explain, Fold } from "../fold/index.ts";
import type { Log, Store } from "../log/index.ts";
import type { Model, Renderer } from "../providers/index.ts";
import {
  Broadcast,
  type Clock,
  createIdSource,
  type IdSource,
  systemClock,
  ThroughlineError,
} from "../support/index.ts";
import {
  closeCall,
  closeResponses,
  closeTurn,
  DEFAULT_LIMITS,
  findOpenTurn,
  openCalls,
  runTurn,
  type TurnContext,
  type TurnPlan,
} from "../turn/index.ts";
import { forkDrafts } from "./fork.ts";
import { cutBefore, lastTurnsFrom, previousOnPath } from "./history-edits.ts";
import { assertInput, BlobCache, toContent } from "./input.ts";
import { createOutputFormat, type OutputFormat } from "./output-schema.ts";
import { PendingPermissions } from "./pending-permissions.ts";
import { previewRequest, requestEvents, switchPreview } from "./previews.ts";
import { createRedactor } from "./redact.ts";
import { settingsFor } from "./settings.ts";
import { TurnHandle } from "./turn-handle.ts";
import type {
  AgentOptions,
  ExplainOptions,
  Input,
  RequestPreview,
  SendOptions,
  Session,
  SwitchPreview,
  Turn,
  TurnResult,
} from "./types.ts";

export interface LocalSessionParts {
  readonly log: Log;
  readonly store: Store;
  readonly options: AgentOptions;
  /** Opens a fork with the same agent. */
  open(id: string): Promise<Session>;
}

/** What is special about one turn. */
interface TurnOverrides {
  readonly model?: Model;
  readonly output?: OutputFormat;
}

type Prepare = (turn: string) => Promise<TurnPlan> | TurnPlan;

export class LocalSession implements Session {
  readonly #parts: LocalSessionParts;
  readonly #log: Log;
  readonly #fold = new Fold();
  readonly #bus = new Broadcast<SessionEvent>({ keepAll: false });
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #blobs: BlobCache;
  readonly #permissions = new PendingPermissions();
  readonly #redact: (text: string) => string;
  readonly #seenModels = new Set<Model>();
  #model: Model;
  #renderer: { readonly model: Model; readonly renderer: Renderer } | undefined;
  #settings: { readonly key: unknown; readonly value: Settings } | undefined;
  /** Turns run one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #current: TurnHandle | undefined;
  #snapshot: (() => readonly SessionEvent[]) | undefined;
  #closed = false;

  constructor(parts: LocalSessionParts) {
    const { log, options } = parts;
    this.#parts = parts;
    this.#log = log;
    this.#model = options.model;
    this.#clock = options.clock ?? systemClock;
    this.#ids = createIdSource(() => this.#clock.now());
    this.#blobs = new BlobCache(log);
    this.#seenModels.add(options.model);
    this.#redact = createRedactor(() => [
      ...(options.secrets ?? []),
      ...[...this.#seenModels].flatMap((model) => model.secrets()),
    ]);
    this.#fold.add(log.events);
  }

  get id(): string {
    return this.#log.session;
  }

  get model(): Model {
    return this.#model;
  }

  get place(): string {
    return this.#log.place;
  }

  get title(): string | undefined {
    return this.#log.events.findLast((event) => event.type === "title")?.title;
  }

  get usage(): Usage {
    return this.#log.events.reduce(
      (sum, event) =>
        event.type === "response_end" && event.usage !== undefined ? addUsage(sum, event.usage) : sum,
      NO_USAGE,
    );
  }

  get interrupted(): boolean {
    return this.#current === undefined && findOpenTurn(this.#log.events, this.#fold) !== undefined;
  }

  send(input: Input, options: SendOptions = {}): Turn {
    assertInput(input);
    if (options.whenBusy === "reject" && this.#waiting > 0) {
      throw new ThroughlineError({
        code: "session_busy",
        message: `session "${this.id}" is in the middle of a turn`,
      });
    }
    const model = options.model ?? this.#model;
    const overrides: TurnOverrides = {
      ...(options.effort !== undefined
        ? { model: model.withEffort(options.effort) }
        : options.model === undefined
          ? {}
          : { model }),
      ...(options.output === undefined ? {} : { output: createOutputFormat(options.output) }),
    };
    return this.#turn(options.signal, overrides, async (turn) => ({
      opening: [
        ...(await this.#closeOpenTurn()),
        await this.#userMessage(turn, input),
        ...this.#titleFrom(input),
      ],
      owed: [],
      firstStep: 1,
    }));
  }

  resume(options: Pick<SendOptions, "signal"> = {}): Turn {
    const open = findOpenTurn(this.#log.events, this.#fold);
    if (open === undefined || this.#current !== undefined) {
      throw new ThroughlineError({
        code: "nothing_to_resume",
        message: `session "${this.id}" has no interrupted turn`,
      });
    }
    return this.#turn(
      options.signal,
      {},
      async () => {
        const scratch = await this.#log.scratch.read();
        const calls = openCalls(open);
        const again = calls.filter(({ group, call }) => {
          if (group.end?.status !== "completed") return false;
          const known = this.#parts.options.tools?.find(({ name }) => name === call.name);
          return !group.wasStarted(call.callId) || known?.idempotent === true;
        });
        const closing = calls
          .filter((one) => !again.includes(one))
          .map(({ group, call }) => closeCall(open.turn, group, call));
        const last = open.groups.at(-1);
        const whole = last?.end?.status === "completed";
        const answered = whole && calls.length === 0 && last.items.at(-1)?.type === "assistant_message";
        return {
          opening: [...closeResponses(open, scratch), ...closing],
          owed: again.map(({ call }) => call),
          firstStep: Math.max(1, whole && !answered ? open.steps + 1 : open.steps),
          answered,
        };
      },
      open.turn,
    );
  }

  retry(options: Pick<SendOptions, "signal"> = {}): Turn {
    const last = this.#path().findLast(
      (event): event is UserMessage => event.type === "user_message" && event.by === "person",
    );
    if (last === undefined)
      throw new ThroughlineError({
        code: "nothing_to_retry",
        message: "there is no message to answer again",
      });
    return this.#turn(options.signal, {}, async (turn) => ({
      opening: [...(await this.#closeOpenTurn()), { type: "branch", turn, to: last.seq, why: "retry" }],
      owed: [],
      firstStep: 1,
    }));
  }

  edit(seq: number, input: Input, options: Pick<SendOptions, "signal"> = {}): Turn {
    assertInput(input);
    const old = this.#path().find((event) => event.seq === seq);
    if (old?.type !== "user_message") {
      throw new ThroughlineError({
        code: "not_a_message",
        message: `event ${seq} is not a user message of the active path`,
      });
    }
    const to = previousOnPath(this.#path(), seq);
    return this.#turn(options.signal, {}, async (turn) => ({
      opening: [
        ...(await this.#closeOpenTurn()),
        { type: "branch", turn, to, why: "edit" },
        await this.#userMessage(turn, input),
      ],
      owed: [],
      firstStep: 1,
    }));
  }

  approve(requestId: string): void {
    this.#permissions.answer(requestId, { decision: "allow" });
  }

  deny(requestId: string, reason?: string): void {
    this.#permissions.answer(requestId, { decision: "deny", ...(reason === undefined ? {} : { reason }) });
  }

  /** Takes effect at the next step, where it becomes an event. */
  async setModel(model: Model): Promise<void> {
    this.#model = model;
    this.#seenModels.add(model);
  }

  async previewSwitch(model: Model): Promise<SwitchPreview> {
    return switchPreview(this.#log.events, settingsFor(model, this.#parts.options));
  }

  async fork(options: { readonly at?: number; readonly id?: string } = {}): Promise<Session> {
    const id = options.id ?? this.#ids.next("s");
    const drafts = forkDrafts({
      events: this.#log.events,
      id,
      parent: this.id,
      ...(options.at === undefined ? {} : { at: options.at }),
    });
    if (await this.#parts.store.exists(id)) {
      throw new ThroughlineError({ code: "session_exists", message: `there is a session "${id}" already` });
    }
    const log = await this.#parts.store.open(id, { mode: "write" });
    try {
      await log.append(drafts);
      for (const event of log.events) {
        if (event.type !== "user_message") continue;
        for (const part of event.content) {
          const bytes = "blob" in part ? await this.#log.getBlob(part.blob) : undefined;
          if (bytes !== undefined) await log.putBlob(bytes);
        }
      }
      await log.sync();
    } finally {
      await log.close();
    }
    return this.#parts.open(id);
  }

  async truncate(cut: { readonly keepTurns: number } | { readonly from: number }): Promise<void> {
    const path = this.#path();
    const draft: EventDraft =
      "from" in cut
        ? { type: "branch", to: cutBefore(path, cut.from), why: "truncate" }
        : { type: "compaction", before: lastTurnsFrom(path, cut.keepTurns), summary: "" };
    await this.#append([...(await this.#closeOpenTurn()), draft], { durable: true });
  }

  async *events(
    options: { readonly after?: number; readonly path?: "active" | "all" } = {},
  ): AsyncGenerator<LoggedEvent> {
    const events = options.path === "active" ? this.#path() : this.#log.events;
    for (const event of events) {
      if (event.seq > (options.after ?? -1)) yield event;
    }
  }

  async *follow(
    options: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<SessionEvent> {
    // Listening starts before history is read: an event in between is seen once, by its seq.
    const live = this.#bus.fromNow(options.signal);
    const snapshot = this.#snapshot?.() ?? [];
    let seen = options.after ?? -1;
    for (const event of [...this.#log.events]) {
      if (event.seq <= seen) continue;
      seen = event.seq;
      yield event;
    }
    yield* snapshot;
    if (this.#log.mode === "read") yield* this.#poll(options.signal);
    else {
      for await (const event of live) {
        if ("seq" in event && event.seq <= seen) continue;
        yield event;
      }
    }
  }

  async preview(options: { readonly model?: Model } = {}): Promise<RequestPreview> {
    await this.#blobs.load();
    const model = options.model ?? this.#model;
    return previewRequest({
      events: this.#log.events,
      model,
      settings: settingsFor(model, this.#parts.options),
      cacheKey: this.#rootSession(),
      blob: (name) => this.#blobs.get(name),
    });
  }

  async explain(options: ExplainOptions = {}): Promise<readonly Decision[]> {
    const settings =
      options.request === undefined ? settingsFor(this.#model, this.#parts.options) : undefined;
    const events =
      options.request === undefined ? this.#log.events : requestEvents(this.#log.events, options.request);
    const fold = new Fold();
    fold.add(events);
    return explain(events, fold.plan(settings)?.entries ?? []);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#current?.cancel();
    await this.#last;
    this.#bus.end();
    await this.#log.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #turn(
    signal: AbortSignal | undefined,
    overrides: TurnOverrides,
    prepare: Prepare,
    turn = this.#ids.next("tn"),
  ): Turn {
    if (this.#log.mode === "read") {
      throw new ThroughlineError({
        code: "log_read_only",
        message: `session "${this.id}" was opened to read`,
      });
    }
    if (this.#closed)
      throw new ThroughlineError({ code: "log_closed", message: `session "${this.id}" was closed` });
    const before = this.#last;
    this.#waiting += 1;
    const handle = new TurnHandle(async (own) => {
      await before;
      this.#current = own;
      try {
        return await this.#runTurn(own, turn, overrides, prepare);
      } finally {
        this.#current = undefined;
        this.#waiting -= 1;
      }
    }, signal);
    this.#last = handle.result();
    return handle;
  }

  async #runTurn(
    handle: TurnHandle,
    turn: string,
    overrides: TurnOverrides,
    prepare: Prepare,
  ): Promise<TurnResult> {
    const nothing = { text: "", steps: 0, usage: NO_USAGE };
    if (handle.signal.aborted) return { status: "cancelled", ...nothing };
    let plan: TurnPlan;
    try {
      plan = await prepare(turn);
      await this.#blobs.load();
    } catch (error) {
      const code = error instanceof ThroughlineError ? error.code : "internal";
      return {
        status: "failed",
        ...nothing,
        error: { code, message: error instanceof Error ? error.message : String(error) },
      };
    }
    const { output } = overrides;
    const outcome = await runTurn(this.#context(handle, turn, overrides), {
      ...plan,
      opening: [...this.#sessionStart(), ...plan.opening],
      ...(output === undefined ? {} : { judge: (text) => output.judge(text) }),
    });
    if (output === undefined || outcome.status !== "completed") return outcome;
    return { ...outcome, output: output.read(outcome.text) };
  }

  #context(handle: TurnHandle, turn: string, overrides: TurnOverrides): TurnContext {
    const { options } = this.#parts;
    return {
      turn,
      rootSession: this.#rootSession(),
      log: this.#log,
      fold: this.#fold,
      clock: this.#clock,
      ids: this.#ids,
      signal: handle.signal,
      limits: { ...DEFAULT_LIMITS, ...options.limits },
      tools: options.tools ?? [],
      permissions: options.permissions ?? "read-only",
      canAsk: options.canAsk ?? true,
      fetch: options.fetch,
      onWire: options.trace,
      setup: () => this.#setup(overrides),
      append: (drafts, appendOptions) => this.#append(drafts, appendOptions),
      emit: (events) => this.#publish(events),
      ask: (ask) => this.#permissions.ask(ask.requestId, handle.signal),
      redact: this.#redact,
      blob: (name) => this.#blobs.get(name),
      random: () => Math.random(),
      setSnapshot: (snapshot) => {
        this.#snapshot = snapshot;
      },
    };
  }

  #setup(overrides: TurnOverrides): ReturnType<TurnContext["setup"]> {
    const model = overrides.model ?? this.#model;
    if (this.#renderer?.model !== model) this.#renderer = { model, renderer: model.createRenderer() };
    const key = [model, overrides.output];
    const known = this.#settings?.key as typeof key | undefined;
    if (known?.[0] !== key[0] || known?.[1] !== key[1]) {
      this.#settings = { key, value: settingsFor(model, this.#parts.options, overrides.output?.format) };
    }
    return {
      model,
      renderer: this.#renderer.renderer,
      settings: (this.#settings as { readonly value: Settings }).value,
    };
  }

  async #append(
    drafts: readonly EventDraft[],
    options: { readonly durable?: boolean } = {},
  ): Promise<readonly LoggedEvent[]> {
    const events = await this.#log.append(drafts);
    this.#fold.add(events);
    this.#publish(events);
    if (options.durable === true) await this.#log.sync();
    return events;
  }

  #publish(events: readonly SessionEvent[]): void {
    this.#bus.push(events);
    this.#current?.push(events);
  }

  #path(): readonly LoggedEvent[] {
    return activePath(this.#log.events);
  }

  #rootSession(): string {
    const [first] = this.#log.events;
    return first?.type === "session_start" ? first.root : this.id;
  }

  #sessionStart(): readonly EventDraft[] {
    if (this.#log.events.length > 0) return [];
    const { cwd } = this.#parts.options;
    return [
      {
        type: "session_start",
        session: this.id,
        root: this.id,
        writer: "throughline/0.1.0",
        ...(cwd === undefined ? {} : { cwd }),
      },
    ];
  }

  async #closeOpenTurn(): Promise<readonly EventDraft[]> {
    const open = findOpenTurn(this.#log.events, this.#fold);
    return open === undefined ? [] : closeTurn(open, await this.#log.scratch.read());
  }

  async #userMessage(turn: string, input: Input): Promise<EventDraft> {
    return { type: "user_message", turn, by: "person", content: await toContent(input, this.#log) };
  }

  /** Until somebody gives it a better one, a session is called by its first words. */
  #titleFrom(input: Input): readonly EventDraft[] {
    if (this.title !== undefined) return [];
    const text =
      typeof input === "string"
        ? input
        : input.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
    const title = text
      .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ")
      .trim()
      .slice(0, MAX_TITLE);
    return title === "" ? [] : [{ type: "title", title: this.#redact(title) }];
  }

  async *#poll(signal: AbortSignal | undefined): AsyncGenerator<LoggedEvent> {
    while (signal?.aborted !== true && !this.#closed) {
      const added = await this.#log.refresh();
      this.#fold.add(added);
      yield* added;
      if (added.length === 0) await this.#clock.sleep(POLL_MS, signal).catch(() => undefined);
    }
  }
}

const POLL_MS = 200;
const MAX_TITLE = 60;
