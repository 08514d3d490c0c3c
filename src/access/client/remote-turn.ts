/**
 * A turn on a server. It goes on when this process goes away; leaving its loop early, iterating twice or not at all
 * changes nothing about it.
 */

import type { Turn, TurnResult, TurnState } from "../../base/api/index.ts";
import { NO_USAGE, type SessionEvent } from "../../base/events/index.ts";
import { codeOf, messageOf, onAbort, ThroughlineError } from "../../base/support/index.ts";

export interface RemoteTurnParts {
  /** Empty where only the server knows it. */
  readonly id: string;
  readonly signal: AbortSignal | undefined;
  /** Sends it off. */
  start(): Promise<TurnState>;
  /** At once, or when the turn has ended, but not for ever. */
  ask(id: string, when: "now" | "ended"): Promise<TurnState>;
  cancel(id: string): Promise<void>;
  follow(after: number, signal: AbortSignal): AsyncIterable<SessionEvent>;
  /** The last event that was known when the turn was sent off. */
  readonly after: number;
}

export class RemoteTurn implements Turn {
  readonly #parts: RemoteTurnParts;
  readonly #started: Promise<TurnState>;
  /** Lets go of the signal of whoever began it. */
  readonly #forget: (() => void) | undefined;
  #id: string;
  #cancelled = false;
  #done: Promise<TurnState> | undefined;

  constructor(parts: RemoteTurnParts) {
    this.#parts = parts;
    this.#id = parts.id;
    this.#started = this.#start();
    this.#started.catch(() => undefined); // told to whoever asks for the result
    const { signal } = parts;
    this.#forget = signal && onAbort(signal, () => this.cancel());
    if (signal?.aborted === true) this.cancel();
  }

  get id(): string {
    return this.#id;
  }

  async result(): Promise<TurnResult> {
    const { result } = await this.#ended();
    return result ?? LOST;
  }

  async text(): Promise<string> {
    const { status, text, error, reason } = await this.result();
    if (status === "completed") return text;
    throw new ThroughlineError({
      code: error?.code ?? `turn_${status}`,
      message: error?.message ?? `the turn ended ${status}${reason === undefined ? "" : `: ${reason}`}`,
      details: { status, reason },
    });
  }

  /** Heard or not: a server that cannot be reached is told by the result. */
  cancel(): void {
    this.#cancelled = true;
    this.#started.then(() => this.#parts.cancel(this.#id)).catch(() => undefined);
  }

  /** The events of this turn: from its first, which may close an earlier turn, to its last, which may be of a later one. */
  async *[Symbol.asyncIterator](): AsyncGenerator<SessionEvent> {
    const started = await this.#started;
    const over = new AbortController();
    const window = new Window(this.#id, started.firstSeq, () => this.#parts.ask(this.#id, "now"));
    const watching = this.#ended().then(
      (state) => window.close(state) && over.abort(),
      () => over.abort(), // the result tells why
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
    const state = await this.#parts.start();
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
        if (codeOf(error) === "server_unreachable") {
          // It may be starting again; each asking has waited for it a while already. Nobody waits for what was stopped.
          if (!this.#cancelled && (lost += 1) < MAX_LOST) continue;
          return { turn: this.#id, state: "done", result: unreachable(error, this.#cancelled) };
        }
        // Its server kept sessions in memory alone, and is gone with them, or the session was removed.
        if (codeOf(error) !== "turn_unknown") throw error;
        return { turn: this.#id, state: "done", result: NEVER_BEGUN };
      }
    }
    return state;
  }
}

const LOST: TurnResult = { status: "interrupted", text: "", usage: NO_USAGE, steps: 0 };
const NEVER_BEGUN: TurnResult = {
  ...LOST,
  error: { code: "turn_unknown", message: "the server does not know the turn any more" },
};
const MAX_LOST = 20;

/** It was sent, and what became of it only the server knows. */
function unreachable(error: unknown, cancelled: boolean): TurnResult {
  const status = cancelled ? "cancelled" : "failed";
  return { ...LOST, status, error: { code: "server_unreachable", message: messageOf(error) } };
}

const MAX_HELD = 1000;

type TurnEvent = Exclude<SessionEvent, { readonly type: "reset" }>;

/** Which of a session's events are the turn's own. Only the server knows where they begin; until then they are held. */
class Window {
  readonly #turn: string;
  readonly #ask: () => Promise<TurnState>;
  #first: number | undefined;
  #last: number | undefined;
  #seen = -1;
  /** With the last event that had come before it. */
  #held: { readonly event: TurnEvent; readonly behind: number }[] = [];

  constructor(turn: string, first: number | undefined, ask: () => Promise<TurnState>) {
    this.#turn = turn;
    this.#first = first;
    this.#ask = ask;
  }

  get isOver(): boolean {
    return this.#last !== undefined && this.#seen >= this.#last;
  }

  /** True when nothing more will come. */
  close({ firstSeq, lastSeq }: TurnState): boolean {
    this.#first ??= firstSeq;
    this.#last = lastSeq ?? -1;
    return this.isOver;
  }

  async take(event: SessionEvent): Promise<readonly SessionEvent[]> {
    // The log is told once more: of that only what was not seen yet is new to whoever iterates the turn.
    if (event.type === "reset" || ("seq" in event && event.seq <= this.#seen)) return [];
    if ("seq" in event) this.#seen = event.seq;
    this.#held.push({ event, behind: this.#seen });
    if (this.#first === undefined && event.turn !== this.#turn) {
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
