/**
 * A pooler in front of a PostgreSQL server: pgbouncer in transaction mode, in a temporary folder, on a free loopback
 * port. It refuses to run as root, so it then runs as nobody.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import { ownPort } from "./own-port.ts";

export interface Pooler {
  readonly port: number;
  /** The same address by way of the pooler. */
  through(url: string): string;
  stop(): Promise<void>;
}

export interface PoolerOptions {
  /** The port of the server. */
  readonly server: number;
  /** How many connections to the server all clients share. */
  readonly size: number;
}

/** The path of the program, or undefined if it is not installed. */
export function poolerProgram(): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  return folders.map((folder) => join(folder, "pgbouncer")).find((path) => existsSync(path));
}

/** As whom to run if this process is root. */
const NOBODY = 65_534;

export async function startPooler({ server, size }: PoolerOptions): Promise<Pooler> {
  const program = poolerProgram();
  if (program === undefined) throw new Error("pgbouncer is not installed: apt-get install pgbouncer");
  const folder = mkdtempSync(join(tmpdir(), "throughline-pool-"));
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const port = await ownPort();
  const lines = [
    "[databases]",
    `* = host=127.0.0.1 port=${server} user=postgres`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    `default_pool_size = ${size}`,
    "max_client_conn = 500",
    `logfile = ${join(folder, "log")}`,
  ];
  const settings = join(folder, "pgbouncer.ini");
  writeFileSync(settings, `${lines.join("\n")}\n`);
  if (user.uid !== undefined) for (const path of [folder, settings]) chownSync(path, user.uid, user.gid);
  const child = spawn(program, ["-q", settings], { ...user, cwd: folder, stdio: "ignore" });
  await answers(port, () => child.exitCode === null);
  return {
    port,
    through(url) {
      const there = new URL(url);
      there.port = String(port);
      return there.href;
    },
    async stop() {
      if (child.exitCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when the pooler listens on the port. */
async function answers(port: number, lives: () => boolean): Promise<void> {
  while (lives()) {
    const socket = createConnection({ host: "127.0.0.1", port });
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
  }
  throw new Error("pgbouncer ended before it listened");
}
