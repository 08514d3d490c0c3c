/**
 * The scratch journals of all sessions that this node writes, in one table that is not logged. What was written is
 * flushed in one statement every 50 ms, one row per session, so that viewers on other nodes see it and the next writer
 * finds it. It may be lost and is never the truth: a failed flush is not repeated.
 */

import type { Scratch } from "../log/index.ts";
import type { Connections } from "./connections.ts";
import type { Statements } from "./statements.ts";

const FLUSH_MS = 50;

interface Journal {
  readonly tenant: string;
  readonly session: string;
  readonly fence: string;
  rows: string[];
  /** The number of the last row that was flushed. */
  n: number;
  /** Everything up to this row, and of earlier writers, is to be deleted. */
  clearTo: number | undefined;
}

export interface LiveCounters {
  flushes: number;
  rows: number;
  /** How long the last flush took, and all of them. */
  lastMs: number;
  ms: number;
}

/** The writers of this process that have something to flush. */
const WITH_ROWS = new Set<LiveWriter>();

/** A reader in the writer's own process sees what was written before it looked, as it does on files. */
export async function flushedHere(): Promise<void> {
  await Promise.all([...WITH_ROWS].map((writer) => writer.flushed()));
}

export class LiveWriter {
  readonly #connections: Connections;
  readonly #statements: Statements;
  readonly #journals = new Map<string, Journal>();
  readonly #dirty = new Set<Journal>();
  #timer: NodeJS.Timeout | undefined;
  #lastFlush = Number.NEGATIVE_INFINITY;
  #flushing: Promise<void> = Promise.resolve();
  readonly counters: LiveCounters = { flushes: 0, rows: 0, lastMs: 0, ms: 0 };
  /** Called with the sessions whose rows were flushed. */
  onFlushed: (sessions: readonly string[]) => void = () => undefined;

  constructor(connections: Connections, statements: Statements) {
    this.#connections = connections;
    this.#statements = statements;
  }

  scratchOf({ tenant, session, fence }: Pick<Journal, "tenant" | "session" | "fence">): Scratch {
    const key = keyOf(tenant, session);
    const journal = (): Journal => {
      const known = this.#journals.get(key);
      if (known?.fence === fence) return known;
      const made: Journal = { tenant, session, fence, rows: [], n: 0, clearTo: undefined };
      this.#journals.set(key, made);
      return made;
    };
    return {
      write: (rows) => {
        if (rows.length === 0) return;
        const own = journal();
        for (const row of rows) own.rows.push(row);
        this.#soon(own);
      },
      rows: async () => {
        await this.flushed();
        const found = await this.#connections.read(this.#statements.liveRows, [tenant, session]);
        return found.flatMap(({ body }) => String(body).split("\n"));
      },
      clear: () => {
        const own = journal();
        own.rows = [];
        own.clearTo = own.n;
        this.#soon(own);
      },
    };
  }

  /** Resolves when everything written so far is in the table, or was lost. */
  flushed(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#flush());
    return this.#flushing;
  }

  forget(tenant: string, session: string): void {
    this.#journals.delete(keyOf(tenant, session));
  }

  /** The first rows after a pause go out at once: people wait for the first word. */
  #soon(journal: Journal): void {
    this.#dirty.add(journal);
    WITH_ROWS.add(this);
    const wait = Math.max(0, this.#lastFlush + FLUSH_MS - performance.now());
    this.#timer ??= setTimeout(() => void this.flushed(), wait).unref();
  }

  async #flush(): Promise<void> {
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    WITH_ROWS.delete(this);
    this.#lastFlush = performance.now();
    if (dirty.length === 0) return;
    const cleared = dirty.filter(({ clearTo }) => clearTo !== undefined);
    const clearTo = cleared.map((journal) => journal.clearTo);
    const grown = dirty.filter(({ rows }) => rows.length > 0);
    const bodies = grown.map((journal) => {
      const body = journal.rows.join("\n");
      journal.rows = [];
      journal.n += 1;
      return body;
    });
    for (const journal of cleared) journal.clearTo = undefined;
    const values = [...columnsOf(cleared), clearTo, ...columnsOf(grown), grown.map(({ n }) => n), bodies];
    const started = performance.now();
    try {
      await this.#connections.quick.query(this.#statements.flush, values);
      this.counters.flushes += 1;
      this.counters.rows += bodies.length;
      this.counters.lastMs = performance.now() - started;
      this.counters.ms += this.counters.lastMs;
      this.onFlushed(grown.map(({ session }) => session));
    } catch {
      // The rows are lost; the events they announce are not.
    }
  }
}

function columnsOf(journals: readonly Journal[]): readonly (readonly string[])[] {
  return [
    journals.map(({ tenant }) => tenant),
    journals.map(({ session }) => session),
    journals.map(({ fence }) => fence),
  ];
}

function keyOf(tenant: string, session: string): string {
  return `${tenant} ${session}`;
}
