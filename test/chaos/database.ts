/**
 * The database of the run: a server of its own, a standby that can take its place, and a plain connection that no proxy
 * disturbs.
 */

import pg from "pg";

import { migrateStore } from "../../src/runtime/postgres/index.ts";
import { type Cluster, startCluster } from "../support/postgres-cluster.ts";
import { pause } from "./requests.ts";
import { type Standby, startStandby } from "./standby.ts";

type Rows = readonly Readonly<Record<string, unknown>>[];

const RETRY_MS = 100;
const MOST_TRIES = 300;
const COPY_TRIES = 8;

export class ChaosDatabase {
  #cluster: Cluster;
  #served: number;
  #standby: Promise<Standby> | undefined;
  #client: pg.Client | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #alone: Promise<unknown> = Promise.resolve();

  private constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#served = cluster.port;
  }

  static async start(): Promise<ChaosDatabase> {
    const database = new ChaosDatabase(await startCluster());
    await migrateStore(database.#cluster.url);
    await database.sql("create schema chaos");
    // No constraint: whatever runs twice is there twice.
    await database.sql("create table chaos.effects (key text, tool text, node text)");
    return database;
  }

  /** Where the nodes find the server. */
  get port(): number {
    return this.#served;
  }

  /** Reads, or does what may be done twice: after a restart of the server it is simply sent again. */
  sql(text: string, values: readonly unknown[] = []): Promise<Rows> {
    const result = this.#last.then(() => this.#patiently(text, values));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** One after the other: nobody reads while a promotion takes events back. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#alone.then(work);
    this.#alone = result.catch(() => undefined);
    return result;
  }

  /** A crash: nothing is written out first. */
  crash(): Promise<void> {
    return this.#cluster.restart("immediate");
  }

  /** Makes the standby for the next promotion. */
  prepare(): void {
    this.#standby ??= this.#copy();
    this.#standby.catch(() => undefined); // told by `promote`
  }

  /** A crash of the server ends the copying. */
  async #copy(): Promise<Standby> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await startStandby(this.#cluster);
      } catch (error) {
        if (tries >= COPY_TRIES) throw error;
        await pause(RETRY_MS * 10);
      }
    }
  }

  /**
   * The standby is cut off, and takes the place of the server a while later. Calls `lagging` with a time before which
   * everything was replicated, and `promoted` before any node can reach the new server.
   */
  async promote(
    lagMs: number,
    told: { lagging(since: number): void; promoted(): Promise<void> },
  ): Promise<void> {
    this.prepare();
    const standby = await this.#standby;
    if (standby === undefined) return;
    const since = await this.#caughtUp(standby.cluster.url);
    standby.cutOff();
    told.lagging(since);
    await pause(lagMs);
    await this.alone(async () => {
      const old = this.#cluster;
      await old.stop("immediate");
      await standby.promote();
      await this.#drop();
      this.#cluster = standby.cluster;
      await told.promoted();
      this.#served = standby.cluster.port;
      await old.remove();
    });
    this.#standby = undefined;
    this.prepare();
  }

  async remove(): Promise<void> {
    await this.#last;
    await this.#drop();
    const standby = await this.#standby?.catch(() => undefined);
    await standby?.remove();
    await this.#cluster.remove();
  }

  /** Resolves to a time: what was acknowledged before has reached the standby. */
  async #caughtUp(standbyUrl: string): Promise<number> {
    const since = Date.now();
    const [row] = await this.sql("select pg_current_wal_lsn()::text as lsn");
    const client = new pg.Client(standbyUrl);
    client.on("error", () => undefined);
    await client.connect();
    try {
      for (;;) {
        const { rows } = await client.query({
          text: "select pg_last_wal_replay_lsn() >= $1::pg_lsn as done",
          values: [row?.["lsn"]],
        });
        if ((rows as Rows)[0]?.["done"] === true) return since;
        await pause(RETRY_MS / 5);
      }
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async #patiently(text: string, values: readonly unknown[]): Promise<Rows> {
    for (let tries = 0; ; tries += 1) {
      try {
        this.#client ??= await this.#connect();
        return (await this.#client.query({ text, values: [...values] })).rows as Rows;
      } catch (error) {
        const { code = "" } = error as { readonly code?: string };
        await this.#drop();
        // 57P: the server stops or starts. Any other refusal is a mistake of ours.
        const isRefused = /^[0-9A-Z]{5}$/.test(code) && !/^(?:57P|08|EPIPE)/.test(code);
        if (tries > MOST_TRIES || isRefused) throw error;
        await pause(RETRY_MS);
      }
    }
  }

  async #drop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.#cluster.url, application_name: "chaos" });
    client.on("error", () => {
      if (this.#client === client) this.#client = undefined;
    });
    await client.connect();
    return client;
  }
}
