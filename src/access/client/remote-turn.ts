/**
 * A turn on a server. It continues if this process ends. Leaving the loop early, iterating twice or not iterating at
 * all does not affect it.
 */

import {
  completedText,
  type StoppedTurn,
  textOf,
  type Turn,
  turnResponse,
  type TurnResponseOptions,
  type TurnResult,
  type TurnState,
  turnResult,
} from "../../base/api/index.ts";
import { NO_USAGE, type SessionEvent } from "../../base/events/index.ts";
import { codeOf, messageOf, onAbort } from "../../base/support/index.ts";
import { isAway } from "./http.ts";

export interface RemoteTurnParts {
  /** Empty if only the server knows it. */
  readonly id: string;
  readonly signal: AbortSignal | undefined;
  /** Sends the request that starts the turn. The signal says that nobody waits for it any more. */
  start(cancelled: AbortSignal): Promise<TurnState>;
  /** Resolves at once, or when the turn has ended, within a time limit. */
  ask(id: string, when: "now" | "ended"): Promise<TurnState>;
  cancel(id: string): Promise<void>;
  follow(after: number, signal: AbortSignal): AsyncIterable<SessionEvent>;
  /** The last event known when the turn was started. */
  readonly after: number;
}

export class RemoteTurn implements Turn {
  readonly #parts: RemoteTurnParts;
  readonly #started: Promise<TurnState>;
  /** Removes the listener from the caller's signal. */
  readonly #forget: (() => void) | undefined;
  readonly #cancelled = new AbortController();
  #id: string;
  #done: Promise<TurnState> | undefined;

  constructor(parts: RemoteTurnParts) {
    this.#parts = parts;
    this.#id = parts.id;
    this.#started = this.#start();
    this.#started.catch(() => undefined); // reported by `result`
    const { signal } = parts;
    this.#forget = signal && onAbort(signal, () => this.cancel());
    if (signal?.aborted === true) this.cancel();
  }

  get id(): string {
    return this.#id;
  }

  async accepted(): Promise<void> {
    await this.#started;
  }

  async result(): Promise<TurnResult> {
    const { result } = await this.#ended();
    return result ?? LOST;
  }

  async text(): Promise<string> {
    return completedText(await this.result());
  }

  get textStream(): AsyncIterable<string> {
    return textOf(this);
  }

  toResponse(options?: TurnResponseOptions): Response {
    return turnResponse(this, options);
  }

  /** Best effort: if the server cannot be reached, the result says so. */
  cancel(): void {
    this.#cancelled.abort();
    this.#started.then(() => this.#parts.cancel(this.#id)).catch(() => undefined);
  }

  /**
   * The events of this turn, from its first, which may close an earlier turn, to its last, which may belong to a later
   * one.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<SessionEvent> {
    const started = await this.#started;
    const over = new AbortController();
    const window = new Window(this.#id, started.firstSeq, () => this.#parts.ask(this.#id, "now"));
    const watching = this.#ended().then(
      (state) => window.close(state) && over.abort(),
      () => over.abort(), // the result says why
    );
    try {
      for await (const event of this.#parts.follow(this.#parts.after, over.signal)) {
        yield* await window.take(event);
        if (window.isOver) return;
      }
    } finally {
      over.abort();
      void watching;
    }
  }

  async #start(): Promise<TurnState> {
    const state = await this.#parts.start(this.#cancelled.signal);
    this.#id = state.turn;
    return state;
  }

  #ended(): Promise<TurnState> {
    this.#done ??= this.#waitForEnd().finally(() => this.#forget?.());
    return this.#done;
  }

  async #waitForEnd(): Promise<TurnState> {
    let state = await this.#started;
    let lost = 0;
    while (state.state !== "done") {
      try {
        state = await this.#parts.ask(this.#id, "ended");
        lost = 0;
      } catch (error) {
        if (isAway(error)) {
          const cancelled = this.#cancelled.signal.aborted;
          // The server may be restarting; each request has already waited a while for it. A cancelled turn is not
          // waited for.
          if (!cancelled && (lost += 1) < MAX_LOST) continue;
          return { turn: this.#id, state: "done", result: unreachable(error, cancelled) };
        }
        // The server kept sessions only in memory and was restarted, or the session was removed.
        if (codeOf(error) !== "turn_unknown") throw error;
        return { turn: this.#id, state: "done", result: UNKNOWN_TURN };
      }
    }
    return state;
  }
}

const LOST: StoppedTurn = { status: "interrupted", text: "", usage: NO_USAGE, steps: 0 };
const UNKNOWN_TURN: StoppedTurn = {
  ...LOST,
  error: { code: "turn_unknown", message: "the server no longer knows the turn" },
};
const MAX_LOST = 20;

/** The request was sent, and only the server knows its outcome. */
function unreachable(error: unknown, cancelled: boolean): TurnResult {
  const status = cancelled ? "cancelled" : "failed";
  return turnResult({ ...LOST, status, error: { code: "server_unreachable", message: messageOf(error) } });
}

const MAX_HELD = 1000;

type TurnEvent = Exclude<SessionEvent, { readonly type: "reset" }>;

/**
 * Decides which of a session's events belong to the turn. Only the server knows where they begin; events are held until
 * then.
 */
class Window {
  readonly #turn: string;
  readonly #ask: () => Promise<TurnState>;
  #first: number | undefined;
  #last: number | undefined;
  #seen = -1;
  /** Held events, each with the seq of the last logged event at that time. */
  #held: { readonly event: TurnEvent; readonly behind: number }[] = [];

  constructor(turn: string, first: number | undefined, ask: () => Promise<TurnState>) {
    this.#turn = turn;
    this.#first = first;
    this.#ask = ask;
  }

  get isOver(): boolean {
    return this.#last !== undefined && this.#seen >= this.#last;
  }

  /** Returns true if no more events will follow. */
  close({ firstSeq, lastSeq }: TurnState): boolean {
    this.#first ??= firstSeq;
    this.#last = lastSeq ?? -1;
    return this.isOver;
  }

  async take(event: SessionEvent): Promise<readonly SessionEvent[]> {
    // After a reset the log is repeated; only events not seen before are new to the caller.
    if (event.type === "reset" || ("seq" in event && event.seq <= this.#seen)) return [];
    if ("seq" in event) this.#seen = event.seq;
    this.#held.push({ event, behind: this.#seen });
    const joined = event.type === "user_message" && event.steer === this.#turn;
    if (this.#first === undefined && event.turn !== this.#turn && !joined) {
      if (this.#held.length > MAX_HELD) this.#held.shift();
      return [];
    }
    this.#first ??= (await this.#ask()).firstSeq ?? ("seq" in event ? event.seq : this.#seen + 1);
    const own = this.#held.filter(({ event: one, behind }) => this.#isOwn(one, behind));
    this.#held = [];
    return own.map(({ event: one }) => one);
  }

  #isOwn(event: TurnEvent, behind: number): boolean {
    const first = this.#first ?? Number.POSITIVE_INFINITY;
    if (!("seq" in event)) return event.turn === this.#turn || behind >= first;
    return event.seq >= first && event.seq <= (this.#last ?? Number.POSITIVE_INFINITY);
  }
}
