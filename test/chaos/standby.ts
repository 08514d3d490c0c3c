/**
 * A standby of the run's server. It follows by streaming replication, through a proxy that can be cut, so that it lags
 * when it is promoted: what was acknowledged meanwhile is lost, as in a failover with asynchronous replication.
 */

import { execFile, spawn } from "node:child_process";
import { appendFileSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { ownPort } from "../support/own-port.ts";
import { type Cluster, serverPrograms } from "../support/postgres-cluster.ts";
import { FaultyProxy } from "./faulty-proxy.ts";

const run = promisify(execFile);

export interface Standby {
  readonly cluster: Cluster;
  /** No more of the primary arrives from now on. */
  cutOff(): void;
  promote(): Promise<void>;
  remove(): Promise<void>;
}

export async function startStandby(primary: Cluster): Promise<Standby> {
  // The folder in PATH may hold only links to some of the programs.
  const programs = dirname(realpathSync(join(serverPrograms() ?? "", "initdb")));
  const user = await serverUser();
  const base = mkdtempSync(join(tmpdir(), "throughline-pg-"));
  const [folder, sockets] = [join(base, "data"), join(base, "s")];
  mkdirSync(sockets);
  for (const one of [base, sockets]) if (user !== undefined) chownSync(one, user.uid, user.gid);
  const as = { ...user, cwd: base };
  const link = new FaultyProxy(() => primary.port);
  await link.listen();
  const from = ["-h", "127.0.0.1", "-p", String(link.port), "-U", "postgres"];
  const how = ["-R", "-X", "stream", "-c", "fast", "--no-sync"];
  try {
    await run(join(programs, "pg_basebackup"), [...from, "-D", folder, ...how], as);
  } catch (error) {
    link.close();
    rmSync(base, { recursive: true, force: true });
    throw error;
  }
  const port = await ownPort();
  const settings = [
    `port = ${port}`,
    `unix_socket_directories = '${sockets}'`,
    "wal_retrieve_retry_interval = '200ms'",
  ];
  appendFileSync(join(folder, "postgresql.auto.conf"), `${settings.join("\n")}\n`);
  const control = (...args: readonly string[]): Promise<void> =>
    new Promise((done, failed) => {
      const child = spawn(
        join(programs, "pg_ctl"),
        ["-D", folder, "-w", "-t", "60", "-l", join(base, "log"), ...args],
        { ...as, stdio: "ignore" },
      );
      child.on("error", failed);
      child.on("exit", (code) =>
        code === 0 ? done() : failed(new Error(`pg_ctl ${args.join(" ")} exited with ${code}`)),
      );
    });
  const remove = async (): Promise<void> => {
    link.close();
    await control("stop", "-m", "immediate").catch(() => undefined);
    rmSync(base, { recursive: true, force: true });
  };
  await control("start");
  return {
    cluster: {
      port,
      folder: base,
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      restart: (mode = "fast") => control("restart", "-m", mode),
      stop: (mode = "fast") => control("stop", "-m", mode),
      start: () => control("start"),
      remove,
    },
    cutOff: () => link.close(),
    promote: () => control("promote"),
    remove,
  };
}

/** The user of Debian's package, if this process is root. */
async function serverUser(): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return { uid: await idOf("-u"), gid: await idOf("-g") };
}

async function idOf(flag: string): Promise<number> {
  return Number((await run("id", [flag, "postgres"])).stdout);
}
