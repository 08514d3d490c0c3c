/**
 * A session behind HTTP, with the same handle as a local one. Its properties (title, usage, model …) are what the
 * server last reported: they are updated while the session is followed, and by every answer.
 */

import {
  type ApproveOptions,
  checkAnswer,
  checkHandleOptions,
  type CompactOptions,
  type Decision,
  type EditOptions,
  type EventsOptions,
  type ExplainOptions,
  type FollowOptions,
  type ForkOptions,
  type HandleSendOptions,
  type Input,
  type McpPrompt,
  type McpPromptMessage,
  type McpServerView,
  type ModelView,
  type QueuedTurn,
  type RebuiltRequest,
  type RequestPreview,
  type ResumeOptions,
  type RetryOptions,
  type RuleView,
  type SessionHandle,
  type SessionState,
  type SwitchPreview,
  type Turn,
  type TurnOptions,
  type TurnState,
} from "../../base/api/index.ts";
import {
  type ContextUse,
  type ElicitationAnswer,
  type LoggedEvent,
  parseLine,
  type SessionEvent,
  type Usage,
} from "../../base/events/index.ts";
import { codedError, codeOf, createIdSource, type IdSource, onAbort } from "../../base/support/index.ts";
import { followFeed } from "./event-feed.ts";
import { type Http, isAway, queryOf, statusOf } from "./http.ts";
import { readLines } from "./line-reader.ts";
import { RemoteTurn } from "./remote-turn.ts";

const ASK_SECONDS = 25;

export class RemoteSession implements SessionHandle {
  readonly #http: Http;
  readonly #ids: IdSource;
  readonly #path: string;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
  #state: SessionState;
  #lastSeq: number;
  /** How many followers have no connection now, and how often one lost it. */
  #lost = 0;
  #losses = 0;
  /** The last request that starts a turn. */
  #starting: Promise<unknown> = Promise.resolve();

  constructor(http: Http, state: SessionState) {
    this.#http = http;
    this.#ids = createIdSource(() => http.clock.now());
    this.#path = `/api/sessions/${encodeURIComponent(state.id)}`;
    this.#state = state;
    this.#lastSeq = state.lastSeq;
  }

  get id(): string {
    return this.#state.id;
  }

  get title(): string | undefined {
    return this.#state.title;
  }

  get usage(): Usage {
    return this.#state.usage;
  }

  get costUsd(): number | undefined {
    return this.#state.costUsd;
  }

  get model(): ModelView {
    return this.#state.model;
  }

  get context(): ContextUse | undefined {
    return this.#state.context;
  }

