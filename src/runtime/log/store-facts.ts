/** What a store that several machines share says about itself: whether it can be used, its nodes, and its counters. */

/** Why a node should get no requests. */
export type Unready = "store" | "version" | "lease" | "draining";

export type StoreHealth = { readonly ready: true } | { readonly ready: false; readonly why: Unready };

/** A living node, as the others see it. */
export interface NodeFacts {
  /** Whether it is this process. */
  readonly self: boolean;
  readonly name: string;
  readonly pool: string | undefined;
  readonly draining: boolean;
  /** A fingerprint of the models and keys it has. */
  readonly models: string | undefined;
}

/** A number for monitoring. The names of counters end in `_total`, as is usual; a sum of times also has a count. */
export type Metric =
  | {
      readonly type: "counter" | "gauge";
      readonly name: string;
      readonly help: string;
      readonly value: number;
      readonly labels?: Readonly<Record<string, string>> | undefined;
    }
  | {
      readonly type: "summary";
      readonly name: string;
      readonly help: string;
      readonly sum: number;
      readonly count: number;
    };
