/**
 * This process as the other machines see it: one row with a lease, renewed whatever it holds. Safety does not depend on
 * the lease, only on the fence that guards every append. The lease decides when another node may take over, and when
 * this one must stop to act.
 *
 * An expired lease is never renewed. All sessions are lost then, and the process goes on under a new id.
 */

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

import { type Clock, codeOf, messageOf, VERSION } from "../../base/support/index.ts";
import type { Connections } from "./connections.ts";
import { type Identity, leaseOver } from "./identity.ts";
import { isTransient } from "./problems.ts";
import type { Statements } from "./statements.ts";

export interface NodeOptions {
  readonly name?: string | undefined;
  /** Set for a node that takes commands for its sessions and goes on with those of dead nodes of the same pool. */
  readonly pool?: string | undefined;
  readonly leaseMs: number;
  /** A fingerprint of the models and keys it has. Nodes of a pool should have the same. */
  readonly models?: string | undefined;
}

/** A log that ends with its node. */
export interface HeldLog {
  /** Whether a turn is open in it. */
  readonly inTurn: boolean;
  lose(error: Error): void;
}

/** The ids of all nodes of this process, so that a message can say "this process". */
const OWN_NODES = new Set<string>();

export function isOwnNode(id: unknown): boolean {
  return typeof id === "string" && OWN_NODES.has(id);
}

export class StoreNode {
  readonly #connections: Connections;
  readonly #statements: Statements;
  readonly #identity: Identity;
  readonly #clock: Clock;
  readonly #options: NodeOptions;
  readonly #held = new Set<HeldLog>();
  readonly name: string;
  #id: string | undefined;
  #starting: Promise<string> | undefined;
  #renewing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  /** On the monotonic clock, counted from before the renewal was sent. */
  #until = Number.NEGATIVE_INFINITY;
  #models: string | undefined;
  draining = false;
  /** Called after each renewal. */
  onRenewed: () => void = () => undefined;
  /** How often the lease ran out, or the database changed, under this process. */
  deaths = 0;

  constructor(
    parts: {
      readonly connections: Connections;
      readonly statements: Statements;
      readonly identity: Identity;
      readonly clock: Clock;
    },
    options: NodeOptions,
  ) {
    this.#connections = parts.connections;
    this.#statements = parts.statements;
    this.#identity = parts.identity;
    this.#clock = parts.clock;
    this.#options = options;
    this.#models = options.models;
    this.name = options.name ?? `${hostname()}:${process.pid}`;
  }

  get pool(): string | undefined {
    return this.#options.pool;
  }

  get leaseMs(): number {
    return this.#options.leaseMs;
  }

  get id(): string | undefined {
    return this.#id;
  }

  get held(): number {
    return this.#held.size;
  }

  /** How many of the logs that this node holds have an open turn. */
  get turns(): number {
    return [...this.#held].filter(({ inTurn }) => inTurn).length;
  }

  /** How long the lease still runs, by this process's own clock. 0 if there is none. */
  get leftMs(): number {
    return this.#id === undefined ? 0 : Math.max(0, this.#until - this.#clock.monotonic());
  }

  /** Whether a request may be sent and a tool may begin: there is time left to be wrong about. */
  get mayAct(): boolean {
    return this.leftMs > this.leaseMs / 5;
  }

  get models(): string | undefined {
    return this.#models;
  }

  set models(models: string | undefined) {
    this.#models = models;
  }

  /** Resolves to the id under which sessions are acquired. */
  ensure(): Promise<string> {
    if (this.#id !== undefined && this.leftMs > 0) return Promise.resolve(this.#id);
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  add(log: HeldLog): void {
    this.#held.add(log);
  }

  remove(log: HeldLog): void {
    this.#held.delete(log);
  }

  /** Renews at once, unless a renewal is under way. Rejects if this node is dead. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /** Resolves when this node is alive for a while, or has lost everything it held. */
  async confirm(): Promise<void> {
    if (this.#id === undefined || this.mayAct) return;
    await this.renew().catch(() => undefined);
  }

  /** Repeats work that may be repeated while the database is away, until the lease is over. */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isTransient(error)) throw error;
        if (this.leftMs === 0) throw leaseOver(NO_ANSWER);
        await this.#clock.sleep(AGAIN_MS);
      }
    }
  }

