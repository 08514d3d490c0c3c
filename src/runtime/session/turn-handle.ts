/**
 * The caller's handle on a turn. Leaving its loop early, iterating twice or not iterating at all does not affect the
 * turn.
 */

import {
  completedText,
  textOf,
  type Turn,
  type TurnOptions,
  turnResponse,
  type TurnResponseOptions,
  type TurnResult,
} from "../../base/api/index.ts";
import type { SessionEvent } from "../../base/events/index.ts";
import { Broadcast, codedError, onAbort } from "../../base/support/index.ts";
import { TURN_CANCELLED } from "../turn/index.ts";
import { KeptEvents } from "./kept-events.ts";

export class TurnHandle implements Turn {
  readonly id: string;
  /** The caller's signal was aborted before the call, so nothing was promised and nothing is logged. */
  readonly abortedBefore: boolean;
  readonly #events = new Broadcast<SessionEvent>();
  /** For readers that come later. */
  readonly #kept: KeptEvents | undefined;
  readonly #controller = new AbortController();
  readonly #result: Promise<TurnResult>;
  readonly #accepted: Promise<unknown>;
  #host: TurnHandle | undefined;
  #listens = false;
  #begun = false;

  /** `run` must not reject. The turn is accepted when `ready` resolves. */
  constructor(
    id: string,
    { signal, bufferEvents = true }: Pick<TurnOptions, "signal" | "bufferEvents">,
    ready: Promise<unknown> | undefined,
    run: (handle: TurnHandle) => Promise<TurnResult>,
  ) {
    this.id = id;
    this.#accepted = ready ?? Promise.resolve();
    this.#kept = bufferEvents ? new KeptEvents() : undefined;
    const cancel = (): void => this.cancel();
    this.abortedBefore = signal?.aborted === true;
    if (this.abortedBefore) cancel();
    const forget = signal && onAbort(signal, cancel);
    this.#result = run(this).finally(() => {
      forget?.();
      this.#events.end();
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Called when the turns before it have ended. */
  begin(): void {
    this.#begun = true;
  }

  /** False while it waits for other turns. If it is stopped then, it never begins. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  /** The message joined another turn. Stopping this turn then stops that one. */
  join(host: TurnHandle): void {
    this.#host = host;
  }

  /** Whether its message joined another turn. */
  get hasJoined(): boolean {
    return this.#host !== undefined;
  }

  /** Of the turn that it joined, a turn gets the events from its own message on. */
  push(events: readonly SessionEvent[]): void {
    const own = this.#host === undefined || this.#listens ? events : this.#fromOwnMessage(events);
    if (own.length === 0) return;
    this.#listens = true;
    this.#kept?.add(own);
    this.#events.push(own);
  }

  #fromOwnMessage(events: readonly SessionEvent[]): readonly SessionEvent[] {
    const at = events.findIndex((event) => event.type === "user_message" && event.steer === this.id);
    return at === -1 ? [] : events.slice(at);
  }

  async accepted(): Promise<void> {
    await this.#accepted;
  }

  result(): Promise<TurnResult> {
    return this.#result;
  }

  async text(): Promise<string> {
    return completedText(await this.#result);
  }

  get textStream(): AsyncIterable<string> {
    return textOf(this);
  }

  toResponse(options?: TurnResponseOptions): Response {
    return turnResponse(this, options);
  }

  cancel(): void {
    this.stop(codedError(TURN_CANCELLED, "the turn was cancelled"));
  }

  /** Stops the turn for a reason of the session: it is being closed, or its log refused an event. */
  stop(reason: unknown): void {
    if (this.#host === undefined) this.#controller.abort(reason);
    else this.#host.stop(reason);
  }

  [Symbol.asyncIterator](): AsyncIterator<SessionEvent> {
    return this.#events.fromNow(undefined, this.#kept?.all());
  }
}
