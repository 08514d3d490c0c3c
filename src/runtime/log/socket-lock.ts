/**
 * The writer lock on Linux: a listening Unix socket in the folder `<id>.lock/` next to the log.
 *
 * The kernel is the only judge. A socket accepts connections while its process lives, even a stopped one, and refuses
 * them from the moment the process is dead. The kernel finds the socket by its inode, so every Node version, user and
 * container that sees the folder finds the same one, whatever path or network namespace it uses.
 *
 * Two rules make it a lock:
 * - A name is random and never used twice. A socket that refuses is therefore dead permanently, and anyone may remove
 *   it.
 * - A claimant first publishes a socket that already listens, then checks the others, and holds the lock only if none
 *   of them is alive. Of two claimants, at least one sees the other.
 */

import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { codedError, codeOf, messageOf, type ThroughlineError } from "../../base/support/index.ts";
import { unusable } from "./session-folder.ts";
import type { LockAttempt } from "./writer-lock.ts";

/** Bound, but perhaps not listening yet: it would refuse like a dead socket. */
const UNPUBLISHED = ".new";
/** A living process answers at once. One that does not is stopped or busy, and still holds the lock. */
const ANSWER_MS = 200;
/** How often a claimant checks again while others claim at the same moment, and how often it starts over. */
const ROUNDS = 100;
const ROUND_MS = 5;

export async function lockBySocket(folder: string): Promise<LockAttempt> {
  const claim = await publish(folder);
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const rivals = await liveSockets(folder, claim.name);
      if (rivals.length === 0) {
        claim.holds = true;
        return { held: true, release: async () => claim.withdraw() };
      }
      // Of several claimants, the smallest name wins: the others withdraw, and it checks again.
      const winner = rivals.find(({ holds, name }) => holds || name < claim.name);
      if (winner !== undefined) {
        claim.withdraw();
        return { held: false, holder: winner.holder };
      }
      await pause(ROUND_MS);
    }
    throw new Error("other processes keep claiming it");
  } catch (error) {
    claim.withdraw();
    throw unlockable(folder, messageOf(error), error);
  }
}

/** Describes the holder, or returns undefined. It only looks: it claims nothing and removes nothing. */
export async function socketHolder(folder: string): Promise<string | undefined> {
  try {
    const [first] = await liveSockets(folder, undefined);
    return first?.holder;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    return `another process of user ${ownerOf(folder) ?? "unknown"}`; // we may not open its folder
  }
}

/**
 * Whether any process holds or claims the lock. Does not ask which: that costs half as much again, and many sessions
 * are followed.
 */
export async function isHeldBySocket(folder: string): Promise<boolean> {
  try {
    return await inFolder(folder, async (at) => {
      for (const entry of readdirSync(at, { withFileTypes: true })) {
        const path = `${at}/${entry.name}`;
        if (!isSocket(entry, path) || entry.name.endsWith(UNPUBLISHED)) continue;
        if (await lives(path)) return true;
      }
      return false;
    });
  } catch (error) {
    return codeOf(error) !== "ENOENT"; // we may not open its folder
  }
}

interface Claim {
  readonly name: string;
  holds: boolean;
  withdraw(): void;
}

/**
 * Listens under a name that claimants ignore, then publishes it by a rename, so every visible name accepts connections.
 */
async function publish(folder: string): Promise<Claim> {
  let problem: unknown;
  for (let round = 0; round < ROUNDS; round += 1) {
    makeLockFolder(folder);
    const name = randomBytes(8).toString("hex");
    const claim = new SocketClaim(folder, name);
    try {
      await inFolder(folder, async (at) => {
        await claim.listen(`${at}/${name}${UNPUBLISHED}`);
        chmodSync(`${at}/${name}${UNPUBLISHED}`, 0o777); // the mode of the folder decides who gets access
        renameSync(`${at}/${name}${UNPUBLISHED}`, `${at}/${name}`);
      });
      return claim;
    } catch (error) {
      claim.withdraw();
      // The last holder just removed the folder, or another process just removed the name. For a missing folder, libuv
      // reports EACCES (uv_pipe_bind).
      if (codeOf(error) !== "ENOENT" && codeOf(error) !== "EACCES")
        throw unlockable(folder, messageOf(error), error);
      problem = error;
    }
  }
  throw unlockable(folder, messageOf(problem), problem);
}

class SocketClaim implements Claim {
  readonly name: string;
  holds = false;
  readonly #folder: string;
  readonly #server: Server;

