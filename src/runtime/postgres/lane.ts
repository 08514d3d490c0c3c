/**
 * One connection to the database, used for one statement at a time. It connects on first use and again after a loss. A
 * statement that takes too long is given up together with its connection: the server may still be carrying it out, so
 * nothing else may follow it there.
 */

import { type Clock, codedError, onAbort } from "../../base/support/index.ts";
import { cancelStatement } from "./cancel.ts";
import { clientClass, clientConfig, type PgClient } from "./driver.ts";
import { isOverdue, isPreparedElsewhere, isTransient, storeError } from "./problems.ts";
import type { StoreAddress } from "./store-url.ts";

export interface Row {
  readonly [column: string]: unknown;
}

export interface Statement {
  /** Its name as a prepared statement. Without one it is never prepared. */
  readonly name?: string;
  readonly text: string;
}

export interface LaneOptions {
  readonly address: StoreAddress;
  /** How long a statement or a connection may take. */
  readonly attemptMs: number;
  /** Shared by the lanes of a store: whether statements are still prepared by name. */
  readonly prepare: { names: boolean };
  /** Aborted when the store is done with its connections. */
  readonly closing: AbortSignal;
}

export class Lane {
  readonly #options: LaneOptions;
  #client: PgClient | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
    onAbort(options.closing, () => {
      if (this.#waiting === 0) void this.#client?.end().catch(() => undefined);
      else this.#drop();
    });
  }

  /** How many statements wait or run. */
  get load(): number {
    return this.#waiting;
  }

  get connected(): boolean {
    return this.#client !== undefined;
  }

  /** Runs one statement. Rejects with the driver's error; `storeError` gives it words. */
  query(
    statement: Statement,
    values: readonly unknown[],
    attemptMs = this.#options.attemptMs,
  ): Promise<readonly Row[]> {
    return this.#enqueue(async () => {
      try {
        return await this.#run(statement, values, attemptMs);
      } catch (error) {
        if (!isPreparedElsewhere(error) || this.#options.address.prepare !== "auto") throw error;
        this.#options.prepare.names = false; // a pooler stands in between
        return await this.#run(statement, values, attemptMs);
      }
    });
  }

  /** Runs several statements in one transaction. The server undoes all of them if one fails. */
  transaction<T>(
    work: (run: (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>) => Promise<T>,
    attemptMs = this.#options.attemptMs,
  ): Promise<T> {
    return this.#enqueue(async () => {
      const client = await this.#connected();
      const run = async (text: string, values: readonly unknown[] = []): Promise<readonly Row[]> => {
        // On another connection it would be a transaction of its own.
        if (this.#client !== client)
          throw codedError("store_unreachable", "the connection to the database was lost in a transaction");
        return this.#run({ text }, values, attemptMs);
      };
      await run("begin");
      try {
        const result = await work(run);
        await run("commit");
        return result;
      } catch (error) {
        await run("rollback").catch(() => this.#drop());
        throw error;
      }
    });
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1;
    const result = this.#last.then(work).finally(() => {
      this.#waiting -= 1;
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #run(
    { name, text }: Statement,
    values: readonly unknown[],
    attemptMs: number,
  ): Promise<readonly Row[]> {
    const client = await this.#connected();
    const { address, prepare } = this.#options;
    const named = name !== undefined && address.prepare !== "never" && prepare.names;
    const query = { text, values: [...values], ...(named ? { name } : {}) };
    client.ref(); // only a statement keeps the process alive, an idle connection does not
    try {
      return (await inTime(client.query(query), attemptMs)).rows as Row[];
    } catch (error) {
      if (isOverdue(error)) cancelStatement(address, client);
      if (isTransient(error)) this.#drop(client);
      throw error;
    } finally {
      client.unref();
    }
  }

  async #connected(): Promise<PgClient> {
    this.#client ??= await this.#connect();
    return this.#client;
  }

  async #connect(): Promise<PgClient> {
    const { address, attemptMs, closing } = this.#options;
    if (closing.aborted) throw codedError("store_closed", "the store is closed. Create another one");
    const client = new (await clientClass())(clientConfig(address, attemptMs));
    // Also emitted when an idle connection is lost. The next statement connects again.
    client.on("error", () => this.#drop(client));
    try {
      await inTime(client.connect(), attemptMs);
    } catch (error) {
      destroy(client);
      throw error;
    }
    if (closing.aborted) {
      destroy(client);
      throw codedError("store_closed", "the store is closed. Create another one");
    }
    return client;
  }

  #drop(client: PgClient | undefined = this.#client): void {
    if (client === undefined) return;
    if (this.#client === client) this.#client = undefined;
    destroy(client);
  }
}

/** `end` would wait for the statement in progress, which may never end. */
export function destroy(client: PgClient): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: { destroy(): void } } })
    .connection;
  stream.destroy();
}

/** Rejects if the answer takes too long: a connection may be silent without being closed. */
export async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(codedError("store_unreachable", `the database did not answer within ${ms} ms`)),
      ms,
    );
  });
  work.catch(() => undefined); // its connection is dropped, which rejects it later
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const READ_TRIES = 4;
const FIRST_WAIT_MS = 50;

/** Runs a statement that may be repeated without harm, a few times if the connection is lost. */
export async function repeatable(
  lane: () => Lane,
  statement: Statement,
  values: readonly unknown[],
  clock: Pick<Clock, "sleep">,
  attemptMs?: number,
): Promise<readonly Row[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await lane().query(statement, values, attemptMs);
    } catch (error) {
      if (!isTransient(error) || tries >= READ_TRIES) throw storeError(error);
      await clock.sleep(FIRST_WAIT_MS * 2 ** tries);
    }
  }
}