  get rules(): readonly RuleView[] {
    return this.#state.rules ?? []; // absent on servers of earlier versions
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get interrupted(): boolean {
    return this.#state.interrupted;
  }

  get access(): "write" | "read" {
    return this.#state.access;
  }

  get writer(): "live" | "none" {
    return this.#state.writer;
  }

  get connection(): "open" | "lost" {
    return this.#lost > 0 ? "lost" : "open";
  }

  get queued(): readonly QueuedTurn[] {
    return this.#state.queued ?? []; // absent on servers of earlier versions
  }

  onChange(listener: () => void): () => void {
    const own = (): void => listener(); // so that the same function can be registered twice
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  send(input: Input, options: HandleSendOptions = {}): Turn {
    checkHandleOptions("send", options);
    const { signal: _signal, turn: _turn, ready: _ready, bufferEvents: _buffer, ...rest } = options;
    return this.#start("turns", { input, ...rest }, options);
  }

  resume(options: ResumeOptions = {}): Turn {
    checkHandleOptions("resume", options);
    return this.#start("resume", { output: options.output }, options);
  }

  retry(options: RetryOptions = {}): Turn {
    checkHandleOptions("retry", options);
    return this.#start("retry", { from: options.from, output: options.output }, options);
  }

  edit(seq: number, input: Input, options: EditOptions = {}): Turn {
    checkHandleOptions("edit", options);
    return this.#start("edit", { seq, input, output: options.output }, options);
  }

  async cancel(): Promise<boolean> {
    try {
      await this.#http.post(`${this.#path}/cancel`, {}, { again: true });
      return true;
    } catch (error) {
      if (codeOf(error) === "nothing_to_cancel" || codeOf(error) === "turn_ended") return false;
      throw error;
    }
  }

  /** Sent again if the answer is lost: the server still knows the message. */
  async withdraw(turn: string): Promise<Input> {
    const path = `${this.#path}/turns/${encodeURIComponent(turn)}/withdraw`;
    const { input } = await this.#http.post<{ readonly input: Input }>(path, {}, { again: true });
    this.#take({ ...this.#state, queued: this.queued.filter((one) => one.turn !== turn) });
    return input;
  }

  async approve(requestId: string, options: ApproveOptions = {}): Promise<void> {
    checkHandleOptions("approve", options);
    const { argumentsHash, forSession } = options;
    await this.#answer(requestId, { decision: "allow", argumentsHash, forSession });
  }

  async deny(requestId: string, reason?: string): Promise<void> {
    await this.#answer(requestId, { decision: "deny", reason });
  }

  async answer(requestId: string, answer: ElicitationAnswer): Promise<void> {
    checkAnswer(answer);
    await this.#http.post(`${this.#path}/elicitations/${encodeURIComponent(requestId)}`, answer);
  }

  async allow(rule: string): Promise<void> {
    await this.#change("rules", { rule });
  }

  async disallow(rule: string): Promise<void> {
    await this.#change("rules", { rule, removed: true });
  }

  async setModel(name: string): Promise<void> {
    await this.#change("model", { model: name });
  }

  async rename(title: string): Promise<void> {
    await this.#change("title", { title });
  }

  async undo(): Promise<void> {
    await this.#change("undo", {});
  }

  async keepLastTurns(count: number): Promise<void> {
    await this.#change("truncate", { keepTurns: count });
  }

  async truncateFrom(seq: number): Promise<void> {
    await this.#change("truncate", { from: seq });
  }

  async checkout(options: { readonly to: number }): Promise<void> {
    checkHandleOptions("checkout", options);
    await this.#change("checkout", options);
  }

  /** The signal ends the wait and asks the server to cancel the compaction, which runs there. */
  async compact(options: CompactOptions = {}): Promise<void> {
    checkHandleOptions("compact", options);
    const { signal, ...rest } = options;
    const done = this.#change("compact", rest);
    if (signal === undefined) return done;
    done.catch(() => undefined);
    let forget: (() => void) | undefined;
    const aborted = new Promise<never>((_, reject) => {
      const stop = (): void => {
        void this.cancel().catch(() => undefined);
        reject(signal.reason as Error);
      };
      if (signal.aborted) stop();
      else forget = onAbort(signal, stop);
    });
    return Promise.race([done, aborted]).finally(() => forget?.());
  }

  async fork(options: ForkOptions = {}): Promise<SessionHandle> {
    checkHandleOptions("fork", options);
    return new RemoteSession(this.#http, await this.#http.post<SessionState>(`${this.#path}/fork`, options));
  }

  async mcpServers(): Promise<readonly McpServerView[]> {
    return (await this.#http.get<{ readonly servers: readonly McpServerView[] }>(`${this.#path}/mcp`))
      .servers;
  }

  async reconnectMcp(server?: string): Promise<readonly McpServerView[]> {
    const path = `${this.#path}/mcp/reconnect`;
    return (await this.#http.post<{ readonly servers: readonly McpServerView[] }>(path, { server })).servers;
  }

  async mcpPrompts(): Promise<readonly McpPrompt[]> {
    const path = `${this.#path}/mcp/prompts`;
    return (await this.#http.get<{ readonly prompts: readonly McpPrompt[] }>(path)).prompts;
  }

  async mcpPrompt(
    server: string,
    name: string,
    given: Readonly<Record<string, string>> = {},
  ): Promise<readonly McpPromptMessage[]> {
    const body = { server, name, arguments: given };
    const path = `${this.#path}/mcp/prompt`;
    return (await this.#http.post<{ readonly messages: readonly McpPromptMessage[] }>(path, body)).messages;
  }

  previewSwitch(name: string): Promise<SwitchPreview> {
    return this.#http.get(`${this.#path}/switch${queryOf({ model: name })}`);
  }

  async preview(options: { readonly model?: string } = {}): Promise<RequestPreview> {
    checkHandleOptions("preview", options);
    return this.#http.get(`${this.#path}/preview${queryOf({ model: options.model })}`);
  }

  async explain(options: ExplainOptions = {}): Promise<readonly Decision[]> {
    checkHandleOptions("explain", options);
    const path = `${this.#path}/explain${queryOf({ request: options.request })}`;
    return (await this.#http.get<{ readonly decisions: readonly Decision[] }>(path)).decisions;
  }

  rebuild(request: number): Promise<RebuiltRequest> {
    return this.#http.get(`${this.#path}/requests/${request}`);
  }

  async blob(name: string): Promise<Uint8Array | undefined> {
    try {
      const response = await this.#http.open(`${this.#path}/blobs/${encodeURIComponent(name)}`, "*/*");
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  async *events(options: EventsOptions = {}): AsyncGenerator<LoggedEvent> {
    checkHandleOptions("events", options);
    const { after = -1, path = "all" } = options;
    const log = `${this.#path}/log${queryOf({ after, path })}`;
    const { body } = await this.#http.open(log, "application/x-ndjson", this.#closing.signal);
    if (body === null) return;
    for await (const line of readLines(body)) yield parseLine(line);
  }

  async *follow(options: FollowOptions = {}): AsyncGenerator<SessionEvent> {
    checkHandleOptions("follow", options);
    const ended = new AbortController();
    const stop = (): void => ended.abort();
    const signals = [options.signal, this.#closing.signal];
    const forget = signals.map((signal) => signal && onAbort(signal, stop));
    if (signals.some((signal) => signal?.aborted === true)) stop();
    let lost = false;
    const onConnection = (open: boolean): void => {
      if (lost === !open) return;
      lost = !open;
      this.#lost += lost ? 1 : -1;
      if (lost) this.#losses += 1;
      this.#changed();
    };
    try {
      const feed = followFeed(this.#http, {
        path: `${this.#path}/events`,
        after: options.after ?? -1,
        signal: ended.signal,
        onState: (state) => this.#take(state),
        onReset: (lastSeq) => {
          this.#lastSeq = lastSeq;
        },
        onConnection,
      });
      for await (const event of feed) {
        if ("seq" in event && event.seq > this.#lastSeq) this.#lastSeq = event.seq;
        yield event;
      }
    } finally {
      onConnection(true);
      stop();
      for (const one of forget) one?.();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * With an id of ours the request may be sent twice. A resumed turn already has its id. Requests go out one after the
   * other, so that turns begin in the order in which they were asked for.
   */
  #start(route: "turns" | "retry" | "edit" | "resume", body: object, options: TurnOptions): Turn {
    if (this.#closing.signal.aborted) throw codedError("log_closed", `session "${this.id}" is closed`);
    if (options.ready !== undefined)
      throw codedError("options_invalid", `${route}: ready works only in a local session: omit it`);
    const { turn = this.#ids.next("tn"), signal } = options;
    const path = `${this.#path}/${route}`;
    const hasId = route === "resume";
    return new RemoteTurn({
      id: hasId ? "" : turn,
      signal,
      after: this.#lastSeq,
      start: (cancelled) =>
        this.#inOrder(() =>
          hasId
            ? this.#http.post<TurnState>(path, body)
            : this.#sureOf(cancelled, () =>
                this.#http.post<TurnState>(path, { ...body, turn }, { again: true, givenUp: cancelled }),
              ),
        ),
      ask: (id, when) => this.#ask(id, when),
      cancel: async (id) => {
        await this.#http.post(`${this.#path}/cancel`, { turn: id }, { again: true });
      },
      follow: (after, stop) => this.follow({ after, signal: stop }),
    });
  }

  #inOrder<T>(request: () => Promise<T>): Promise<T> {
    const own = this.#starting.then(request);
    this.#starting = own.catch(() => undefined);
    return own;
  }

  /** While a follower has no connection, the request waits for it and is then sent again. */
  async #sureOf<T>(cancelled: AbortSignal, request: () => Promise<T>): Promise<T> {
    for (;;) {
      const before = this.#losses;
      const wasLost = this.#lost > 0;
      try {
        return await request();
      } catch (error) {
        const isLoss = wasLost || this.#losses > before;
        if (!isAway(error) || !isLoss || !(await this.#isBack(cancelled))) throw error;
      }
    }
  }

  /** Resolves to true when the connection is back, to false if nobody waits for it any more. */
  async #isBack(cancelled: AbortSignal): Promise<boolean> {
    const ends = [cancelled, this.#closing.signal];
    const isOver = (): boolean => ends.some(({ aborted }) => aborted);
    while (this.connection === "lost" && !isOver()) {
      let forget: readonly (() => void)[] = [];
      await new Promise<void>((resolve) => {
        forget = [this.onChange(resolve), ...ends.map((signal) => onAbort(signal, resolve))];
      });
      for (const one of forget) one();
    }
    return !isOver();
  }

  async #ask(turn: string, when: "now" | "ended"): Promise<TurnState> {
    const query = queryOf({ wait: when === "now" ? undefined : ASK_SECONDS });
    const path = `${this.#path}/turns/${encodeURIComponent(turn)}${query}`;
    const state = await this.#http.get<TurnState>(path, this.#closing.signal);
    if (state.state !== "done") return state;
    try {
      this.#take(await this.#http.get<SessionState>(this.#path));
    } catch {
      // The turn has ended anyway. If the session is gone, the next call reports it.
    }
    return state;
  }

  async #answer(requestId: string, body: object): Promise<void> {
    await this.#http.post(`${this.#path}/permissions/${encodeURIComponent(requestId)}`, body);
  }

  async #change(route: string, body: object): Promise<void> {
    this.#take(await this.#http.post<SessionState>(`${this.#path}/${route}`, body));
  }

  #take(state: SessionState): void {
    this.#state = state;
    if (state.lastSeq > this.#lastSeq) this.#lastSeq = state.lastSeq;
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
