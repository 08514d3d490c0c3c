/**
 * Three nodes, one session and one model of its log. Whatever the nodes do, in whatever order, and whatever answers are
 * lost: the table has exactly the events of the model, each writer knows whether it is one, and nothing that was asked
 * is out of sight.
 */

import fc from "fast-check";
import { expect, test } from "vitest";

import type { Log, Store } from "../../src/runtime/log/index.ts";
import { postgresStore } from "../../src/runtime/postgres/index.ts";
import { afterTest } from "../support/clean-up.ts";
import { type PgProxy, startPgProxy } from "../support/pg-proxy.ts";
import { runs, Tally, timeoutFor } from "../support/runs.ts";
import { type Database, database } from "./fixture.ts";
import { begins, ends, engine, notice, shared } from "./nodes.ts";

const NODES = 3;
/** No node renews by itself during a run: the model decides when it does. */
const LEASE_MS = 3 * 3_600_000;

/** A node by its number, or one that has a log: most of what others do is refused at once. */
const node = fc.record({ number: fc.nat(NODES - 1), writes: fc.boolean() });
type Chosen = typeof node extends fc.Arbitrary<infer T> ? T : never;

const act = <T extends string>(name: T) => fc.record({ do: fc.constant(name), node });

const action = fc.oneof(
  { weight: 6, arbitrary: act("open") },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant("append" as const), node, count: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("lose" as const), node, times: fc.integer({ min: 1, max: 2 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("take over" as const), node, by: node }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("overtake" as const), node, by: node }) },
  { weight: 3, arbitrary: act("expire") },
  { weight: 2, arbitrary: act("renew") },
  { weight: 3, arbitrary: act("close") },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("admit" as const), node, key: fc.nat(3) }) },
  { weight: 2, arbitrary: act("read the inbox") },
  { weight: 4, arbitrary: act("begin") },
  { weight: 3, arbitrary: act("end") },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("race" as const), node, by: node }) },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** A node as the model knows it, with the real one. */
interface ModelNode {
  readonly name: string;
  readonly store: Store;
  readonly proxy: PgProxy;
  log: Log | undefined;
  /** The fence of its log, if it has one. */
  fence: number;
  /** Whether the database has a running lease of it. Undefined: it has not begun, or knows that it has ended. */
  lease: "runs" | "over" | undefined;
}

class Model {
  readonly id: string;
  readonly db: Database;
  readonly nodes: readonly ModelNode[];
  readonly tally: Tally;
  readonly log: string[] = [];
  readonly inbox: string[] = [];
  holder: ModelNode | undefined;
  fence = 0;
  made = false;
  openTurn: string | undefined;
  count = 0;

  constructor(id: string, db: Database, nodes: readonly ModelNode[], tally: Tally) {
    this.id = id;
    this.db = db;
    this.nodes = nodes;
    this.tally = tally;
  }

  async step(step: Action): Promise<void> {
    const one = this.#chosen(step.node);
    const other = "by" in step ? this.#chosen(step.by) : one;
    this.tally.add(step.do);
    switch (step.do) {
      case "open":
        return this.#open(one);
      case "append":
        return this.#append(one, this.#messages(step.count));
      case "lose": {
        const lost = one.proxy.swallow("_append", { times: step.times });
        await this.#append(one, this.#messages(1));
        lost.stop();
        return undefined;
      }
      case "take over":
        await this.#expire(one);
        return this.#open(other);
      case "overtake":
        return this.#overtake(one, other);
      case "expire":
        return this.#expire(one);
      case "renew":
        return this.#renew(one);
      case "close":
        return this.#close(one);
      case "admit":
        return this.#admit(one, `k${step.key}`);
      case "read the inbox":
        if (one.log !== undefined) await shared(one.store).commands(this.id);
        return undefined;
      case "begin":
        return this.#begin(one);
      case "end":
        return this.#end(one);
      case "race":
        return this.#race(one, other);
    }
  }

