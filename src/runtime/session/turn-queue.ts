/**
 * The turns of a session: they run one after the other, have unique ids, and none begins after the session was closed.
 */

import type { Turn, TurnOptions, TurnResult } from "../../base/api/index.ts";
import { errorInfoOf, NO_USAGE } from "../../base/events/index.ts";
import { codedError, type IdSource, onAbort } from "../../base/support/index.ts";
import { type LiveLog, SESSION_CLOSED } from "../turn/index.ts";
import { TurnHandle } from "./turn-handle.ts";

export type TurnWork = (handle: TurnHandle, turn: string) => Promise<TurnResult>;

export class TurnQueue {
  readonly #live: LiveLog;
  readonly #ids: IdSource;
  readonly #turns = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #current: TurnHandle | undefined;
  #closed = false;

  constructor(live: LiveLog, ids: IdSource) {
    this.#live = live;
    this.#ids = ids;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether a turn is running or waiting. */
  get busy(): boolean {
    return this.#waiting > 0;
  }

  /** With `again`, the turn is already in the log and continues. */
  add(options: TurnOptions, work: TurnWork, which?: "again"): Turn {
    const { turn = this.#ids.next("tn") } = options;
    if (which !== "again" && options.turn !== undefined) this.#assertNew(options.turn);
    this.#assertOpen();
    const before = this.#last;
    this.#waiting += 1;
    this.#turns.add(turn);
    const ready = options.ready?.();
    ready?.catch(() => this.#turns.delete(turn)); // frees its id at once
    const handle = new TurnHandle(turn, options, async (own) => {
      await before;
      try {
        await ready;
      } catch (error) {
        this.#waiting -= 1;
        this.#live.changed();
        return { status: "failed", text: "", steps: 0, usage: NO_USAGE, error: errorInfoOf(error) };
      }
      this.#current = own;
      this.#live.listener = (events) => own.push(events);
      // If the log refuses an event, the turn and its work in progress end: nothing of it would be recorded.
      this.#live.refused = (reason) => own.stop(reason);
      const { lost } = this.#live.log;
      const forget = onAbort(lost, () => own.stop(lost.reason));
      try {
        return await work(own, turn);
      } finally {
        forget();
        this.#current = undefined;
        this.#live.listener = undefined;
        this.#live.refused = undefined;
        this.#waiting -= 1;
        this.#turns.delete(turn); // it is in the log, or never began
        this.#live.changed();
      }
    });
    this.#last = handle.result();
    return handle;
  }

  /** Resolves when everything added so far has ended. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** Resolves when the running turn has ended, with whether it was cancelled. */
  async cancel(): Promise<boolean> {
    const current = this.#current;
    current?.cancel();
    return (await current?.result())?.status === "cancelled";
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#current?.stop(codedError(SESSION_CLOSED, "the session was closed"));
    await this.#last;
  }

  #assertOpen(): void {
    const { mode, session } = this.#live.log;
    if (mode === "read") throw codedError("log_read_only", `session "${session}" is open for reading only`);
    if (this.#closed) throw codedError("log_closed", `session "${session}" is closed`);
  }

  /** The caller's id makes a repeated request harmless: over a network the caller cannot know whether the first arrived. */
  #assertNew(turn: string): void {
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(turn))
      throw codedError("turn_invalid", "a turn id must have 1 to 64 letters, digits, _ or -");
    if (this.#turns.has(turn) || this.#live.facts.turns.has(turn))
      throw codedError("turn_exists", `turn "${turn}" already exists`);
  }
}
