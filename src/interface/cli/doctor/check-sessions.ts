/** Checks the data folder: modes, free space, unreadable sessions, remains of crashes, and running writers. Only reads. */

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { codeOf, messageOf, readProblem } from "../../../base/support/index.ts";
import { damageOf, fileStore, lockHolder } from "../../../runtime/log/index.ts";
import { amount } from "../amount.ts";
import { crashLeft } from "../crash-left.ts";
import { bad, type Finding, note, ok } from "./finding.ts";

const LEAST_FREE_BYTES = 100 * 1024 * 1024;

export function checkFolder(folder: string): readonly Finding[] {
  if (!existsSync(folder)) return [nearestFolder(folder)];
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    if (!statSync(folder).isDirectory()) throw new Error("not a folder");
  } catch (error) {
    const message = `${folder} cannot be used: ${readProblem(error)}`;
    return [bad("folder", message, `chmod u+rwx ${folder}, or set THROUGHLINE_HOME`)];
  }
  return [space(folder), ...reachOfLocks(folder), ...modes(folder)];
}

/** The magic numbers of statfs(2): NFS, SMB, CIFS, 9P, Ceph, AFS, FUSE (sshfs among others). */
const NETWORK_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xfe53_4d42, 0xff53_4d42, 0x0102_1997, 0x00c3_6400, 0x6b41_4653, 0x6573_5546,
]);

function reachOfLocks(folder: string): readonly Finding[] {
  if (!NETWORK_FILE_SYSTEMS.has(statfsSync(folder).type)) return [];
  const message = `${folder} may be on a network file system, where a writer on another machine is not noticed`;
  return [
    note("locks", message, "open a session on one machine at a time, or keep sessions on a local disk"),
  ];
}

/**
 * The first session creates the folder, if it can. Tests this by creating the topmost missing folder, because permission
 * bits alone do not say whether a folder can be created. Not all of them at once, which never ends in /proc.
 */
function nearestFolder(folder: string): Finding {
  let missing = folder;
  while (!existsSync(dirname(missing)) && dirname(missing) !== missing) missing = dirname(missing);
  try {
    mkdirSync(missing, { mode: 0o700 });
    rmdirSync(missing);
    return ok("folder", `${folder} does not exist yet; the first session creates it`);
  } catch (error) {
    const message = `${folder} cannot be created: ${readProblem(error)}`;
    return bad("folder", message, "set THROUGHLINE_HOME to a folder you can write to");
  }
}

function space(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const message = `${folder}: ${Math.round(free / 1024 / 1024)} MB free`;
  return free < LEAST_FREE_BYTES
    ? bad("folder", message, "free some space: a full disk ends a turn")
    : ok("folder", message);
}

/** Sessions contain whole conversations, so other users must not be able to read them. */
function modes(folder: string): readonly Finding[] {
  if (process.platform === "win32") return [];
  const wide = readdirSync(folder).filter((name) => (modeOf(join(folder, name)) & 0o077) !== 0);
  const findings: Finding[] = [];
  if ((modeOf(folder) & 0o022) !== 0)
    findings.push(
      bad(
        "modes",
        `other users can write to ${folder}: they can lock or remove your sessions`,
        `chmod 700 ${folder}`,
      ),
    );
  else if ((modeOf(folder) & 0o077) !== 0)
    findings.push(note("modes", `other users can list ${folder}`, `chmod 700 ${folder}`));
  if (wide.length > 0) {
    const names = `${wide.slice(0, 3).join(", ")}${wide.length > 3 ? ", …" : ""}`;
    const message = `other users can access ${amount(wide.length, "file")}: ${names}`;
    findings.push(bad("modes", message, `chmod -R go-rwx ${folder}`));
  }
  return findings;
}

function modeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
}

function problemOf(id: string, file: string, error: unknown): Finding {
  const cause = error instanceof Error ? error.cause : undefined;
  if (["EACCES", "EPERM"].includes(codeOf(cause) ?? codeOf(error) ?? ""))
    return bad(
      "sessions",
      `session ${id} cannot be read: ${readProblem(cause ?? error)}`,
      `chmod u+rw ${file}`,
    );
  const damage = damageOf(error);
  if (damage === undefined)
    return bad("sessions", `session ${id} cannot be opened: ${messageOf(error)}`, `check ${file}`);
  const { line, byte, problem, salvageable } = damage;
  return bad(
    "sessions",
    `session ${id} is damaged at line ${line}, byte ${byte}: ${problem}`,
    salvageable
      ? `throughline repair ${id} saves the undamaged part to a new session`
      : `no line of it is complete: restore ${file} from a copy, or remove it with throughline sessions rm ${id} --yes`,
  );
}

function heldBy(id: string, holder: string, folder: string): Finding {
  const message = `session ${id} is being written by ${holder}`;
  return holder.includes(" of user ")
    ? bad("locks", message, `if that user should not write your sessions: chmod 700 ${folder}`)
    : ok("locks", message);
}

export interface ScanOptions {
  readonly signal: AbortSignal;
  readonly progress: (done: number, all: number) => void;
}

/** Opens every session for reading. */
export async function checkSessions(folder: string, options: ScanOptions): Promise<readonly Finding[]> {
  if (!existsSync(folder)) return [];
  const now = Date.now();
  const store = fileStore(folder);
  const stored = [];
  try {
    for await (const one of store.list({ summaries: false })) stored.push(one);
  } catch {
    return []; // checkFolder has already reported the folder
  }
  const findings: Finding[] = [];
  let whole = 0;
  for (const [index, { id, modifiedAt }] of stored.entries()) {
    if (options.signal.aborted) break;
    options.progress(index + 1, stored.length);
    if (modifiedAt > now + 60_000) {
      findings.push(
        note(
          "clock",
          `session ${id} has a modification time in the future`,
          "the clock was set back: correct it",
        ),
      );
    }
    const holder = await lockHolder(join(folder, `${id}.jsonl`));
    if (holder !== undefined) findings.push(heldBy(id, holder, folder));
    try {
      const log = await store.open(id, { mode: "read" });
      await log.close();
      whole += 1;
      const left = await crashLeft(log);
      if (left !== undefined) findings.push(note("sessions", `session ${id}: ${left}`));
      const begun = new Set(log.events.map(({ turn }) => turn));
      const waiting = (await store.waiting(id).list()).filter(
        ({ turn, cancelled }) => !cancelled && !begun.has(turn),
      );
      if (waiting.length > 0)
        findings.push(
          note(
            "sessions",
            `session ${id} has ${amount(waiting.length, "waiting turn")} that a server accepted and has not started`,
            "throughline serve starts them",
          ),
        );
    } catch (error) {
      findings.push(problemOf(id, join(folder, `${id}.jsonl`), error));
    }
  }
  const torn = readdirSync(folder).filter((name) => name.includes(".torn-"));
  const damaged = readdirSync(folder).filter((name) => name.includes(".waiting-damaged"));
  return [
    ok("sessions", `${whole} of ${amount(stored.length, "session")} can be read`),
    ...findings,
    ...torn.map((name) =>
      note("sessions", `${name}: an unfinished write that was moved aside`, "check it, then remove it"),
    ),
    ...damaged.map((name) =>
      note("sessions", `${name}: a damaged list of waiting turns`, "check it, then remove it"),
    ),
  ];
}
