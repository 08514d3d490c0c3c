/**
 * Real `throughline serve` processes on one database behind a balancer, as the nodes of a pool. Each has its own home:
 * they share the database and nothing else.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";

import pg from "pg";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { codeOf } from "../../src/base/support/index.ts";
import { migrateStore } from "../../src/runtime/postgres/index.ts";
import { CLI, environment, newPlace } from "../cli/harness.ts";
import { type Balancer, startBalancer } from "../support/balancer.ts";
import { PACKAGE } from "../support/built.ts";
import { afterTest } from "../support/clean-up.ts";
import { ownPort } from "../support/own-port.ts";
import { type Cluster, startCluster } from "../support/postgres-cluster.ts";
import { linkDriver } from "./cli-fixture.ts";
import type { Database } from "./fixture.ts";

linkDriver();

export const TOKEN = "the-token-that-all-nodes-of-this-test-share";
/** Short, so that a takeover is soon; long enough for a busy machine to renew it. */
const LEASE_MS = 1500;

/** A database to look into. */
export type Looked = Pick<Database, "url" | "sql">;

export interface ServedNode {
  readonly name: string;
  readonly port: number;
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  /** The link for one browser that it printed. */
  readonly link: string;
  /** What it told its operator so far. */
  readonly told: () => string;
}

export interface Pool {
  readonly balancer: Balancer;
  /** Starts a node. It gets connections once it has joined the balancer. */
  start(name: string, env: Readonly<Record<string, string>>): Promise<ServedNode>;
  /** Starts a node, and lets it get connections. */
  join(name: string, env: Readonly<Record<string, string>>): Promise<ServedNode>;
}

export async function servedPool({ url }: Looked, leaseMs = LEASE_MS): Promise<Pool> {
  const balancer = await startBalancer();
  afterTest(() => balancer.close());
  const start: Pool["start"] = (name, env) =>
    serve(["--node-name", name, "--lease", String(leaseMs), "--public-url", balancer.url], name, {
      THROUGHLINE_STORE: url,
      ...env,
    });
  return {
    balancer,
    start,
    async join(name, env) {
      const node = await start(name, env);
      balancer.join(name, node.port);
      return node;
    },
  };
}

async function serve(
  flags: readonly string[],
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<ServedNode> {
  const place = newPlace();
  const port = await ownPort();
  const args = ["serve", "--port", String(port), "--pool", "test", "--drain", "0", "--permissions", "auto"];
  const child = spawn(process.execPath, [CLI, ...args, ...flags], {
    cwd: place.work,
    env: environment(place, { THROUGHLINE_TOKEN: TOKEN, ...env }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = new Promise<number | null>((resolve) => void child.on("exit", (code) => resolve(code)));
  afterTest(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let told = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (told += text));
  let link = "";
  for await (const chunk of child.stdout) {
    link += String(chunk);
    if (link.includes("\n")) break;
  }
  if (!link.includes("\n")) throw new Error(`node ${name} did not start: ${told}`);
  return { name, port, child, exited, link: link.trim(), told: () => told };
}

/** Ends a process and waits until it is gone. */
export async function end(
  { child, exited }: Pick<ServedNode, "child" | "exited">,
  signal: "SIGKILL" | "SIGTERM",
): Promise<number | null> {
  child.kill(signal);
  return exited;
}

/** The name of the node that holds the session, if its lease has not ended. */
export async function holderOf({ sql }: Looked, session: string): Promise<unknown> {
  const [row] = await sql(
    `select n.name from s.sessions it join s.nodes n on n.id = it.holder
      where it.id = $1 and n.lease_until > clock_timestamp()`,
    [session],
  );
  return row?.["name"];
}

export async function eventsIn({ sql }: Looked, session: string): Promise<readonly LoggedEvent[]> {
  const rows = await sql("select line from s.events where session = $1 order by seq", [session]);
  return rows.map(({ line }) => JSON.parse(String(line)) as LoggedEvent);
}

/** A database on a server of its own, which the test may restart. */
export async function ownDatabase(): Promise<Looked & { readonly cluster: Cluster }> {
  const cluster = await startCluster();
  afterTest(() => cluster.remove());
  const url = `${cluster.url}?schema=own`;
  await migrateStore(url);
  return {
    cluster,
    url,
    async sql(text, values = []) {
      const client = new pg.Client(cluster.url);
      await client.connect();
      try {
        const { rows } = await client.query({
          text: text.replaceAll(/\bs\./g, "own."),
          values: [...values],
        });
        return rows as Record<string, unknown>[];
      } finally {
        await client.end();
      }
    },
  };
}

/** Lets `serve` find the built page next to the bundled command line. */
export function offerPage(built: string): void {
  try {
    symlinkSync(built, join(PACKAGE, "dist", "web"), "dir");
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}
