/**
 * Looks for sessions whose node is gone and goes on with them: open turns, and requests that nobody has read. There is
 * no queue: an open turn is a row with a time to wake, and whoever acquires the session first goes on with it. Also
 * passes on what other nodes admit to sessions that are held here.
 */

import { codeOf, messageOf } from "../../base/support/index.ts";
import type { SharedStore } from "../../runtime/log/index.ts";

export interface ClaimingHost {
  readonly busy: number;
  /** Returns whether this was a session to go on with. */
  claim(id: string): Promise<boolean>;
  hear(id: string): Promise<void>;
}

export interface ClaimerParts {
  readonly shared: SharedStore;
  readonly hostFor: (tenant: string) => ClaimingHost;
  /** All hosts that exist, to count the turns that run here. */
  readonly hosts: () => Iterable<ClaimingHost>;
  readonly problem: (message: string) => void;
  /** How many turns this node runs at once before it leaves others to other nodes. */
  readonly mostTurns: number;
}

/** How often to look, give or take a quarter, so that nodes that started together do not look together. */
const LOOK_MS = 2000;
/** A session that could not be taken over is left alone for a while: another node may be able to. */
const LEAVE_ALONE_MS = 30_000;

export class Claimer {
  readonly #parts: ClaimerParts;
  readonly #leave: readonly (() => void)[];
  readonly #alone = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #stopped = false;
  claimed = 0;

  constructor(parts: ClaimerParts) {
    this.#parts = parts;
    const { shared, hostFor } = parts;
    const hear = (id: string, tenant: string): void => {
      hostFor(tenant)
        .hear(id)
        .catch((error: unknown) => this.#tell(error));
    };
    this.#leave = [shared.onAsked(hear), shared.onWake(() => this.#soon())];
    this.#later(0);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const leave of this.#leave) leave();
  }

  /** Looks now: a node said that it leaves a turn behind. */
  #soon(): void {
    if (this.#looking === undefined) this.#later(0);
  }

  #later(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined;
        this.#later(LOOK_MS * (0.75 + Math.random() / 2));
      });
    }, ms).unref();
  }

  async #look(): Promise<void> {
    const { shared, hostFor, hosts, mostTurns } = this.#parts;
    const running = [...hosts()].reduce((sum, { busy }) => sum + busy, 0);
    if (running >= mostTurns) return;
    try {
      // Those that are left alone for now must not take the places of others.
      const free = mostTurns - running;
      const now = performance.now();
      const found = (await shared.orphans(free + this.#alone.size))
        .map((orphan) => ({ ...orphan, key: `${orphan.tenant} ${orphan.id}` }))
        .filter(({ key }) => (this.#alone.get(key) ?? 0) <= now);
      await Promise.all(
        found.slice(0, free).map(async ({ tenant, id, key }) => {
          if (this.#stopped) return;
          try {
            if (await hostFor(tenant).claim(id)) this.claimed += 1;
            else this.#alone.set(key, performance.now() + LEAVE_ALONE_MS);
          } catch (error) {
            if (HELD.has(codeOf(error))) return; // another node was faster
            this.#alone.set(key, performance.now() + LEAVE_ALONE_MS);
            this.#tell(error);
          }
        }),
      );
      for (const [key, until] of this.#alone) if (until <= performance.now()) this.#alone.delete(key);
    } catch (error) {
      this.#tell(error);
    }
  }

  /** A store that is away is reported by whoever asks for it. */
  #tell(error: unknown): void {
    const code = codeOf(error);
    if (code !== "server_stopping" && code !== "store_unreachable") this.#parts.problem(messageOf(error));
  }
}

const HELD: ReadonlySet<string | undefined> = new Set([
  "session_locked",
  "session_open_elsewhere",
  "session_not_found",
  "server_stopping",
]);
