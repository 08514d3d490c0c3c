/**
 * One writer across processes. On Linux an abstract Unix socket: the kernel frees it with its holder, whatever kills
 * that, and it tells who holds it. Elsewhere a lock file naming a process, taken over when that process is gone.
 * Neither reaches across containers that share a volume: there the size check before each append still refuses to
 * interleave (`session_fenced`).
 *
 * @module
 */

import { createHash } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";

import { codeOf } from "../support/index.ts";

export type LockAttempt =
  | { readonly held: true; release(): Promise<void> }
  | { readonly held: false; readonly holder: string };

export async function acquireWriterLock(path: string): Promise<LockAttempt> {
  return process.platform === "linux" ? lockBySocket(path) : lockByFile(`${path}.lock`);
}

/** Without taking it: a look must never make a writer fail that comes at the same moment. */
export async function isWriterLocked(path: string): Promise<boolean> {
  return process.platform === "linux" ? answers(socketName(path)) : isFileHeld(`${path}.lock`);
}

/** Whoever listens under the name holds the lock, whether it can answer or not: connecting is the kernel's doing. */
function answers(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(name);
    const finish = (held: boolean): void => {
      socket.destroy();
      resolve(held);
    };
    socket.on("connect", () => finish(true));
    // A holder with a full queue of connections (EAGAIN) is one all the same.
    socket.on("error", (error) => finish(codeOf(error) !== "ECONNREFUSED"));
  });
}

function isFileHeld(path: string): boolean {
  try {
    return isAlive(Number(readFileSync(path, "latin1")));
  } catch {
    return false;
  }
}

function socketName(path: string): string {
  return `\0throughline-${createHash("sha256").update(path).digest("hex").slice(0, 40)}`;
}

async function lockBySocket(path: string): Promise<LockAttempt> {
  const name = socketName(path);
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.end(String(process.pid));
  });
  if (!(await listens(server, name))) return { held: false, holder: await askHolder(name) };
  server.unref();
  return {
    held: true,
    release: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

/** False when somebody else has the name. */
function listens(server: Server, name: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => (codeOf(error) === "EADDRINUSE" ? resolve(false) : reject(error)));
    server.listen(name, () => resolve(true));
  });
}

/** A holder that is stopped or busy cannot answer; that it holds the name is certain all the same. */
function askHolder(name: string): Promise<string> {
  return new Promise((resolve) => {
    let pid = "";
    const socket = connect(name);
    const finish = (): void => {
      socket.destroy();
      resolve(/^\d+$/.test(pid) ? holderName(Number(pid)) : "another process");
    };
    socket.setTimeout(200, finish);
    socket.on("data", (data) => (pid += data.toString("latin1")));
    socket.on("end", finish);
    socket.on("error", finish);
  });
}

/** Linked into place with its content: nobody finds it empty and takes it for abandoned. */
async function lockByFile(path: string): Promise<LockAttempt> {
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, String(process.pid), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      try {
        linkSync(mine, path);
        return { held: true, release: async () => rmSync(path, { force: true }) };
      } catch (error) {
        if (codeOf(error) !== "EEXIST") throw error;
        const pid = Number(readFileSync(path, "latin1"));
        if (isAlive(pid)) return { held: false, holder: holderName(pid) };
        rmSync(path, { force: true });
      }
    }
    return { held: false, holder: "another process" };
  } finally {
    rmSync(mine, { force: true });
  }
}

function holderName(pid: number): string {
  return pid === process.pid ? "this process" : `process ${pid}`;
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
