/**
 * The bundled command line as a child process. Every test gets its own home and working folder. At the end every log
 * below the homes must be intact, whatever the tests did to the processes. Tests may run concurrently.
 */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "vitest";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import {
  type Emulator,
  type EmulatorOptions,
  loadScenario,
  startEmulator,
} from "../../src/emulator/index.ts";
import { fileStore } from "../../src/runtime/log/index.ts";
import { CLI, LIBRARY } from "../support/built.ts";
import { afterFile } from "../support/clean-up.ts";

export const KEY = "sk-test-contract-0001";

export { CLI };

export interface Place {
  readonly home: string;
  /** The working directory of the command. */
  readonly work: string;
  readonly sessions: string;
  /** The test put something unreadable there, so the logs are not checked at the end. */
  damaged: boolean;
  /** Writes a file into the working directory and returns its path. */
  write(name: string, text: string): string;
  read(name: string): string;
}

export function newPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "throughline-cli-"));
  const place: Place = {
    home: join(folder, "home"),
    work: join(folder, "work"),
    sessions: join(folder, "home", "sessions"),
    damaged: false,
    write(name, text) {
      writeFileSync(join(this.work, name), text);
      return join(this.work, name);
    },
    read(name) {
      return readFileSync(join(this.work, name), "utf8");
    },
  };
  mkdirSync(place.work);
  // A process that was killed a moment ago may still have created a file.
  afterFile(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  afterFile(async () => {
    if (!place.damaged) await logsOf(place);
  });
  return place;
}

/** For actions that root may do and others may not: if the tests run as root, the child runs as "nobody". */
export function asOrdinaryUser(place: Place): Pick<StartOptions, "uid"> {
  if (process.getuid?.() !== 0) return {};
  const nobody = 65_534;
  chmodSync(join(place.work, ".."), 0o755);
  for (const path of [place.work, place.home, ...treeOf(place.home)]) {
    if (existsSync(path)) chownSync(path, nobody, nobody);
  }
  return { uid: nobody };
}

/** The paths of every file and folder below. */
export function treeOf(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
}

const OURS =
  /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.(?:jsonl|live|blobs|lock|summary(?:\.\d+\.tmp)?|waiting|torn-\d+(?:-\d+)?)$/;

/** All logs by id, read by the log reader; nothing else may be next to them. */
export async function logsOf(place: Place): Promise<ReadonlyMap<string, readonly LoggedEvent[]>> {
  const logs = new Map<string, readonly LoggedEvent[]>();
  if (!existsSync(place.sessions)) return logs;
  expect(readdirSync(place.sessions).filter((name) => !OURS.test(name))).toEqual([]);
  const store = fileStore(place.sessions);
  for await (const { id } of store.list({ summaries: false })) {
    const log = await store.open(id, { mode: "read" });
    logs.set(id, [...log.events]);
    await log.close();
  }
  return logs;
}

/** The only session. */
export async function onlyLog(
  place: Place,
): Promise<{ readonly id: string; readonly events: readonly LoggedEvent[]; readonly file: string }> {
  const logs = [...(await logsOf(place))];
  expect(logs).toHaveLength(1);
  const [[id, events] = ["", []]] = logs;
  return { id, events, file: join(place.sessions, `${id}.jsonl`) };
}

