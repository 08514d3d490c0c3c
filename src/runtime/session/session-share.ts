/**
 * One handle on a session that several handles of one agent share. Closing it ends the turns it started and its
 * followers; the session itself is released with the last handle.
 */

import type { FollowOptions } from "../../base/api/index.ts";
import { codedError, isObject, onAbort } from "../../base/support/index.ts";
import { SESSION_CLOSED } from "../turn/index.ts";
import type { LocalSession } from "./session.ts";
import { TurnHandle } from "./turn-handle.ts";
import type { Session } from "./types.ts";

/** Releases the handle. `endOwn` ends the work of this handle; it is called unless the whole session is closed. */
export type Release = (
  endOwn: () => Promise<void>,
  beforeRelease?: () => Promise<void>,
  turns?: "cancel" | "leave",
) => Promise<void>;

/** How a closed handle refuses what would act on the session. Its other members still read. */
const WHEN_CLOSED = new Map<PropertyKey, "throws" | "rejects" | "does nothing">(
  Object.entries({
    send: "throws",
    resume: "throws",
    retry: "throws",
    edit: "throws",
    cancel: "does nothing",
    withdraw: "rejects",
    approve: "rejects",
    deny: "rejects",
    answer: "rejects",
    allow: "rejects",
    disallow: "rejects",
    setModel: "rejects",
    rename: "rejects",
    fork: "rejects",
    undo: "rejects",
    keepLastTurns: "rejects",
    truncateFrom: "rejects",
    checkout: "rejects",
    compact: "rejects",
    reconnectMcp: "rejects",
    mcpPrompt: "rejects",
    persist: "rejects",
    endUnbegun: "rejects",
    closeInterrupted: "rejects",
  } satisfies Partial<Record<keyof Session, "throws" | "rejects" | "does nothing">>),
);

export function shareOf(session: LocalSession, release: Release): Session {
  const share = new Share(session, release);
  return new Proxy(session, {
    get: (_target, name) => share.member(name),
    set: (_target, name, value: unknown) => share.replace(name, value),
  });
}

/** Options that are wrong stay as they are, for the session to refuse. */
function withSignal(options: FollowOptions, signal: AbortSignal): FollowOptions {
  const given: unknown = options;
  if (!isObject(given) || (options.signal !== undefined && !(options.signal instanceof AbortSignal)))
    return options;
  return { ...options, signal };
}

type Method = (...args: readonly unknown[]) => unknown;

class Share {
  readonly #session: LocalSession;
  readonly #release: Release;
  readonly #closing = new AbortController();
  readonly #turns = new Set<TurnHandle>();
  readonly #listeners = new Set<() => void>();
  readonly #own = new Map<PropertyKey, unknown>();
  #closed: Promise<void> | undefined;

  constructor(session: LocalSession, release: Release) {
    this.#session = session;
    this.#release = release;
    const own: Partial<Record<keyof Session, unknown>> = {
      close: (beforeRelease?: () => Promise<void>, turns?: "cancel" | "leave") =>
        this.#close(beforeRelease, turns),
      [Symbol.asyncDispose]: () => this.#close(),
      follow: (options: FollowOptions = {}) => {
        const ended = new AbortController();
        const events = session.follow(withSignal(options, ended.signal));
        return this.#untilClosed(options.signal, ended, events);
      },
      followBatches: (options: FollowOptions = {}) => {
        const ended = new AbortController();
        const batches = session.followBatches(withSignal(options, ended.signal));
        return this.#untilClosed(options.signal, ended, batches);
      },
      onChange: (listener: () => void) => this.#listen(listener),
    };
    for (const name of Reflect.ownKeys(own)) this.#own.set(name, own[name as keyof Session]);
  }

  member(name: PropertyKey): unknown {
    if (this.#own.has(name)) return this.#own.get(name);
    const value: unknown = Reflect.get(this.#session, name, this.#session);
    if (typeof value !== "function" || name === "constructor") return value;
    const method: Method = (...args) => {
      const refusal = this.#closed === undefined ? undefined : WHEN_CLOSED.get(name);
      if (refusal !== undefined) return this.#refuse(refusal);
      const result: unknown = Reflect.apply(value, this.#session, args);
      if (result instanceof TurnHandle) this.#keep(result);
      return result;
    };
    this.#own.set(name, method);
    return method;
  }

  replace(name: PropertyKey, value: unknown): boolean {
    this.#own.set(name, value);
    return true;
  }

  /** As the session itself would, once it is closed. */
  #refuse(how: "throws" | "rejects" | "does nothing"): Promise<false> {
    if (how === "does nothing") return Promise.resolve(false);
    const error = codedError("log_closed", `session "${this.#session.id}" is closed`);
    if (how === "throws") throw error;
    return Promise.reject(error);
  }

  #keep(turn: TurnHandle): void {
    this.#turns.add(turn);
    const forget = (): void => void this.#turns.delete(turn);
    turn.result().then(forget, forget);
  }

  async *#untilClosed<Event>(
    given: AbortSignal | undefined,
    ended: AbortController,
    events: AsyncIterable<Event>,
  ): AsyncGenerator<Event> {
    const stop = (): void => ended.abort();
    const signals = [given, this.#closing.signal];
    const forget = signals.map((signal) => signal && onAbort(signal, stop));
    if (signals.some((signal) => signal?.aborted === true)) stop();
    try {
      yield* events;
    } finally {
      for (const one of forget) one?.();
    }
  }

  #listen(listener: () => void): () => void {
    const stop = this.#session.onChange(listener);
    this.#listeners.add(stop);
    return () => {
      this.#listeners.delete(stop);
      stop();
    };
  }

  #close(beforeRelease?: () => Promise<void>, turns?: "cancel" | "leave"): Promise<void> {
    this.#closed ??= this.#end(beforeRelease, turns);
    return this.#closed;
  }

  async #end(beforeRelease?: () => Promise<void>, turns?: "cancel" | "leave"): Promise<void> {
    try {
      await this.#release(() => this.#endOwn(), beforeRelease, turns);
    } finally {
      this.#closing.abort();
      for (const stop of this.#listeners) stop();
    }
  }

  /**
   * Waits for the turns that this handle has begun. One that joined the turn of another handle goes on with it, and one
   * that waits for another handle's turn will not begin.
   */
  async #endOwn(): Promise<void> {
    const turns = [...this.#turns].filter((turn) => !turn.hasJoined);
    for (const turn of turns) turn.stop(codedError(SESSION_CLOSED, "the session was closed"));
    await Promise.all(turns.filter((turn) => turn.hasBegun).map((turn) => turn.result()));
  }
}
