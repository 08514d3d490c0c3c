/** A home with sessions for the commands that write whole ones, and strace that kills a command at any of its system calls. */

import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { inject } from "vitest";

import { createAgent, emulator, fileStore } from "../../src/index.ts";
import { bundleText, readBundle } from "../../src/log/index.ts";
import { killFolder } from "./killed-fixture.ts";

export const SECRET = "hunter2-canary-value";

export interface Home {
  readonly folder: string;
  readonly sessions: string;
  readonly work: string;
}

const homeIn = (folder: string): Home => ({
  folder,
  sessions: join(folder, "home", "sessions"),
  work: join(folder, "work"),
});

/** Large enough to be a blob. */
const picture = (text: string) =>
  ({
    type: "image",
    mediaType: "image/png",
    data: Buffer.concat([Buffer.from(text), Buffer.alloc(80_000, text)]).toString("base64"),
  }) as const;

/** `s`: whole, with blobs and a torn tail beside it that hold the secret. `broken`: a line in its middle is damaged. */
export async function makeHome(): Promise<Home> {
  const home = homeIn(killFolder());
  mkdirSync(home.work, { recursive: true });
  const store = fileStore(home.sessions);
  const agent = createAgent({ model: emulator() });
  for (const id of ["s", "broken"]) {
    const session = await agent.open({ id, store });
    await session.send([{ type: "text", text: `My key is ${SECRET}.` }, picture(SECRET)]).result();
    await session.send([{ type: "text", text: "Hello" }, picture("a harmless picture")]).result();
    await session.close();
  }
  writeFileSync(join(home.sessions, "s.torn-7"), `{"torn":"${SECRET}`, { mode: 0o600 });
  const log = await store.open("s", { mode: "read" });
  writeFileSync(join(home.work, "bundle.jsonl"), Buffer.concat([...bundleText(await readBundle(log))]));
  await log.close();
  const path = join(home.sessions, "broken.jsonl");
  const bytes = readFileSync(path);
  bytes[Math.floor(bytes.length / 2)] = 0x7e;
  writeFileSync(path, bytes);
  writeFileSync(join(home.work, "secret"), SECRET);
  writeFileSync(join(home.work, "mine.jsonl"), "mine");
  const history = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: null, tool_calls: [CALL] },
    { role: "user", content: "And?" },
  ];
  writeFileSync(join(home.work, "chat.json"), JSON.stringify(history));
  return home;
}

const CALL = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };

export function copyOf(home: Home): Home {
  const copy = homeIn(killFolder());
  cpSync(home.folder, copy.folder, { recursive: true });
  return copy;
}

export interface Ended {
  readonly killed: boolean;
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The command as it is shipped. `under` is put before it: strace with its orders. */
export async function command(
  home: Home,
  words: readonly string[],
  under: readonly string[] = [],
): Promise<Ended> {
  const whole = [...under, process.execPath, join(inject("bundle"), "cli", "main.js"), ...words];
  const child = spawn(whole[0] ?? "", whole.slice(1), {
    cwd: home.work,
    stdio: ["ignore", "pipe", "pipe"],
    // One thread for the disk, so that the nth call of a kind is the same one each time.
    env: {
      PATH: process.env["PATH"] ?? "",
      THROUGHLINE_HOME: join(home.folder, "home"),
      UV_THREADPOOL_SIZE: "1",
    },
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (data: Buffer) => (out += data.toString("utf8")));
  child.stderr.on("data", (data: Buffer) => (err += data.toString("utf8")));
  return new Promise((done) => {
    child.once("close", (code, signal) =>
      done({ killed: signal === "SIGKILL" || code === 137, code, out, err }),
    );
  });
}

/** What changes a file, and what only looks: between two changes every place of a kill leaves the same. */
const CHANGES = ["pwrite64", "fdatasync", "fsync", "ftruncate", "rename", "link", "unlink", "rmdir", "mkdir"];
const LOOKS = ["openat", "write", "close", "read", "fstat", "statx", "fchmod", "chmod"];

export interface Point {
  readonly call: string;
  readonly nth: number;
}

/** Every system call on a file below the home, by its number among those of its kind and its thread. */
export async function pointsOf(home: Home, words: readonly string[]): Promise<readonly Point[]> {
  const trace = join(killFolder(), "trace.txt");
  const calls = [...CHANGES, ...LOOKS].join();
  const { code, err } = await command(home, words, [
    "strace",
    "-f",
    "-qq",
    "-y",
    "-o",
    trace,
    "-e",
    `trace=${calls}`,
  ]);
  if (code !== 0) throw new Error(`the golden run ended with ${code}: ${err}`);
  const made = new Map<string, number>();
  const points = new Map<string, Point>();
  let main: string | undefined;
  for (const [line, thread = "", call = ""] of readFileSync(trace, "latin1").matchAll(
    /^(\d+) +([a-z0-9]+)\(.*$/gm,
  )) {
    main ??= thread;
    const nth = (made.get(`${thread} ${call}`) ?? 0) + 1;
    made.set(`${thread} ${call}`, nth);
    const ours = isBelow(home, line);
    // strace counts each thread for itself: what only looks, in another thread, cannot be told from the start of node.
    if (ours && (thread === main || CHANGES.includes(call))) points.set(`${call} ${nth}`, { call, nth });
  }
  return [...points.values()];
}

/** Kills it there, and tells whether the last thing it did was on a file below the home. */
export async function killAt(home: Home, words: readonly string[], { call, nth }: Point): Promise<boolean> {
  const trace = join(killFolder(), "trace.txt");
  const injection = `inject=${call}:signal=KILL:when=${nth}`;
  const order = ["strace", "-f", "-qq", "-y", "-o", trace, "-e", `trace=${call}`, "-e", injection];
  const { killed } = await command(home, words, order);
  const last = readFileSync(trace, "latin1")
    .split("\n")
    .findLast((line) => line.includes(` ${call}(`));
  return killed && last !== undefined && isBelow(home, last);
}

/** The folder a command runs in stands in every line that names a file. */
function isBelow({ folder }: Home, line: string): boolean {
  return line.replaceAll(/AT_FDCWD<[^>]*>/g, "").includes(folder);
}
