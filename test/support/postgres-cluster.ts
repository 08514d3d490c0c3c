/**
 * A real PostgreSQL server of the test's own: a cluster in a temporary folder, on loopback, on a free port. The binaries
 * are found in PATH or where Debian puts them. As root, the server runs as the user `postgres`, since it refuses to run
 * as root.
 */

import { execFile, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Cluster {
  readonly port: number;
  readonly folder: string;
  /** Of the superuser. */
  readonly url: string;
  /** Restarts the server. `immediate` is a crash: nothing is written out first. */
  restart(mode?: "fast" | "immediate"): Promise<void>;
  stop(mode?: "fast" | "immediate"): Promise<void>;
  start(): Promise<void>;
  /** Stops the server and removes its folder. */
  remove(): Promise<void>;
}

/** The folder of the server's programs, or undefined if there is none. */
export function serverPrograms(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...versions.map((one) => join(debian, one, "bin")),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")));
}

export interface ClusterOptions {
  /** Further lines of postgresql.conf. */
  readonly settings?: readonly string[];
  readonly encoding?: string;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const programs = serverPrograms();
  if (programs === undefined) throw new Error("PostgreSQL is not installed: apt-get install postgresql");
  const base = mkdtempSync(join(tmpdir(), "throughline-pg-"));
  const user = await serverUser();
  if (user !== undefined) chownSync(base, user.uid, user.gid);
  const folder = join(base, "data");
  const sockets = join(base, "s");
  mkdirSync(sockets);
  if (user !== undefined) chownSync(sockets, user.uid, user.gid);
  const as = { ...user, cwd: base };
  const { encoding = "UTF8", settings = [] } = options;
  await run(
    join(programs, "initdb"),
    ["-D", folder, "-U", "postgres", "-A", "trust", "-E", encoding, "--locale=C", "--no-sync"],
    as,
  );
  const port = await freePort();
  const lines = [
    "listen_addresses = '127.0.0.1'",
    `port = ${port}`,
    `unix_socket_directories = '${sockets}'`,
    "max_connections = 200",
    "logging_collector = off",
    "restart_after_crash = on",
    ...settings,
  ];
  writeFileSync(join(folder, "postgresql.auto.conf"), `${lines.join("\n")}\n`);
  const control = (...args: readonly string[]): Promise<void> =>
    new Promise((done, failed) => {
      // Its standard streams would stay open in the server, and the promise with them.
      const child = spawn(
        join(programs, "pg_ctl"),
        ["-D", folder, "-w", "-t", "60", "-l", join(base, "log"), ...args],
        {
          ...as,
          stdio: "ignore",
        },
      );
      child.on("error", failed);
      child.on("exit", (code) =>
        code === 0 ? done() : failed(new Error(`pg_ctl ${args.join(" ")} exited with ${code}`)),
      );
    });
  await control("start");
  return {
    port,
    folder: base,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    restart: (mode = "fast") => control("restart", "-m", mode),
    stop: (mode = "fast") => control("stop", "-m", mode),
    start: () => control("start"),
    async remove() {
      await control("stop", "-m", "immediate").catch(() => undefined);
      rmSync(base, { recursive: true, force: true });
    },
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

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => {
    server.listen(0, "127.0.0.1", done);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => {
    server.close(done);
  });
  return port;
}
