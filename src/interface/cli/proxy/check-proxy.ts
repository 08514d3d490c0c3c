/** What the doctor of the proxy looks at: the routes, the folder, the ledger and the clock. Changes nothing. */

import { accessSync, constants, existsSync, mkdirSync, rmdirSync, statfsSync, statSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";
import { connect as connectTls } from "node:tls";

import { codeOf, messageOf, readProblem } from "../../../base/support/index.ts";
import { ledgerStatus, readExchanges, type Route } from "../../../proxy/relay/index.ts";
import { amount } from "../amount.ts";
import { bad, type Finding, note, ok } from "../doctor/finding.ts";
import { sizeOf } from "../store-words.ts";
import { dateText } from "./exchange-words.ts";

const PATIENCE_MS = 5000;
const LEAST_FREE_BYTES = 100 * 1024 * 1024;
/** Nothing was recorded before this program existed. */
const EARLIEST = Date.UTC(2026, 0, 1);
const MOST_AHEAD_MS = 60_000;
const MOST_DAMAGE_TOLD = 5;

/** An upstream that the user named must answer. Of the others, few people use more than two. */
export async function checkRoutes(
  { asked, known }: { readonly asked: readonly Route[]; readonly known: readonly Route[] },
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const check = async (route: Route, needed: boolean): Promise<Finding> => {
    const where = `${route.name} at ${route.url.origin}`;
    const problem = await unreachable(route.url, signal);
    if (problem === undefined) return ok("routes", `${where} answers`);
    const message = `${where} is not reachable: ${problem}`;
    return needed
      ? bad("routes", message, "check the address, the network and whether the server runs")
      : note("routes", message, "nothing, unless you use it");
  };
  return Promise.all([
    ...asked.map((route) => check(route, true)),
    ...known.map((route) => check(route, false)),
  ]);
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name of the host cannot be resolved now",
  ENETUNREACH: "the network cannot be reached",
};

/** Opens a connection and sends nothing. Returns why it failed, if it did. */
function unreachable(url: URL, signal: AbortSignal): Promise<string | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const secure = url.protocol === "https:";
  const port = Number(url.port === "" ? (secure ? 443 : 80) : url.port);
  return new Promise((resolve) => {
    const socket = secure
      ? connectTls({ host, port, servername: /^[\d.]+$|:/.test(host) ? "" : host })
      : connect({ host, port });
    const end = (problem: string | undefined): void => {
      clearTimeout(late);
      signal.removeEventListener("abort", stop);
      socket.destroy();
      resolve(problem);
    };
    const stop = (): void => end("the check was stopped");
    const late = setTimeout(() => end(`no answer in ${PATIENCE_MS / 1000} s`), PATIENCE_MS);
    signal.addEventListener("abort", stop);
    socket.once(secure ? "secureConnect" : "connect", () => end(undefined));
    socket.once("error", (error) => end(WORDS[codeOf(error) ?? ""] ?? messageOf(error)));
  });
}

export function checkLedgerFolder(folder: string): readonly Finding[] {
  try {
    if (!existsSync(folder)) return [creatable(folder)];
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    if (!statSync(folder).isDirectory()) throw new Error("not a folder");
  } catch (error) {
    const fix = `chmod u+rwx ${folder}, or name another folder with --ledger`;
    return [bad("folder", `${folder} cannot be used: ${readProblem(error)}`, fix)];
  }
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const space = `${folder}: ${sizeOf(free)} free`;
  const open = process.platform !== "win32" && (statSync(folder).mode & 0o077) !== 0;
  return [
    free < LEAST_FREE_BYTES
      ? bad("folder", space, "free some space: on a full disk the proxy forgets what comes next")
      : ok("folder", space),
    ...(open
      ? [bad("folder", `other users can look into ${folder}, which holds reasoning`, `chmod 700 ${folder}`)]
      : []),
  ];
}

/** Makes the topmost missing folder and removes it again: permission bits alone do not say whether that works. */
function creatable(folder: string): Finding {
  let missing = folder;
  while (!existsSync(dirname(missing)) && dirname(missing) !== missing) missing = dirname(missing);
  try {
    mkdirSync(missing, { mode: 0o700 });
    rmdirSync(missing);
    return ok("folder", `${folder} does not exist yet; the first request makes it`);
  } catch (error) {
    const fix = "name a folder that you can write to with --ledger, or set THROUGHLINE_HOME";
    return bad("folder", `${folder} cannot be made: ${readProblem(error)}`, fix);
  }
}

export function checkLedger(folder: string): readonly Finding[] {
  let status: ReturnType<typeof ledgerStatus>;
  try {
    status = ledgerStatus(folder);
  } catch (error) {
    return [bad("ledger", `${folder} cannot be read: ${readProblem(error)}`, `chmod -R u+rw ${folder}`)];
  }
  const { groups, exchanges, bytes, segments, damage, writers } = status;
  const told = damage.slice(0, MOST_DAMAGE_TOLD).map(({ file, byte }) => {
    const message = `${file} has a line that cannot be read, at byte ${byte}`;
    // The line may not be complete yet.
    return writers.some((pid) => file.startsWith(`${pid}-`))
      ? note("ledger", message, "a proxy writes to this file: run this again")
      : bad(
          "ledger",
          message,
          "only this line is lost; check the disk, and restore the file if you have a copy",
        );
  });
  const more = damage.length - told.length;
  return [
    ok(
      "ledger",
      `${amount(groups, "answer")} and ${amount(exchanges, "exchange")} in ${amount(segments, "file")}, ${sizeOf(bytes)}`,
    ),
    ...told,
    ...(more > 0 ? [bad("ledger", `${amount(more, "more line")} cannot be read`, "as above")] : []),
    ...(writers.length === 0
      ? [ok("running", "no proxy writes to this ledger now")]
      : writers.map((pid) => ok("running", `process ${pid} writes to this ledger`))),
  ];
}

/** Retention counts days, and the order of answers is told by their times. */
export function checkClock(folder: string, now = Date.now()): readonly Finding[] {
  const set = "set the clock, for example with NTP";
  if (now < EARLIEST) return [bad("clock", `the clock says ${dateText(now)}, which is too early`, set)];
  const ahead = lastExchange(folder) - now;
  return ahead > MOST_AHEAD_MS
    ? [
        bad(
          "clock",
          `the last exchange is ${Math.round(ahead / 1000)} s in the future: the clock was set back`,
          set,
        ),
      ]
    : [ok("clock", `it is ${dateText(now)}`)];
}

function lastExchange(folder: string): number {
  try {
    return readExchanges(folder).at(-1)?.at ?? 0;
  } catch {
    return 0; // the check of the ledger has said so
  }
}
