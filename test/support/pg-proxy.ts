/**
 * A TCP proxy between a store and a PostgreSQL server, for tests of what networks do. It knows the wire protocol, so it
 * can lose exactly the answer of one statement. All faults are off until they are asked for, and hold for connections
 * that exist and for later ones.
 *
 *   const proxy = await startPgProxy(5432);
 *   const store = postgresStore(proxy.through(url));
 *
 *   proxy.swallow("_append", { times: 2 });    the next 2 appends are carried out, their answers are lost
 *   const held = proxy.hold("_look");          the next look waits before it reaches the server …
 *   await held.reached; held.release();        … until it is released
 *   const heal = proxy.silence("answers");     nothing comes back any more …
 *   heal();                                    … and then everything that was held back
 *   proxy.delay(20); proxy.delay(0);           every message takes that much longer, in each direction
 *   const accept = proxy.refuse(); accept();   no new connections for a while
 *   proxy.cut();                               all connections are lost
 *   proxy.retarget(5433);                      later connections go to another server
 *   await proxy.close();
 *
 * A match is a piece of the statement's text or of its name (`tl_SCHEMA_append`), without regard to case, or a function.
 * Connections through the proxy are not encrypted: a request for TLS is answered with no.
 *
 * @module
 */

import { createServer, connect, type AddressInfo, type Server } from "node:net";

import { type Direction, Faults, HoldRule, Link, type PgProxyCounters, SwallowRule } from "./pg-link.ts";
import type { PgStatement } from "./pg-wire.ts";

export type { Direction, PgProxyCounters, PgStatement };

export type StatementMatch = string | ((statement: PgStatement) => boolean);

export interface SwallowOptions {
  /** How many answers. Default: 1. */
  readonly times?: number;
  /**
   * What the client sees then: its connection is closed (default), or stays open without a word. The server's side is
   * closed in both cases.
   */
  readonly after?: "close" | "silent";
}

/** Answers that are to be lost. An answer that says that the statement failed is passed on and does not count. */
export interface Swallow {
  /** How many were lost so far. */
  readonly count: number;
  /** Resolves when all of them were. */
  readonly done: Promise<void>;
  /** Loses no further ones. */
  stop(): void;
}

export interface Hold {
  /** Resolves when the statement has arrived here. */
  readonly reached: Promise<void>;
  /** Lets it pass, or takes the hold back if nothing has arrived. */
  release(): void;
}

export interface PgProxy {
  readonly port: number;
  readonly counters: Readonly<PgProxyCounters>;
  /** How many connections are open. */
  readonly open: number;
  /** The same address by way of the proxy. */
  through(url: string): string;
  /** New connections go to another server from now on. Those that exist stay; `cut` ends them. */
  retarget(port: number): void;
  swallow(match: StatementMatch, options?: SwallowOptions): Swallow;
  /** Holds back the next statement that matches, or the answer to it. Everything behind it on its connection waits too. */
  hold(match: StatementMatch, what?: "statement" | "answer"): Hold;
  /** Returns what ends it: then everything held back is passed on, or, with `lose`, these connections are cut. */
  silence(direction: Direction): (how?: "deliver" | "lose") => void;
  delay(ms: number): void;
  /** New connections are closed at once, until the returned function is called. */
  refuse(): () => void;
  /** Closes all connections, with a reset unless `end` is asked for. Returns how many. */
  cut(how?: "reset" | "end"): number;
  /** Called with each statement that arrives, in order, before it is passed on. */
  onStatement(listener: (statement: PgStatement) => void): () => void;
  /** Called when the answer to a statement has arrived, before it is passed on. */
  onAnswer(listener: (statement: PgStatement, failed: boolean) => void): () => void;
  close(): Promise<void>;
}

export async function startPgProxy(
  to: number | { readonly port: number; readonly host?: string },
): Promise<PgProxy> {
  let target = typeof to === "number" ? { port: to } : to;
  const faults = new Faults();
  const links = new Set<Link>();
  const counters: PgProxyCounters = { accepted: 0, cut: 0, swallowed: 0, refused: 0 };
  const server: Server = createServer((client) => {
    if (faults.refusing > 0) {
      counters.refused += 1;
      client.destroy();
      return;
    }
    counters.accepted += 1;
    const link = new Link(client, connect({ host: "127.0.0.1", ...target }), faults, counters);
    links.add(link);
    link.onClose = () => void links.delete(link);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    counters,
    get open() {
      return links.size;
    },
    through(url) {
      const there = new URL(url);
      there.hostname = "127.0.0.1";
      there.port = String(port);
      return there.href;
    },
    retarget(other) {
      target = { ...target, port: other };
    },
    swallow(match, { times = 1, after = "close" } = {}) {
      const one = new SwallowRule(matcher(match), times, after);
      faults.swallows.add(one);
      return one;
    },
    hold(match, what = "statement") {
      const one = new HoldRule(matcher(match), what);
      faults.holds.add(one);
      return { reached: one.reached, release: () => faults.release(one) };
    },
    silence(direction) {
      const one = { direction };
      faults.silences.add(one);
      return (how = "deliver") => {
        if (!faults.silences.delete(one)) return;
        for (const link of links)
          if (how === "lose" && link.isHeldBack) link.cut("reset");
          else link.pump();
      };
    },
    delay(ms) {
      faults.delayMs = ms;
    },
    refuse() {
      faults.refusing += 1;
      let over = false;
      return () => {
        if (!over) faults.refusing -= 1;
        over = true;
      };
    },
    cut(how = "reset") {
      const all = [...links];
      for (const link of all) link.cut(how);
      counters.cut += all.length;
      return all.length;
    },
    onStatement: (listener) => added(faults.statementListeners, listener),
    onAnswer: (listener) => added(faults.answerListeners, listener),
    async close() {
      for (const link of links) link.cut("end");
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}

function added<T>(set: Set<T>, one: T): () => void {
  set.add(one);
  return () => void set.delete(one);
}

function matcher(match: StatementMatch): (statement: PgStatement) => boolean {
  if (typeof match === "function") return match;
  const piece = match.toLowerCase();
  return ({ name, text }) => name.toLowerCase().includes(piece) || text.toLowerCase().includes(piece);
}
