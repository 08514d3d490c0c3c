/**
 * Gives sessions back. If the database is away when a log is closed, its session would stay with this node for as long
 * as the node lives, and nobody would write it. The same holds for an acquisition whose answer never came. So both are
 * remembered, and released with the next renewal of the lease.
 */

import type { Clock } from "../../base/support/index.ts";
import type { Connections } from "./connections.ts";
import type { StoreNode } from "./node.ts";
import { isTransient } from "./problems.ts";
import type { Statements } from "./statements.ts";
import { WAKE } from "./watcher.ts";

/** A session that this node holds, or may hold, without a log. */
export interface Release {
  readonly tenant: string;
  readonly session: string;
  readonly holder: string;
  readonly fence: string;
  /** False or unknown: there may be only a reserved id, which is given back too. */
  readonly made?: boolean | undefined;
  /** What its writer has seen of the inbox. */
  readonly asked: string;
  readonly openTurn: OpenTurnOnRelease;
}

/**
 * What becomes of a turn that is still open:
 * - `wake`: another node goes on with it at once;
 * - `later`: this node could not, so another one tries it in a while, a limited number of times;
 * - `keep`: as it was before this node came.
 */
export type OpenTurnOnRelease = "wake" | "later" | "keep";

/** No number of admissions is this one: whoever never had a log has seen nothing. */
export const NOTHING_SEEN = "-1";

export class Releases {
  readonly #connections: Connections;
  readonly #statements: Statements;
  readonly #node: StoreNode;
  readonly #clock: Clock;
  readonly #openingAlone: (key: string, work: () => Promise<boolean>) => Promise<boolean>;
  readonly #fenceOf: (tenant: string, session: string) => string | undefined;
  readonly #hint: (sessions: readonly string[]) => void;
  /** With the time until which an answer "nothing to release" is not the last word. */
  readonly #owed = new Map<Release, number>();
  #paying: Promise<void> | undefined;

  constructor(
    parts: {
      readonly connections: Connections;
      readonly statements: Statements;
      readonly node: StoreNode;
      readonly clock: Clock;
      readonly openingAlone: (key: string, work: () => Promise<boolean>) => Promise<boolean>;
      /** The fence of the log that this node writes, if it writes one. */
      readonly fenceOf: (tenant: string, session: string) => string | undefined;
    },
    hint: (sessions: readonly string[]) => void,
  ) {
    this.#connections = parts.connections;
    this.#statements = parts.statements;
    this.#node = parts.node;
    this.#clock = parts.clock;
    this.#openingAlone = parts.openingAlone;
    this.#fenceOf = parts.fenceOf;
    this.#hint = hint;
  }

  /** Releases now, or as soon as the database answers. */
  async release(one: Release): Promise<void> {
    try {
      await this.#release(one);
    } catch (error) {
      if (!isTransient(error)) throw error;
      this.#owed.set(one, Number.NEGATIVE_INFINITY);
    }
  }

  /** The answer to this acquisition never came, and the statement may still be on its way to the server. */
  doubt(one: Omit<Release, "asked" | "openTurn">): void {
    const release: Release = { ...one, asked: NOTHING_SEEN, openTurn: "keep" };
    this.#owed.set(release, this.#clock.monotonic() + this.#node.leaseMs);
  }

  /** Called after each renewal: the database answers. */
  pay(): Promise<void> {
    this.#paying ??= this.#pay().finally(() => {
      this.#paying = undefined;
    });
    return this.#paying;
  }

  async #pay(): Promise<void> {
    for (const [one, until] of this.#owed) {
      if (one.holder !== this.#node.id) {
        this.#owed.delete(one); // it ended with its node
        continue;
      }
      try {
        const released = await this.#alone(one, () => this.#release(one));
        if (released || this.#clock.monotonic() >= until) this.#owed.delete(one);
      } catch (error) {
        if (!isTransient(error)) this.#owed.delete(one);
      }
    }
  }

  /** An acquisition that failed for good leaves its fence to the next one of this node, whose log must stay. */
  #alone(one: Release, release: () => Promise<boolean>): Promise<boolean> {
    const { tenant, session, fence } = one;
    const isOurs = (): boolean => this.#fenceOf(tenant, session) === fence;
    return this.#openingAlone(`${tenant} ${session}`, async () => isOurs() || release());
  }

  /** Returns whether there was something to release. */
  async #release({ tenant, session, fence, holder, made, asked, openTurn }: Release): Promise<boolean> {
    const values = [tenant, session, fence, holder];
    if (made !== true) {
      const [unreserved] = await this.#connections.ask(this.#statements.unreserve, values);
      if (unreserved !== undefined) return true;
    }
    const [row] = await this.#connections.ask(this.#statements.release, [...values, asked, openTurn]);
    // Viewers learn that it is free, and other nodes that something is left to do.
    if (row !== undefined) this.#hint(row["wakes"] === true ? [WAKE, session] : [session]);
    return row !== undefined;
  }
}
