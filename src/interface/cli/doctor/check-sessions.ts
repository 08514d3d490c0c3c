/**
 * The data folder: modes, space, sessions that cannot be read, what a crash left behind, and who is writing. Reads only.
 */

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

import { codeOf, messageOf } from "../../../base/support/index.ts";
import { damageOf, fileStore, lockHolder } from "../../../runtime/log/index.ts";
import { amount } from "../amount.ts";
import { crashLeft } from "../crash-left.ts";
import { readProblem } from "../read-problem.ts";
import { bad, type Finding, note, ok } from "./finding.ts";

const LEAST_FREE_BYTES = 100 * 1024 * 1024;

export function checkFolder(folder: string): readonly Finding[] {
  if (!existsSync(folder)) return [nearestFolder(folder)];
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    if (!statSync(folder).isDirectory()) throw new Error("it is not a folder");
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
  const message = `${folder} may be on a network file system: a writer on another machine is not seen there`;
  return [
    note("locks", message, "open a session on one machine at a time, or keep sessions on a local disk"),
  ];
}

/**
 * Not made yet: the first session makes it, if it can. Tried with the first folder that is missing, because what may be
 * written to is not always writable; not with all at once, which never ends where nothing can be made (/proc).
 */
function nearestFolder(folder: string): Finding {
  let missing = folder;
  while (!existsSync(dirname(missing)) && dirname(missing) !== missing) missing = dirname(missing);
  try {
    mkdirSync(missing, { mode: 0o700 });
    rmdirSync(missing);
    return ok("folder", `${folder} is made by the first session`);
  } catch (error) {
    const message = `${folder} cannot be made: ${readProblem(error)}`;
    return bad("folder", message, "set THROUGHLINE_HOME to a folder of yours");
  }
}

function space(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const message = `${folder}: ${Math.round(free / 1024 / 1024)} MB free`;
  return free < LEAST_FREE_BYTES
    ? bad("folder", message, "make room: a full disk ends a turn")
    : ok("folder", message);
}

/** Sessions hold everything that was said: nobody else should read them. */
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
    findings.push(note("modes", `${folder} can be listed by other users`, `chmod 700 ${folder}`));
  if (wide.length > 0) {
    const names = `${wide.slice(0, 3).join(", ")}${wide.length > 3 ? ", …" : ""}`;
    const message = `${amount(wide.length, "file")} can be read by other users: ${names}`;
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
    return bad("sessions", `session ${id} cannot be opened: ${messageOf(error)}`, `look at ${file}`);
  const { line, byte, problem, salvageable } = damage;
  return bad(
    "sessions",
    `session ${id} is damaged at line ${line}, byte ${byte}: ${problem}`,
    salvageable
      ? `throughline repair ${id} saves what is whole, as a session of its own`
      : `not one line of it is whole: restore ${file} from a copy, or remove it: throughline sessions rm ${id} --yes`,
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

/** Opens every session to read. */
export async function checkSessions(folder: string, options: ScanOptions): Promise<readonly Finding[]> {
  if (!existsSync(folder)) return [];
  const now = Date.now();
  const store = fileStore(folder);
  const stored = [];
  try {
    for await (const one of store.list({ summaries: false })) stored.push(one);
  } catch {
    return []; // the folder itself is told of already
  }
  const findings: Finding[] = [];
  let whole = 0;
  for (const [index, { id, modifiedAt }] of stored.entries()) {
    if (options.signal.aborted) break;
    options.progress(index + 1, stored.length);
    if (modifiedAt > now + 60_000) {
      findings.push(
        note("clock", `session ${id} was written in the future`, "the clock was set back; set it right"),
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
            `session ${id}: ${amount(waiting.length, "turn")} that a server has promised and not begun`,
            "throughline serve begins them",
          ),
        );
    } catch (error) {
      findings.push(problemOf(id, join(folder, `${id}.jsonl`), error));
    }
  }
  const torn = readdirSync(folder).filter((name) => name.includes(".torn-"));
  const damaged = readdirSync(folder).filter((name) => name.includes(".waiting-damaged"));
  return [
    ok("sessions", `${amount(whole, "session")} of ${stored.length} whole`),
    ...findings,
    ...torn.map((name) =>
      note(
        "sessions",
        `${name}: an unfinished write that was cut off and kept`,
        "look at it, then remove it",
      ),
    ),
    ...damaged.map((name) =>
      note(
        "sessions",
        `${name}: a list of waiting turns of which not every line could be read`,
        "look at it, then remove it",
      ),
    ),
  ];
}
