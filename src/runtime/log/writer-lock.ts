/**
 * One writer across processes. On Linux an abstract Unix socket: the kernel frees it with its holder, whatever kills
 * that, and it tells who holds it. Elsewhere a lock file naming a process, taken over when that process is gone.
 * Neither reaches across containers that share a volume: there the size check before each append still refuses to
 * interleave (`session_fenced`).
 */

import { createHash } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";

import { codeOf } from "../../base/support/index.ts";

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

/** Who holds it, in words; undefined when nobody does. Takes nothing itself. `path` is the log's, without links. */
export async function lockHolder(path: string): Promise<string | undefined> {
  if (!(await isWriterLocked(path))) return undefined;
  return process.platform === "linux" ? askHolder(socketName(path)) : holderOf(`${path}.lock`);
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
    if (linked(mine, path) || takeOver(path, mine))
      return { held: true, release: async () => rmSync(path, { force: true }) };
    return { held: false, holder: holderOf(path) };
  } finally {
    rmSync(mine, { force: true });
  }
}

/** False when there is one already. */
function linked(from: string, path: string): boolean {
  try {
    linkSync(from, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * Only whoever holds the guard may replace a dead lock, and looks again once it does: of two that found the same dead
 * holder, the slower one would else replace the lock of the quicker. Replaced by a rename, so there is always one.
 */
function takeOver(path: string, mine: string): boolean {
  if (!isDead(path)) return false;
  const guard = `${path}.takeover`;
  if (isDead(guard)) rmSync(guard, { force: true });
  if (!linked(mine, guard)) return false;
  try {
    if (!isDead(path)) return false;
    renameSync(mine, path);
    return true;
  } finally {
    rmSync(guard, { force: true });
  }
}

/** Names a process that is gone, or nobody. */
function isDead(path: string): boolean {
  try {
    return !isAlive(Number(readFileSync(path, "latin1")));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

function holderOf(path: string): string {
  try {
    return holderName(Number(readFileSync(path, "latin1")));
  } catch {
    return "another process"; // let go this moment, or being taken over
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
