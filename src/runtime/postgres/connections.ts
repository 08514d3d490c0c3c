/**
 * The connections of one store: a fixed number, however many sessions are open. Appends, reads, live rows and hints have
 * their own, so that none of them waits behind another: a payload of several megabytes must not hold up a lease.
 */

import type { Clock } from "../../base/support/index.ts";
import { Lane, type LaneOptions, repeatable, type Row, type Statement } from "./lane.ts";
import type { StoreAddress } from "./store-url.ts";

export class Connections {
  readonly #options: LaneOptions;
  readonly #clock: Clock;
  readonly #reads: readonly Lane[];
  readonly #closing = new AbortController();
  /** Two, so that one can carry the next batch while the other waits for the disk. */
  readonly appends: readonly Lane[];
  /** For appends above 1 MiB and whole sessions. */
  readonly large: Lane;
  /** For short statements that must not wait: the lease, and live rows. */
  readonly quick: Lane;

  constructor(
    address: StoreAddress,
    times: { readonly attemptMs: number; readonly longMs: number },
    clock: Clock,
  ) {
    this.#clock = clock;
    const { attemptMs, longMs } = times;
    this.#options = { address, attemptMs, prepare: { names: true }, closing: this.#closing.signal };
    const lane = (ms: number): Lane => new Lane({ ...this.#options, attemptMs: ms });
    this.appends = [lane(attemptMs), lane(attemptMs)];
    this.large = lane(longMs);
    this.#reads = [lane(longMs), lane(longMs)];
    this.quick = lane(attemptMs);
  }

  get address(): StoreAddress {
    return this.#options.address;
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** How many are open right now, without the listener's. */
  get open(): number {
    return [...this.appends, ...this.#reads, this.large, this.quick].filter(({ connected }) => connected)
      .length;
  }

  /** Whether statements are prepared by name; a pooler may have refused that. */
  get prepares(): boolean {
    return this.#options.prepare.names;
  }

  /** Runs a statement that may be repeated without harm. Rejects with an error of ours. */
  read(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    return repeatable(() => this.#leastBusy(), statement, values, this.#clock);
  }

  /** The same for a statement that must be answered soon: it is given up and repeated earlier. */
  ask(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    return repeatable(() => this.#leastBusy(), statement, values, this.#clock, this.#options.attemptMs);
  }

  close(): void {
    this.#closing.abort();
  }

  #leastBusy(): Lane {
    return this.#reads.reduce((best, lane) => (lane.load < best.load ? lane : best));
  }
}