  /** What the rows must say after each step. */
  async check(): Promise<void> {
    const [row] = await this.db.sql(
      `select x.next_seq::int as next, x.fence::int as fence, x.made, x.open_turn as turn, x.wake_at is not null as wakes,
              x.pool, (select count(*)::int from s.inbox i where i.session = x.id) as inbox
         from s.sessions x where x.id = $1`,
      [this.id],
    );
    const isLeft = this.openTurn !== undefined || this.inbox.length > 0;
    expect(row ?? { made: false }).toMatchObject({
      ...(row === undefined ? {} : { next: this.log.length, fence: this.fence, inbox: this.inbox.length }),
      ...(row === undefined ? {} : { turn: this.openTurn ?? null }),
      made: this.made,
      // Found by the nodes of the pool as soon as its holder is gone.
      ...(isLeft ? { wakes: true, pool: "web" } : {}),
    });
  }

  async finish(): Promise<void> {
    for (const one of this.nodes) {
      await this.#close(one);
      if (one.lease === "over") await this.#renew(one);
    }
    if (!this.made) return;
    const reader = await (this.nodes[0] as ModelNode).store.open(this.id, { mode: "read" });
    const texts = reader.events.map((event) =>
      event.type === "notice" ? event.message : `${event.type} ${event.turn ?? ""}`,
    );
    expect(texts).toEqual(this.log);
    expect((await reader.lines()).toString().split("\n").length - 1).toBe(this.log.length);
    await reader.close();
    this.tally.add("events", this.log.length);
  }

