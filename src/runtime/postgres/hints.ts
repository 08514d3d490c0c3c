/**
 * Hints between nodes: "something is new in these sessions". A hint is never the data and never part of an append: a
 * commit that notifies takes a lock on the whole database (docs/adr/0022-postgres-store.md). Several are sent as one, on
 * a connection of its own. A pooler in transaction mode delivers none; then the nodes poll, and `doctor` says so.
 */

import { randomBytes } from "node:crypto";

import { type Clock, onAbort } from "../../base/support/index.ts";
import { clientClass, clientConfig, type PgClient } from "./driver.ts";
import { destroy, inTime } from "./lane.ts";
import type { StoreAddress } from "./store-url.ts";

const SEND_MS = 25;
/** A notification has at most 8,000 bytes. */
const MOST_BYTES = 7900;
const TEST_MS = 2000;
/** The text of a notification's statement: the channel, then what to say. */
export const NOTIFY = "select pg_notify($1, $2)";
const LEAST_WAIT_MS = 200;
const MOST_WAIT_MS = 5000;

/** `polling`: the connection works, but hints do not arrive on it. */
export type HintState = "off" | "connecting" | "listening" | "polling";

export interface HintsOptions {
  readonly address: StoreAddress;
  readonly attemptMs: number;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  /** Sends a notification on another connection. */
  readonly notify: (channel: string, payload: string) => Promise<unknown>;
  /** Sessions of which another node said something. Undefined: hints may have been missed, so look everywhere. */
  readonly heard: (sessions: readonly string[] | undefined) => void;
}

export class Hints {
  readonly #options: HintsOptions;
  readonly #channel: string;
  readonly #self = randomBytes(4).toString("hex");
  readonly #pending = new Set<string>();
  #client: PgClient | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Set while a notification waits to be sent, or to be answered: one at a time on a connection. */
  #sending: Promise<void> | undefined;
  #tested: (() => void) | undefined;
  state: HintState = "off";
  sent = 0;

  constructor(options: HintsOptions) {
    this.#options = options;
    this.#channel = `throughline_${options.address.schema}`;
  }

  /** Connects, and again after a loss, until the store is closed. */
  start(): void {
    if (this.state !== "off" || this.#options.closing.aborted) return;
    this.state = "connecting";
    void this.#stay();
  }

  tell(sessions: readonly string[]): void {
    this.start();
    for (const session of sessions) this.#pending.add(session);
    if (this.#pending.size === 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), SEND_MS).unref();
  }

  /** Sends what is left now, for example before the connection ends. */
  async flush(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.size === 0) return;
    this.#sending = this.#send();
    await this.#sending;
    this.#sending = undefined;
  }

  async #send(): Promise<void> {
    const sessions = [...this.#pending];
    this.#pending.clear();
    if (this.#client === undefined || this.state !== "listening") return; // the other nodes poll
    let payload = this.#self;
    for (const session of sessions) {
      if (payload.length + session.length >= MOST_BYTES) break; // polling finds the rest
      payload += ` ${session}`;
    }
    this.sent += 1;
    const client = this.#client;
    client.ref();
    try {
      const told = client.query({ text: NOTIFY, values: [this.#channel, payload] });
      await inTime(told, this.#options.attemptMs);
    } catch {
      destroy(client); // connects again below
    } finally {
      client.unref();
    }
  }

  async #stay(): Promise<void> {
    const { clock, closing } = this.#options;
    let wait = LEAST_WAIT_MS;
    while (!closing.aborted) {
      try {
        await this.#listen();
        wait = LEAST_WAIT_MS;
      } catch {
        wait = Math.min(wait * 2, MOST_WAIT_MS);
      }
      this.#client = undefined;
      this.state = closing.aborted ? "off" : "connecting";
      await clock.sleep(wait, closing).catch(() => undefined);
    }
  }

  /** Resolves when the connection is lost. */
  async #listen(): Promise<void> {
    const { address, attemptMs, closing, heard, notify } = this.#options;
    const client = new (await clientClass())(clientConfig(address, attemptMs));
    const loss = new AbortController();
    client.on("error", () => loss.abort());
    client.on("end", () => loss.abort());
    const forget = onAbort(closing, () => loss.abort());
    try {
      await client.connect();
      if (closing.aborted) return;
      client.on("notification", ({ payload = "" }) => this.#take(payload));
      await inTime(client.query(`listen "${this.#channel}"`), attemptMs);
      this.#client = client;
      const arrives = new Promise<"heard">((resolve) => {
        this.#tested = () => resolve("heard");
      });
      // From another connection: a pooler answers a client that notifies itself, and delivers nothing else.
      await notify(this.#channel, `${this.#self}?`);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<"late">((resolve) => {
        timer = setTimeout(() => resolve("late"), TEST_MS).unref();
      });
      this.state = (await Promise.race([arrives, late])) === "heard" ? "listening" : "polling";
      clearTimeout(timer);
      client.unref();
      heard(undefined); // whatever was said before is gone
      await new Promise<void>((lost) => {
        if (loss.signal.aborted) lost();
        else onAbort(loss.signal, lost);
      });
    } finally {
      forget();
      destroy(client);
    }
  }

  #take(payload: string): void {
    const [from, ...sessions] = payload.split(" ");
    if (from === `${this.#self}?`) this.#tested?.();
    else if (from !== this.#self && sessions.length > 0) this.#options.heard(sessions);
  }
}