  /** Ends the lease, so that nobody waits for it. */
  async leave(): Promise<void> {
    clearTimeout(this.#timer);
    clearTimeout(this.#end);
    const id = this.#id;
    this.#id = undefined;
    if (id === undefined) return;
    OWN_NODES.delete(id);
    await this.#connections.ask(this.#statements.dropNode, [id]).catch(() => undefined);
  }

  async #start(): Promise<string> {
    if (this.#id !== undefined) this.#drop(EXPIRED);
    await this.#identity.check();
    const before = this.#clock.monotonic();
    const id = randomUUID();
    const { pool, leaseMs } = this.#options;
    const values = [
      id,
      this.name,
      null,
      pool ?? null,
      `throughline ${VERSION}`,
      this.#models ?? null,
      leaseMs,
    ];
    const [row] = await this.#connections.ask(this.#statements.addNode, values);
    // Another node may have noticed since our last look that the database was restored.
    this.#identity.adopt(row);
    OWN_NODES.add(id);
    this.#id = id;
    this.#until = before + leaseMs;
    this.#endInTime();
    this.#schedule(leaseMs / 3);
    this.#connections.ask(this.#statements.forgetNodes, []).catch(() => undefined);
    return id;
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.renew().then(
        () => this.#schedule(this.leaseMs / 3),
        () => undefined, // dead; the next session begins a new life
      );
    }, ms);
    this.#timer.unref();
  }

  /** Also while a renewal waits behind other statements that are not answered. */
  #endInTime(): void {
    clearTimeout(this.#end);
    this.#end = setTimeout(() => {
      if (this.leftMs > 0) this.#endInTime();
      else if (this.#id !== undefined) this.#drop(EXPIRED);
    }, this.leftMs + 1).unref();
  }

  /** Tries until the lease is over: the database may be restarting. */
  async #renew(): Promise<void> {
    const id = this.#id;
    if (id === undefined) throw leaseOver(EXPIRED);
    for (;;) {
      const before = this.#clock.monotonic();
      if (before >= this.#until) throw this.#drop(EXPIRED);
      try {
        const values = [id, this.leaseMs, this.draining, this.#models ?? null];
        const [row = {}] = await this.#connections.quick.query(this.#statements.renew, values);
        const incarnation = this.#identity.incarnation;
        const isSame = (await this.#identity.compare(row)) === incarnation;
        if (this.#id === id && !isSame) throw this.#drop("the database was restored or replaced");
        if (this.#id === id && row["renewed"] !== 1) throw this.#drop(EXPIRED);
        if (this.#id !== id) throw leaseOver(EXPIRED); // the answer came too late
        this.#until = before + this.leaseMs;
        this.onRenewed();
        return;
      } catch (error) {
        if (this.#id !== id) throw codeOf(error) === "session_fenced" ? error : leaseOver(EXPIRED);
        if (!isTransient(error)) throw this.#drop(messageOf(error));
        await this.#clock.sleep(Math.max(20, this.leaseMs / 30));
      }
    }
  }

  /** Ends this node and every session it holds. Returns the reason as an error. */
  #drop(why: string): Error {
    clearTimeout(this.#timer);
    clearTimeout(this.#end);
    if (this.#id !== undefined) OWN_NODES.delete(this.#id);
    this.#id = undefined;
    this.#until = Number.NEGATIVE_INFINITY;
    this.deaths += 1;
    const error = leaseOver(why);
    const held = [...this.#held];
    this.#held.clear();
    for (const log of held) log.lose(error);
    return error;
  }
}

const EXPIRED = "the lease of this node ran out";
export const NO_ANSWER = "the database did not answer until the node's lease ran out";
const AGAIN_MS = 100;