  #chosen({ number, writes }: Chosen): ModelNode {
    const from = this.nodes.filter(({ log }) => !writes || log !== undefined);
    return (from[number % from.length] ?? this.nodes[number]) as ModelNode;
  }

  #messages(count: number): readonly string[] {
    return Array.from({ length: count }, () => `event ${(this.count += 1)}`);
  }

  #isWriter(one: ModelNode): boolean {
    return one.log !== undefined && this.holder === one && this.fence === one.fence;
  }

  get #heldBy(): ModelNode | undefined {
    return this.holder?.lease === "runs" ? this.holder : undefined;
  }

  /** The node begins again under another id, and its logs end. */
  #reborn(one: ModelNode): void {
    if (one.log !== undefined) expect(one.log.lost.aborted).toBe(true);
    one.log = undefined;
    if (this.holder === one) this.holder = undefined;
    one.lease = undefined;
  }

  #acquired(one: ModelNode, log: Log): void {
    one.log = log;
    this.fence += 1;
    one.fence = this.fence;
    one.lease = "runs";
    this.holder = one;
    expect(log.events.length).toBe(this.log.length);
  }

  async #open(one: ModelNode): Promise<void> {
    const held = this.#heldBy;
    const before = one.log;
    const opened = await one.store.open(this.id, { mode: "write" }).catch((error: unknown) => error);
    if (held !== undefined) {
      expect(opened).toMatchObject({ code: "session_locked" });
      if (one.lease === undefined) one.lease = "runs"; // it asks under an id of its own
      return;
    }
    if (one.lease === "over") this.#reborn(one);
    else if (before !== undefined) await before.close(); // deposed, and not told yet
    if (opened instanceof Error) throw opened;
    this.#acquired(one, opened as Log);
    this.tally.add("opened");
  }

  async #append(one: ModelNode, messages: readonly string[], events = messages.map(notice)): Promise<void> {
    const { log } = one;
    if (log === undefined) return;
    const isWriter = this.#isWriter(one);
    const written = await log.append(events).then(
      (all) => all.length,
      (error: unknown) => (error as { readonly code?: string }).code,
    );
    expect(written).toBe(isWriter ? events.length : "session_fenced");
    if (isWriter) {
      this.log.push(...messages);
      this.made = true;
      this.tally.add("written");
      return;
    }
    expect(log.lost.aborted).toBe(true);
    await log.close();
    one.log = undefined;
    this.tally.add("refused");
  }

  /** An answer is lost, and another node is faster than the repeat: written, and refused nevertheless. */
  async #overtake(one: ModelNode, by: ModelNode): Promise<void> {
    if (one === by || !this.#isWriter(one) || one.log === undefined) return;
    let sent = 0;
    const lost = one.proxy.swallow("_append");
    const repeat = one.proxy.hold(({ name }) => name.includes("_append") && ++sent === 2);
    const messages = this.#messages(2);
    const append = one.log.append(messages.map(notice)).then(
      () => "written",
      (error: unknown) => (error as { readonly code?: string }).code,
    );
    await lost.done;
    await repeat.reached;
    this.log.push(...messages);
    this.made = true;
    await this.#expire(one);
    await this.#open(by);
    repeat.release();
    expect(await append).toBe("session_fenced");
    await one.log.close();
    one.log = undefined;
    this.tally.add("overtaken");
  }

  async #expire(one: ModelNode): Promise<void> {
    if (one.lease === undefined) return;
    await this.db.sql("update s.nodes set lease_until = clock_timestamp() - interval '1 s' where id = $1", [
      engine(one.store).node.id,
    ]);
    one.lease = "over";
  }

  async #renew(one: ModelNode): Promise<void> {
    const renewed = await engine(one.store)
      .node.renew()
      .then(
        () => "runs",
        () => "over",
      );
    expect(renewed).toBe(one.lease === "runs" ? "runs" : "over");
    if (one.lease === "over") this.#reborn(one);
  }

  async #close(one: ModelNode): Promise<void> {
    if (one.log === undefined) return;
    const isWriter = this.#isWriter(one);
    await one.log.close();
    one.log = undefined;
    if (!isWriter) return;
    this.holder = undefined;
    if (!this.made) this.fence = 0; // a reserved id is given back whole
  }

  async #admit(one: ModelNode, key: string): Promise<void> {
    const answer = await shared(one.store)
      .admitTurn(this.id, key, {})
      .catch((error: unknown) => (error as { readonly code?: string }).code);
    if (!this.made) return expect(answer).toBe("session_not_found");
    expect(answer).toMatchObject({ holder: this.#heldBy?.name });
    if (!this.inbox.includes(key)) this.inbox.push(key);
    const waiting = await one.store.waiting(this.id).list();
    expect(waiting.map(({ turn }) => turn)).toEqual(this.inbox);
  }

  /** Takes the first turn that waits: in the log first, then out of the inbox. */
  async #begin(one: ModelNode): Promise<void> {
    const [turn] = this.inbox;
    if (one.log === undefined || turn === undefined || this.openTurn !== undefined) return;
    const isWriter = this.#isWriter(one);
    await this.#append(one, [`user_message ${turn}`], [begins(turn)]);
    if (!isWriter) return;
    this.openTurn = turn;
    await this.check();
    await one.store.waiting(this.id).remove(turn);
    this.inbox.shift();
  }

  async #end(one: ModelNode): Promise<void> {
    const turn = this.openTurn;
    if (one.log === undefined || turn === undefined) return;
    const isWriter = this.#isWriter(one);
    await this.#append(one, [`turn_end ${turn}`], [ends(turn)]);
    if (isWriter) this.openTurn = undefined;
  }

  /** Two nodes try to take the session at once: one of them does, unless a third holds it. */
  async #race(one: ModelNode, by: ModelNode): Promise<void> {
    if (one === by || [one, by].some(({ log, lease }) => log !== undefined || lease === "over")) return;
    const held = this.#heldBy;
    const opened = await Promise.all(
      [one, by].map(({ store }) => store.open(this.id, { mode: "write" }).catch((error: unknown) => error)),
    );
    for (const racer of [one, by]) racer.lease = "runs";
    const won = opened.filter((result) => !(result instanceof Error));
    expect(won.length).toBe(held === undefined ? 1 : 0);
    for (const result of opened)
      if (result instanceof Error) expect(result).toMatchObject({ code: "session_locked" });
    if (won.length === 1) this.#acquired(won[0] === opened[0] ? one : by, won[0] as Log);
    this.tally.add("raced");
  }
}

test(
  "whatever nodes do and whatever is lost, the log is the model's and nothing that was asked is out of sight",
  async () => {
    const db = await database();
    const nodes: ModelNode[] = [];
    for (let n = 0; n < NODES; n += 1) {
      const proxy = await startPgProxy(Number(new URL(db.url).port));
      const name = `web-${n}`;
      const store = postgresStore(proxy.through(db.url), { name, pool: "web", leaseMs: LEASE_MS });
      afterTest(async () => {
        await store.close();
        await proxy.close();
      });
      nodes.push({ name, store, proxy, log: undefined, fence: 0, lease: undefined });
    }
    const tally = new Tally();
    let ran = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40, size: "max" }), async (actions) => {
        ran += 1;
        const model = new Model(`m${ran}`, db, nodes, tally);
        for (const step of actions) {
          await model.step(step);
          await model.check();
        }
        await model.finish();
      }),
      runs(100),
    );
    tally.print(`model of a session on ${NODES} nodes: ${ran} runs`);
  },
  timeoutFor(100),
);