  constructor(folder: string, name: string) {
    this.name = name;
    this.#folder = folder;
    this.#server = createServer((socket) => {
      socket.unref().on("error", () => socket.destroy());
      socket.end(`${this.holds ? "holds" : "claims"} ${process.pid} ${host()}`);
    });
  }

  /**
   * `exclusive`: in a worker of node:cluster the socket would otherwise belong to the primary process and outlive us.
   * The error listener stays attached: an accept that fails later (EMFILE) must not end the process, and the socket
   * still listens.
   */
  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.on("error", reject);
      this.#server.listen({ path, exclusive: true }, resolve).unref();
    });
  }

  withdraw(): void {
    for (const end of ["", UNPUBLISHED]) quietly(() => rmSync(join(this.#folder, `${this.name}${end}`)));
    this.#server.close(); // the socket closes at once; only connections being answered take longer
    quietly(() => rmdirSync(this.#folder));
  }
}

interface LiveSocket {
  readonly name: string;
  readonly holds: boolean;
  readonly holder: string;
}

/** All sockets but our own. A claimant also removes dead ones; a mere look (`own` undefined) does not. */
function liveSockets(folder: string, own: string | undefined): Promise<readonly LiveSocket[]> {
  return inFolder(folder, async (at) => {
    const live: LiveSocket[] = [];
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const path = `${at}/${entry.name}`;
      if (entry.name === own || !isSocket(entry, path)) continue;
      const answer = await ask(path);
      if (answer === "dead" && own !== undefined) quietly(() => rmSync(path));
      // An unpublished claimant has not checked the others yet, and will see us.
      if (typeof answer === "string" || entry.name.endsWith(UNPUBLISHED)) continue;
      const { said } = answer;
      const holds = !said.startsWith("claims ");
      live.push({ name: entry.name, holds, holder: holderIn(said, ownerOf(path)) });
    }
    return live;
  });
}

/** Deno's directory entries know files, folders and links only; a socket is none of them. */
function isSocket(entry: Dirent, path: string): boolean {
  if (entry.isSocket()) return true;
  if (entry.isFile() || entry.isDirectory() || entry.isSymbolicLink()) return false;
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true;
}

type Answer = "dead" | "gone" | { readonly said: string };

/** Only a refused connection proves that the process is dead. After any other error it counts as alive. */
function ask(path: string): Promise<Answer> {
  return new Promise((resolve) => {
    let said = "";
    const socket = connect(path);
    const finish = (answer: Answer): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(ANSWER_MS, () => finish({ said }));
    socket.on("data", (data) => (said = `${said}${data.toString("latin1")}`.slice(0, 256)));
    socket.on("end", () => finish({ said }));
    socket.on("error", (error) => {
      const code = codeOf(error);
      finish(code === "ECONNREFUSED" ? "dead" : code === "ENOENT" ? "gone" : { said });
    });
  });
}

/**
 * Like `ask`, but does not wait for an answer: the kernel accepts the connection for any living process, even a stopped
 * one.
 */
function lives(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (alive: boolean): void => {
      socket.destroy();
      resolve(alive);
    };
    socket.on("connect", () => finish(true));
    socket.on("error", (error) => {
      const code = codeOf(error);
      finish(code !== "ECONNREFUSED" && code !== "ENOENT");
    });
  });
}

/** Shows what a process says about itself only if it has the expected form. Its user comes from the file system. */
function holderIn(said: string, owner: number | undefined): string {
  const [, pid, where] = /^(?:holds|claims) (\d{1,10}) ([\w.-]{1,64})$/.exec(said) ?? [];
  const here = where === host();
  if (here && Number(pid) === process.pid) return "this process";
  const name = pid === undefined ? "another process" : `process ${pid}${here ? "" : ` on ${where}`}`;
  return owner === undefined || owner === process.geteuid?.() ? name : `${name} of user ${owner}`;
}

/** A container has its own host name and its own process ids. */
function host(): string {
  return hostname()
    .replaceAll(/[^\w.-]/g, "_")
    .slice(0, 64);
}

function ownerOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.uid;
}

/**
 * The path of a socket may have at most 107 bytes, that of a folder any number, so the socket is reached through the
 * open folder. That also stays the same folder if it is renamed.
 */
async function inFolder<T>(folder: string, work: (at: string) => Promise<T>): Promise<T> {
  const file = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    return await work(`/proc/self/fd/${file}`);
  } finally {
    closeSync(file);
  }
}

/**
 * Only the owner may enter the folder, unless others may write to the folder of sessions too. The owner is that of the
 * folder of sessions: a lock left by root must not keep users out of their own sessions.
 */
function makeLockFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
    const { uid, gid, mode } = statSync(dirname(folder));
    if (process.geteuid?.() === 0 && uid !== 0) chownSync(folder, uid, gid);
    if ((mode & 0o022) === 0) return;
    chownSync(folder, -1, gid);
    chmodSync(folder, mode & 0o1777);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return removeIfClosed(folder);
    // EPERM: we may not set the group. ENOENT: the last holder has just removed the folder.
    if (code !== "EPERM" && code !== "ENOENT") throw unusable(dirname(folder), error);
  }
}

/** Removes an empty folder that its creator died before opening up to us, so that it can be created again. */
function removeIfClosed(folder: string): void {
  try {
    closeSync(openSync(folder, constants.O_RDONLY));
  } catch (error) {
    if (codeOf(error) === "EACCES") quietly(() => rmdirSync(folder));
  }
}

/** Anything that cannot be removed is already gone, in use or dead. The next claimant finds out which. */
function quietly(remove: () => void): void {
  try {
    remove();
  } catch {
    // See the doc comment.
  }
}

function unlockable(folder: string, why: string, cause?: unknown): ThroughlineError {
  return codedError(
    "lock_unusable",
    `cannot take the writer lock ${folder}: ${why}. Keep sessions in a folder of your own on a local disk (THROUGHLINE_HOME), or remove ${folder} if no program is writing this session`,
    cause,
  );
}
