/** A home with sessions for the commands that write whole ones, and strace that kills a command at any of its system calls. */

import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createAgent, emulator, fileStore } from "../../src/index.ts";
import { type AppendDraft, bundleText, readBundle } from "../../src/runtime/log/index.ts";
import { handMadeLog } from "../check/hand-made-log.ts";
import { CLI } from "../support/built.ts";
import { copyFolder } from "./how-much.ts";
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

/**
 * `s`: whole, with blobs and a torn tail beside it that hold the secret. `broken`: a line in its middle is damaged.
 * `odd`: whole, but its next request breaks a rule.
 */
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
  const odd = handMadeLog("emu-reasoner", "http://127.0.0.1:9/v1", [[{ raw: ODD_MESSAGE }]]);
  await store.create("odd", { events: odd as readonly AppendDraft[], blobs: new Map() });
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

/** The API takes no input_text of a model. */
const ODD_MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  content: [{ type: "input_text", text: "Hi." }],
};

const CALL = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };

export function copyOf(home: Home): Home {
  const copy = homeIn(killFolder());
  copyFolder(home.folder, copy.folder);
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
  const whole = [...under, process.execPath, CLI, ...words];
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

/** What changes a file. Killed at its entry it was not made: so every state on the way is left once. */
const CHANGES = [
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
];
/** These the process makes all the time; only those on files whose names are known before count. */
const LOOKS = ["openat", "close", "read", "fstat", "statx", "fchmod", "getdents64"];

export interface Point {
  readonly call: string;
  readonly nth: number;
}

/** Every system call on a file below the home, by its number among those of its kind and its thread. */
export async function pointsOf(home: Home, words: readonly string[]): Promise<readonly Point[]> {
  const points = new Map<string, Point>();
  for (const calls of [CHANGES, LOOKS]) {
    const { code, err, lines } = await traced(copyOf(home), words, calls, [`trace=${calls.join()}`]);
    if (code !== 0) throw new Error(`the golden run ended with ${code}: ${err}`);
    const made = new Map<string, number>();
    for (const { thread, call, ours } of lines) {
      const nth = (made.get(`${thread} ${call}`) ?? 0) + 1;
      made.set(`${thread} ${call}`, nth);
      if (ours) points.set(`${call} ${nth}`, { call, nth });
    }
  }
  return [...points.values()];
}

/** Kills it there, and tells whether the last thing it did was on a file below the home. */
export async function killAt(home: Home, words: readonly string[], { call, nth }: Point): Promise<boolean> {
  const orders = [`trace=${call}`, `inject=${call}:signal=KILL:when=${nth}`];
  const { killed, lines } = await traced(home, words, [call], orders);
  return killed && lines.at(-1)?.ours === true;
}

interface Traced extends Ended {
  readonly lines: readonly { readonly thread: string; readonly call: string; readonly ours: boolean }[];
}

async function traced(
  home: Home,
  words: readonly string[],
  calls: readonly string[],
  orders: readonly string[],
): Promise<Traced> {
  const trace = join(killFolder(), "trace.txt");
  const known = calls.some((call) => LOOKS.includes(call)) ? knownPaths(home) : [];
  const options = [...orders.map((order) => ["-e", order]), ...known.map((path) => ["-P", path])].flat();
  const ended = await command(home, words, ["strace", "-f", "-qq", "-y", "-o", trace, ...options]);
  const found = readFileSync(trace, "latin1").matchAll(/^(\d+) +([a-z0-9]+)\(.*$/gm);
  const lines = [...found].map(([line, thread = "", call = ""]) => ({
    thread,
    call,
    // The folder a command runs in stands in every line that names a file.
    ours: line.replaceAll(/AT_FDCWD<[^>]*>/g, "").includes(home.folder),
  }));
  return { ...ended, lines };
}

function knownPaths({ folder, sessions, work }: Home): readonly string[] {
  const there = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  const made = ["copy", "child", "s-erased", "broken-repaired"].flatMap((id) => [
    join(sessions, `${id}.jsonl`),
    join(sessions, `${id}.jsonl.new`),
    join(sessions, `${id}.blobs`),
  ]);
  return [...there, ...made, join(work, "out.jsonl"), join(work, "chat.repaired.json")];
}
