/** The faults: one every quarter to half second, from a seeded plan, on a node that can still suffer it. */

import type { ChaosDatabase } from "./database.ts";
import type { Ledger } from "./ledger.ts";
import type { ChaosNode } from "./nodes.ts";
import type { Random } from "./random.ts";
import { pause } from "./requests.ts";

const LEAST_GAP_MS = 250;
const MOST_GAP_MS = 600;
const CRASH_EVERY_MS = 25_000;
const FIRST_PROMOTION_MS = 40_000;
const PROMOTION_EVERY_MS = 60_000;
/** So many nodes at least are neither stopped nor starting. */
const LEAST_UP = 1;

const WEIGHTS = { stop: 23, kill: 12, backend: 12, cut: 12, swallow: 22, silence: 12, term: 7 } as const;

export interface FaultParts {
  readonly nodes: readonly ChaosNode[];
  readonly database: ChaosDatabase;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly leaseMs: number;
  /** Called when a promotion has taken back what was done last, before any node can reach the new server. */
  readonly promoted: () => Promise<void>;
}

export class Faults {
  readonly #parts: FaultParts;
  /** Faults that last. */
  readonly #under = new Set<Promise<void>>();

  constructor(parts: FaultParts) {
    this.#parts = parts;
  }

  /** Until the signal aborts; then everything that was begun is ended. */
  async run(over: AbortSignal): Promise<void> {
    const { random } = this.#parts;
    this.#begin(this.#restarts(over));
    while (!over.aborted) {
      await waitOr(over, random.between(LEAST_GAP_MS, MOST_GAP_MS));
      if (!over.aborted) this.#one();
    }
    await Promise.all(this.#under);
    for (const { proxy } of this.#parts.nodes) proxy.calm();
  }

  #one(): void {
    const { random, nodes, ledger, leaseMs } = this.#parts;
    const up = nodes.filter(({ state }) => state === "up");
    const fault = random.weighted(WEIGHTS);
    const node = random.pick(up.length === 0 ? nodes : up);
    if (["stop", "kill", "term"].includes(fault) && up.length <= LEAST_UP) return;
    ledger.note(`${fault} ${node.name}`);
    switch (fault) {
      case "stop":
        ledger.add("stops");
        return this.#begin(node.stop(leaseMs * random.between(1.2, 2.7)));
      case "kill":
        ledger.add("kills");
        return this.#begin(node.kill());
      case "term":
        ledger.add("terms");
        return this.#begin(node.term());
      case "backend":
        return this.#begin(this.#terminate());
      case "cut":
        if (node.proxy.cut() > 0) ledger.add("cuts");
        return;
      case "swallow": {
        const to = random.chance(0.7) ? "_append" : undefined;
        node.proxy.swallow(to, random.chance(0.6) ? "cut" : "mute", () => ledger.add("swallowed"));
        return;
      }
      case "silence":
        ledger.add("silences");
        return this.#begin(this.#silence(node));
    }
  }

  async #silence({ proxy }: ChaosNode): Promise<void> {
    const { random, leaseMs } = this.#parts;
    const direction = random.pick(["to-server", "to-client"] as const);
    proxy.silence(direction, true);
    await pause(leaseMs * random.between(0.3, 2.2));
    proxy.silence(direction, false);
  }

  async #terminate(): Promise<void> {
    const { database, ledger, random } = this.#parts;
    const rows = await database.sql(
      `select pg_terminate_backend(pid) as done from pg_stat_activity
        where application_name = 'throughline' order by random() limit $1`,
      [random.pick([1, 2, 5])],
    );
    ledger.add("backends", rows.filter(({ done }) => done === true).length);
  }

  /** What happens to the server, one after the other: crashes, and now and then a failover. */
  async #restarts(over: AbortSignal): Promise<void> {
    const { database, ledger, random } = this.#parts;
    const began = ledger.elapsedMs;
    const next = { crash: began + CRASH_EVERY_MS, promotion: began + FIRST_PROMOTION_MS };
    database.prepare();
    for (;;) {
      await waitOr(over, Math.min(next.crash, next.promotion) - ledger.elapsedMs);
      if (over.aborted) return;
      if (next.crash <= next.promotion) {
        next.crash += CRASH_EVERY_MS;
        ledger.note("crash of the server");
        await database.crash();
        ledger.add("restarts");
      } else {
        next.promotion += PROMOTION_EVERY_MS;
        ledger.note("promotion of the standby");
        await this.#promote(random.between(50, 2500));
      }
      ledger.note("the server is back");
    }
  }

  async #promote(lagMs: number): Promise<void> {
    const { database, ledger, promoted } = this.#parts;
    let since = Date.now();
    await database.promote(lagMs, {
      lagging: (at) => {
        since = at;
        ledger.note(`the standby lags by ${Math.round(lagMs)} ms`);
      },
      promoted: async () => {
        ledger.add("promotions");
        ledger.lost(since);
        await promoted();
      },
    });
  }

  #begin(work: Promise<void>): void {
    const kept = work
      .catch((error: unknown) =>
        this.#parts.ledger.violate(`a fault could not be carried out: ${String(error)}`),
      )
      .finally(() => this.#under.delete(kept));
    this.#under.add(kept);
  }
}

async function waitOr(over: AbortSignal, ms: number): Promise<void> {
  if (over.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      over.removeEventListener("abort", done);
      resolve();
    }
    over.addEventListener("abort", done);
  });
}
