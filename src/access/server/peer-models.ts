/**
 * Compares the models and keys of this node with those of the other nodes of its pool. If they differ, the origin of a
 * session differs on each of them, and the guard leaves its reasoning out whenever the session moves. Told once.
 */

import type { NodeFacts, SharedStore } from "../../runtime/log/index.ts";

const LOOK_MS = 30_000;

export class PeerModels {
  readonly #shared: SharedStore;
  readonly #tell: (message: string) => void;
  readonly #timer: NodeJS.Timeout;

  constructor(shared: SharedStore, tell: (message: string) => void) {
    this.#shared = shared;
    this.#tell = tell;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
    void this.#look();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    let nodes: readonly NodeFacts[];
    try {
      if (!(await this.#shared.health()).ready) return; // before, this node may not be among them
      nodes = await this.#shared.nodes();
    } catch {
      return; // the store is away, and whoever needs it says so
    }
    const own = nodes.find(({ self }) => self);
    const other = nodes.find(
      ({ pool, models }) => pool === own?.pool && models !== undefined && models !== own?.models,
    );
    if (own?.models === undefined || other === undefined) return;
    this.stop();
    this.#tell(
      `node ${other.name} has other models, keys or addresses than this one. A session that moves from one to the other loses its reasoning: start all nodes of a pool with the same keys and base URLs`,
    );
  }
}
