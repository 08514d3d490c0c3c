/**
 * Whether this node can work, what it has counted, and which other nodes there are. Anybody may ask for the health
 * without a token, so one statement at a time answers all who ask, and its answer holds for a moment.
 */

import { codedError, type ErrorCode } from "../../base/support/index.ts";
import type { NodeFacts, StoreHealth, Unready } from "../log/index.ts";
import type { Engine } from "./engine.ts";
import { assertVersions } from "./identity.ts";
import { quoted } from "./migrate.ts";
import { storeError } from "./problems.ts";

const ANSWER_MS = 1000;
const HOLDS_MS = 250;

const READY: StoreHealth = { ready: true };

function unready(why: Unready): StoreHealth {
  return { ready: false, why };
}

export class Health {
  readonly #engine: Engine;
  #asking: Promise<StoreHealth> | undefined;
  #readyUntil = Number.NEGATIVE_INFINITY;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async ask(): Promise<StoreHealth> {
    const { clock, node } = this.#engine;
    if (node.draining) return unready("draining");
    if (clock.monotonic() < this.#readyUntil && node.mayAct) return READY;
    this.#asking ??= this.#look().finally(() => {
      this.#asking = undefined;
    });
    return within(ANSWER_MS, this.#asking).catch(() => unready("store"));
  }

  async #look(): Promise<StoreHealth> {
    const { clock, connections, node, statements } = this.#engine;
    try {
      await node.ensure(); // a node whose lease ran out begins anew
      const [row] = await connections.quick.query(statements.identity, []);
      assertVersions(row ?? {});
    } catch (error) {
      return unready(WRONG_VERSION.has(storeError(error).code) ? "version" : "store");
    }
    if (!node.mayAct) return unready("lease");
    this.#readyUntil = clock.monotonic() + HOLDS_MS;
    return READY;
  }
}

const WRONG_VERSION: ReadonlySet<ErrorCode> = new Set(["store_too_old", "store_too_new", "store_encoding"]);

/** The living nodes. */
export async function nodesOf({ connections, node, schema }: Engine): Promise<readonly NodeFacts[]> {
  const s = quoted(schema);
  const rows = await connections.read(
    {
      text: `select n.id::text as id, n.name, n.pool, n.draining, n.models from ${s}.nodes n, ${s}.store st
              where n.lease_until > clock_timestamp() and n.incarnation = st.incarnation order by n.name`,
    },
    [],
  );
  return rows.map(({ id, name, pool, draining, models }) => ({
    self: id === node.id,
    name: String(name),
    pool: textOf(pool),
    draining: draining === true,
    models: textOf(models),
  }));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The sessions of a tenant, and their size. */
export async function usageOf(
  { connections, schema }: Engine,
  tenant: string,
): Promise<{ readonly sessions: number; readonly bytes: number }> {
  const text = `select count(*)::int as sessions, coalesce(sum(bytes), 0)::text as bytes
                  from ${quoted(schema)}.sessions where tenant = $1 and made`;
  const [row] = await connections.read({ text }, [tenant]);
  return { sessions: Number(row?.["sessions"]), bytes: Number(row?.["bytes"]) };
}

/** Rejects if the database takes longer. The statement goes on: giving it up would cost its connection. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(codedError("store_unreachable", `the database did not answer within ${ms} ms`)),
      ms,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