export function eventsOf<T extends LoggedEvent["type"]>(
  events: readonly LoggedEvent[],
  type: T,
): readonly Extract<LoggedEvent, { type: T }>[] {
  return events.filter((event): event is Extract<LoggedEvent, { type: T }> => event.type === type);
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  /** Written to standard input, which then ends unless it is `heldOpen`. Default: nothing. */
  readonly input?: string | Buffer;
  readonly heldOpen?: boolean;
  readonly cwd?: string;
}

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** A running command. */
export class Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ran>;
  out = "";
  err = "";
  #finished = false;
  readonly #watchers = new Set<() => void>();

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    child.stdin.on("error", () => undefined); // it may exit before it has read everything
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.#grow(() => (this.out += text)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => this.#grow(() => (this.err += text)));
    this.ended = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => {
        this.#finished = true;
        this.#grow(() => undefined);
        resolve({ code, signal, out: this.out, err: this.err });
      });
    });
    afterFile(() => child.kill("SIGKILL"));
  }

  /** Resolves when the output matches; rejects if the command ends without a match. */
  seen(found: (running: Running) => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const yes = found(this);
        if (!yes && !this.#finished) return;
        this.#watchers.delete(look);
        if (yes) resolve();
        else reject(new Error(`ended without ${what}; stdout: ${this.out}; stderr: ${this.err}`));
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** Waits for an event of this type on stdout (--json). */
  event(type: string): Promise<void> {
    return this.seen(({ out }) => out.includes(`"type":"${type}"`), `an event ${type}`);
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  #grow(change: () => void): void {
    change();
    for (const look of this.#watchers) look();
  }
}

export function start(place: Place, args: readonly string[], options: StartOptions = {}): Running {
  const running = new Running(
    spawn(process.execPath, [CLI, ...args], {
      cwd: options.cwd ?? place.work,
      env: environment(place, options.env),
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    }),
  );
  if (options.input !== undefined) running.child.stdin.write(options.input);
  if (options.heldOpen !== true) running.child.stdin.end();
  return running;
}

export function run(place: Place, args: readonly string[], options: StartOptions = {}): Promise<Ran> {
  return start(place, args, options).ended;
}

/** Nothing of the user's own: no keys, no colours, no settings. */
export function environment(
  place: Place,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: place.home,
    THROUGHLINE_HOME: place.home,
    ...more,
  };
}

/** One line on stderr with the code, nothing on stdout, no stack trace. */
export function expectProblem(ran: Ran, exit: number, code: string): void {
  expect(ran).toMatchObject({ code: exit, out: "" });
  expect(ran.err).toMatch(/^throughline: [^\n]+\n$/);
  expect(ran.err.trimEnd().endsWith(`[${code}]`), ran.err).toBe(true);
  expectNoTrace(ran);
}

export function expectNoTrace({ err, out }: Pick<Ran, "err" | "out">): void {
  expect(`${out}\n${err}`).not.toMatch(/^\s+at .+[:(]|node:internal|UnhandledPromise|Warning:/m);
}

/** Expects a turn that started and failed: last line of stderr, exit code, and a log that says the same. */
export async function expectFailedTurn(place: Place, ran: Ran, code: string, exit = 1): Promise<string> {
  expect(ran).toMatchObject({ code: exit, out: "" });
  const last = ran.err.trimEnd().split("\n").at(-1) ?? "";
  expect(last).toMatch(/^throughline: the turn failed: ./);
  expect(last.endsWith(` [${code}]`), last).toBe(true);
  expectNoTrace(ran);
  const { events } = await onlyLog(place);
  expect(eventsOf(events, "turn_end").map(({ status, error }) => [status, error?.code])).toEqual([
    ["failed", code],
  ]);
  return last;
}

export interface EmulatorSetup extends Omit<EmulatorOptions, "scenario"> {
  readonly steps?: readonly object[];
}

/** Starts its own strict server; `env` points the command at it. */
export async function emulatorOf(
  setup: EmulatorSetup = {},
): Promise<{ readonly emulator: Emulator; readonly env: Readonly<Record<string, string>> }> {
  const { steps, ...options } = setup;
  const emulator = await startEmulator({
    ...options,
    ...(steps === undefined ? {} : { scenario: loadScenario(JSON.stringify({ steps }), "test.json") }),
  });
  afterFile(() => emulator.close());
  return { emulator, env: pointedAt(emulator.baseUrl) };
}

export function pointedAt(baseUrl: string): Readonly<Record<string, string>> {
  return { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: KEY, THROUGHLINE_MODEL: "openai/emu-reasoner" };
}

/** Starts a server that answers as the test says; returns its base URL. */
export async function serverOf(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** Writes a tools file; `body` may use the library's `tool` and `fs`. */
export function toolsFile(place: Place, body: string, name = "tools.mjs"): string {
  return place.write(
    name,
    `import { tool } from ${JSON.stringify(LIBRARY)};\nimport fs from "node:fs";\n${body}\n`,
  );
}

/** The lines of --json, each of which must be JSON. */
export function jsonLines(out: string): readonly Readonly<Record<string, unknown>>[] {
  expect(out.endsWith("\n")).toBe(true);
  return out
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Every request was accepted, and every thought that could be sent back was. */
export function expectAllAccepted(emulator: Emulator): void {
  const { requests, totals } = emulator.report();
  expect(requests.map(({ verdict, message }) => ({ verdict, message }))).toEqual(
    requests.map(() => ({ verdict: "accepted", message: null })),
  );
  expect(totals).toMatchObject({ refused: 0, recall: 1 });
}
