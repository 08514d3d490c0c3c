/** A home with sessions, settings and files for every command that reads or writes one, and the command as shipped. */

import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createAgent, emulator, fileStore } from "../../src/index.ts";
import { type AppendDraft, bundleText, readBundle } from "../../src/runtime/log/index.ts";
import { handMadeLog } from "../check/hand-made-log.ts";
import { CLI } from "../support/built.ts";
import { copyFolder, quickFolder } from "./how-much.ts";
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
 * `s`: intact, with blobs and a torn tail next to it that hold the secret. `broken`: a line in its middle is damaged.
 * `odd`: intact, but its next request breaks a rule. `torn`: its last line is unfinished.
 */
export async function makeHome(): Promise<Home> {
  const home = homeIn(killFolder());
  mkdirSync(home.work, { recursive: true });
  const store = fileStore(home.sessions);
  const agent = createAgent({ model: emulator() });
  for (const id of ["s", "broken", "torn"]) {
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
  appendFileSync(join(home.sessions, "torn.jsonl"), '{"v":1,"seq":');
  writeFileSync(join(home.work, "secret"), SECRET);
  writeFileSync(join(home.work, "mine.jsonl"), "mine");
  const history = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: null, tool_calls: [CALL] },
    { role: "user", content: "And?" },
  ];
  writeFileSync(join(home.work, "chat.json"), JSON.stringify(history));
  writeFileSync(join(home.folder, "home", "config.json"), '{ "maxSteps": 40 }', { mode: 0o600 });
  writeFileSync(join(home.work, "README.md"), "A line of a long document.\n".repeat(6000));
  writeFileSync(join(home.work, "scenario.yaml"), SCENARIO);
  mkdirSync(join(home.work, ".throughline"));
  writeFileSync(join(home.work, ".throughline", "config.json"), '{ "model": "emulator/emu-reasoner" }');
  return home;
}

/** The API does not accept input_text from a model. */
const ODD_MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  content: [{ type: "input_text", text: "Hi." }],
};

const SCENARIO = "about: One answer.\nturns:\n  - send: Hello\n    expect: { noCalls: true }\n";

const CALL = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };

/** Runs `work` on a copy that is then removed: the full forms make thousands, in memory. */
export async function withCopy<T>(home: Home, work: (copy: Home) => Promise<T>): Promise<T> {
  const copy = homeIn(quickFolder());
  try {
    copyFolder(home.folder, copy.folder);
    return await work(copy);
  } finally {
    rmSync(copy.folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

export interface Ended {
  readonly killed: boolean;
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface HowToRun {
  /** Put before the command: strace with its options. */
  readonly under?: readonly string[];
  /** For a command that runs until it is stopped: called with its first line of output. Then SIGINT ends it. */
  readonly whenUp?: ((line: string) => Promise<unknown>) | undefined;
  /** The process to end, if it is not the one that is started; 0 when it is gone. */
  readonly processId?: (started: number) => number;
}

/** Far above what any command takes on a busy machine; one that is still running hangs. */
const HANGS_MS = 150_000;

/** The command as shipped. */
export async function command(
  home: Home,
  words: readonly string[],
  { under = [], whenUp, processId }: HowToRun = {},
): Promise<Ended> {
  const whole = [...under, process.execPath, CLI, ...words];
  const child = spawn(whole[0] ?? "", whole.slice(1), {
    cwd: home.work,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    // One thread for the disk, so that the nth call of a kind is the same one each time.
    env: {
      PATH: process.env["PATH"] ?? "",
      THROUGHLINE_HOME: join(home.folder, "home"),
      UV_THREADPOOL_SIZE: "1",
    },
  });
  let out = "";
  let err = "";
  const pid = child.pid ?? 0;
  const stop = (): void => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const wanted = processId === undefined ? pid : processId(pid);
    if (wanted > 0) process.kill(wanted, "SIGINT"); // 0 means every process of this group
  };
  let up: Promise<unknown> | undefined;
  child.stdout.on("data", (data: Buffer) => {
    out += data.toString("utf8");
    // The command is judged by what it leaves and prints, not by its answers while the disk failed.
    if (out.includes("\n"))
      up ??= whenUp?.(out.slice(0, out.indexOf("\n")))
        .catch(() => undefined)
        .then(stop)
        .catch(() => undefined); // it ended by itself at this moment
  });
  child.stderr.on("data", (data: Buffer) => (err += data.toString("utf8")));
  let hung = false;
  const late = setTimeout(() => {
    hung = true;
    if (pid > 0) process.kill(-pid, "SIGKILL"); // strace and the command it runs
  }, HANGS_MS);
  const [code, signal] = await new Promise<[number | null, string | null]>((done) => {
    child.once("close", (...how) => done(how));
  });
  clearTimeout(late);
  await up;
  if (hung) throw new Error(`throughline ${words.join(" ")} hangs: ${out}${err}`);
  return { killed: signal === "SIGKILL" || code === 137, code, out, err };
}
