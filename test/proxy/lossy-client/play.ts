/** Plays worlds of one seed, several at once, and adds up what the judge found. */

import type { LossyDialect } from "./dialect.ts";
import type { Exchange } from "./exchange.ts";
import { Tally } from "./tally.ts";
import type { TargetName } from "./targets.ts";
import { World } from "./world.ts";

export interface PlayOptions {
  readonly seed: number;
  /** In all, spread over the worlds. */
  readonly requests: number;
  readonly target: TargetName;
  /** Worlds at once. */
  readonly lanes?: number;
  readonly perWorld?: number;
  /** One world only, to see a failure again. */
  readonly world?: number | undefined;
  /** "different": no twins are possible. "equal": they are. "both": worlds in turn. */
  readonly openings?: "different" | "equal" | "both";
  readonly dialects?: readonly LossyDialect[] | undefined;
  readonly seen?: ((exchange: Exchange) => void) | undefined;
}

export async function play(options: PlayOptions): Promise<Tally> {
  const { seed, requests, target, lanes = 4, perWorld = 300, openings = "both" } = options;
  const tally = new Tally();
  const count = Math.max(1, Math.ceil(requests / perWorld));
  const indexes =
    options.world === undefined ? Array.from({ length: count }, (_, at) => at) : [options.world];
  const lane = async (): Promise<void> => {
    for (let index = indexes.shift(); index !== undefined; index = indexes.shift()) {
      const unique = openings === "both" ? index % 2 === 0 : openings === "different";
      const own = new Tally();
      await new World({
        seed,
        index,
        target,
        unique,
        requests: options.world === undefined ? Math.min(perWorld, requests) : perWorld,
        tally: own,
        ...(options.dialects === undefined ? {} : { dialects: options.dialects }),
        ...(options.seen === undefined ? {} : { seen: options.seen }),
      }).run();
      if (!unique) countAgain(own);
      tally.merge(own);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return tally;
}

/** Worlds with equal openings are counted once more under a name of their own. */
function countAgain(tally: Tally): void {
  const all = tally.rows.get("all");
  if (all === undefined) return;
  for (const [counter, by] of all) tally.count(["how equal openings"], counter, by);
}
