/**
 * The system calls with which a command touches files, found by strace; and strace runs that kill the command at one of
 * them, or make one fail.
 */

import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";

import { command, type Ended, type Home, withCopy } from "./command-fixture.ts";

export const hasStrace = spawnSync("strace", ["-V"]).status === 0;

/** The calls that change a file. */
const CHANGES = [
  "write",
  "pwrite64",
  "fdatasync",
  "fsync",
  "ftruncate",
  "rename",
  "link",
  "unlink",
  "rmdir",
  "mkdir",
  "chmod",
  "fchmod",
];
const LOOKS = ["openat", "close", "read", "pread64", "fstat", "newfstatat", "statx", "getdents64", "access"];
/** Their number differs from run to run: threads wake one another with these. */
const BY_PATH_ONLY: ReadonlySet<string> = new Set(["read", "write", "close"]);

/**
 * strace looks only at the first of their two names, which is a temporary one. They are few, so they are counted
 * without a path.
 */
const TWO_NAMES: ReadonlySet<string> = new Set(["rename", "link"]);

export const changesFiles = (call: string): boolean => CHANGES.includes(call);

/**
 * One call: the nth of its kind and its thread, as strace counts; if `path` is given, the nth that names that file. A
 * file whose name holds a process id or a random part is counted without a path.
 */
export interface Point {
  readonly call: string;
  readonly nth: number;
  readonly path: string | undefined;
}

export interface RunOptions {
  readonly words: readonly string[];
  /** For a command that runs until it is stopped: what to do with it once it is up. */
  readonly whenUp?: (line: string) => Promise<unknown>;
}

/** A relative path is in the folder it runs in. */
const isOf = (home: Home, path: string): boolean => path.startsWith(home.folder) || !path.startsWith("/");

/** Placeholder for the home folder, which differs for each run. */
const HOME = "<home>";

/** Every system call on a file below the home. */
export function pointsOf(before: Home, run: RunOptions): Promise<readonly Point[]> {
  return withCopy(before, (home) => pointsIn(home, run));
}

async function pointsIn(home: Home, run: RunOptions): Promise<readonly Point[]> {
  const { code, err, lines } = await traced(home, run, [...CHANGES, ...LOOKS], []);
  if (code !== 0) throw new Error(`the golden run ended with ${code}: ${err}`);
  const points = new Map<string, Point>();
  const made = new Map<string, number>();
  const count = (...words: readonly string[]): number => {
    const key = words.join(" ");
    made.set(key, (made.get(key) ?? 0) + 1);
    return made.get(key) ?? 0;
  };
  for (const { thread, call, paths } of lines) {
    const nth = count(thread, call);
    const ours = paths.filter((path) => isOf(home, path));
    const byPath = ours.map((path) => ({ call, path, nth: count(thread, call, path) }));
    if (ours.length === 0) continue;
    const lasting = byPath.find(({ path }) => !UNKNOWN_NAME.test(path.replace(home.folder, "")));
    const point =
      lasting === undefined || TWO_NAMES.has(call)
        ? { call, nth, path: undefined }
        : { ...lasting, path: lasting.path.replace(home.folder, HOME) };
    if (point.path === undefined && BY_PATH_ONLY.has(call)) continue;
    points.set(JSON.stringify(point), point);
  }
  return [...points.values()];
}

/** Contains a process id, a random id or a time. */
const UNKNOWN_NAME = /\.tmp|\/s_[0-9a-z]{20,}|\.lock\//;

export interface Hit extends Ended {
  /** Whether the run reached that point on a file of the home. */
  readonly reached: boolean;
}

/** Kills at the call's entry, so that the call is not made: each state on the way is left once. */
export async function killAt(home: Home, run: RunOptions, point: Point): Promise<Hit> {
  return injected(home, run, point, "signal=KILL", "");
}

/** `lasting`: every such call from there on fails, as on a disk that is full or gone. */
export async function failAt(
  home: Home,
  run: RunOptions,
  point: Point,
  { error, lasting }: { readonly error: string; readonly lasting: boolean },
): Promise<Hit> {
  return injected(home, run, point, `error=${error}`, lasting ? "+" : "");
}

async function injected(
  home: Home,
  run: RunOptions,
  { call, nth, path }: Point,
  what: string,
  from: string,
): Promise<Hit> {
  const orders = ["-e", `inject=${call}:${what}:when=${nth}${from}`];
  const place = path === undefined ? [] : ["-P", path.replace(HOME, home.folder)];
  const ended = await traced(home, run, [call], [...orders, ...place]);
  const hit = ended.killed
    ? ended.lines.at(-1)
    : ended.lines.find(({ injected: wasInjected }) => wasInjected);
  return { ...ended, reached: hit?.paths.some((one) => isOf(home, one)) ?? false };
}

interface Call {
  readonly thread: string;
  readonly call: string;
  readonly paths: readonly string[];
  readonly injected: boolean;
}

async function traced(
  home: Home,
  { words, whenUp }: RunOptions,
  calls: readonly string[],
  orders: readonly string[],
): Promise<Ended & { readonly lines: readonly Call[] }> {
  // Next to the home, not in it: the command's folders hold only what it made.
  const trace = `${home.folder}.trace`;
  // With seccomp the process stops only at these calls and is fast in between; strace 6.1 then sends no signal.
  const quick = orders.some((order) => order.includes("signal=")) ? [] : ["--seccomp-bpf"];
  const strace = ["strace", "-f", ...quick, "-qq", "-y", "-s", "400", "-o", trace];
  const ended = await command(home, words, {
    under: [...strace, "-e", `trace=${calls.join()}`, ...orders],
    whenUp,
    // A signal for strace would not reach the command.
    processId: (pid) => Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1"), 10),
  });
  const text = readFileSync(trace, "latin1");
  rmSync(trace);
  const found = text.matchAll(/^(\d+) +([a-z0-9]+)\((.*)$/gm);
  const lines = [...found].map(([, thread = "", call = "", rest = ""]) => ({
    thread,
    call,
    paths: pathsIn(rest),
    injected: rest.includes("(INJECTED)"),
  }));
  return { ...ended, lines };
}

/**
 * The file named by the call itself, or the one it has open; not the command's working folder, which is in every line.
 */
function pathsIn(rest: string): readonly string[] {
  const open = /^\d+<([^>]+)>/.exec(rest)?.[1];
  if (open !== undefined) return open.startsWith("/") ? [open] : [];
  const named = rest.replaceAll(/AT_FDCWD<[^>]*>/g, "").matchAll(/"([^"]+)"/g);
  return [...named].flatMap(([, path]) => path ?? []);
}
