/**
 * The proxy in its own process, to be killed, measured, or given a bad disk. Prints `url ADDRESS` when it listens,
 * `problem TEXT` for what it tells its user, and `points N` before SIGTERM ends it.
 *
 * @module
 */

import * as fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { Socket } from "node:net";

import { startProxy } from "../../../src/proxy/relay/index.ts";
import type { ChildPlan } from "./child-plan.ts";

const plan = JSON.parse(process.argv[2] ?? "{}") as ChildPlan;
const say = (word: string, text: string): void => void fs.writeSync(1, `${word} ${text}\n`);

/** Only what concerns the ledger. */
const isLedger = new Set<number>();
let points = 0;

/** A place where the process may die. */
function point(): void {
  points += 1;
  if (points === plan.dieAt) process.kill(process.pid, "SIGKILL");
}

function failing(call: string): Error | undefined {
  if (plan.fail === undefined || !plan.fail.calls.includes(call)) return undefined;
  return Object.assign(new Error(`${plan.fail.code}: made by the test`), { code: plan.fail.code });
}

type Done = (error: Error | null, count?: number) => void;

/** The module object itself, whose functions can be replaced. */
const real = { ...fs };
const open = process.getBuiltinModule("node:fs") as unknown as Record<string, unknown>;

open["openSync"] = (path: string, flags: number, mode: number): number => {
  const isOwn = path.endsWith(".jsonl") && flags !== 0 && typeof flags === "number";
  if (!isOwn) return real.openSync(path, flags, mode);
  point();
  const error = failing("open");
  if (error !== undefined) throw error;
  const file = real.openSync(path, flags, mode);
  isLedger.add(file);
  point();
  return file;
};

open["mkdirSync"] = (path: string, options: object): unknown => {
  const error = failing("mkdir");
  if (error !== undefined) throw error;
  return real.mkdirSync(path, options);
};

open["write"] = (file: number, bytes: Buffer, done: Done): void => {
  if (!isLedger.has(file)) return real.write(file, bytes, done as never);
  point();
  const error = failing("write");
  if (error !== undefined) return void setImmediate(() => done(error));
  points += 1;
  if (points === plan.dieAt) {
    // Torn: only some of the bytes had reached the file when the process died.
    real.writeSync(file, bytes, 0, Math.ceil(bytes.length / 2));
    process.kill(process.pid, "SIGKILL");
  }
  const short =
    plan.fail?.calls.includes("short write") === true
      ? bytes.subarray(0, Math.ceil(bytes.length / 3))
      : bytes;
  const finish: Done = (problem, count) => {
    point();
    done(problem, count);
  };
  if (plan.slowMs === undefined) return real.write(file, short, finish as never);
  setTimeout(() => real.write(file, short, finish as never), plan.slowMs).unref();
};

open["fdatasync"] = (file: number, done: (error: Error | null) => void): void => {
  point();
  const error = failing("sync");
  if (error !== undefined) return void setImmediate(() => done(error));
  real.fdatasync(file, done);
};

open["closeSync"] = (file: number): void => {
  real.closeSync(file);
  const error = isLedger.delete(file) ? failing("close") : undefined;
  if (error !== undefined) throw error;
};

syncBuiltinESMExports();

const { write } = Socket.prototype as unknown as {
  readonly write: (...given: readonly unknown[]) => boolean;
};
/** The last events of the dialects, and the end of the emulator's JSON. */
const END = /event: (?:response\.completed|message_stop)\n|data: \[DONE\]|\n\}$/;
let ends = 0;
if (plan.dieAt !== undefined || plan.dieAtEnd !== undefined || plan.counts === true)
  Socket.prototype.write = function counted(this: Socket, ...given: readonly unknown[]): boolean {
    point();
    const written = write.apply(this, given as unknown[]);
    const isForClient = (this as { readonly server?: unknown }).server !== undefined;
    if (isForClient && END.test(String(given[0]))) ends += 1;
    // Node hands the bytes over on this very tick, before anything else goes on.
    if (ends > 0 && ends === plan.dieAtEnd) process.nextTick(() => process.kill(process.pid, "SIGKILL"));
    point();
    return written;
  };

const proxy = await startProxy({
  ...plan.options,
  onProblem: (message) => say("problem", message),
});
say("url", proxy.url);
process.once("SIGTERM", () => {
  say("points", `${points} ${ends}`);
  process.exit(0);
});
