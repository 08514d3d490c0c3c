/**
 * SIGKILL at every system call with which a command touches files that writes a whole session or a whole file: what was
 * there before is intact, a result is whole or not there, the command run again succeeds, and what the killed one left
 * is taken away by the next that writes.
 */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { replaceFile } from "../../src/base/files/index.ts";
import { fileStore, type LoggedEvent } from "../../src/index.ts";
import { blobsIn, parseBundle } from "../../src/runtime/log/index.ts";
import { Tally } from "../support/runs.ts";
import {
  command,
  copyOf,
  type Home,
  killAt,
  makeHome,
  type Point,
  pointsOf,
  SECRET,
} from "./command-fixture.ts";
import { EXHAUSTIVE, PATIENCE_MS, someOf } from "./how-much.ts";

const tally = new Tally();
let before: Home;
beforeAll(async () => {
  before = await makeHome();
});
afterAll(() => tally.print(`kills of commands at system calls (${EXHAUSTIVE ? "all" : "a sample"})`));

const hasStrace = spawnSync("strace", ["-V"]).status === 0;

interface Case {
  readonly name: string;
  readonly words: readonly string[];
  /** Whether the result is in place; throws when it is there and not whole. */
  readonly done: (home: Home) => Promise<boolean>;
  /** What the command says when it is run again although it had done its work. */
  readonly again: { readonly code: number; readonly says: RegExp };
  /** Sessions that it may change. */
  readonly changes?: readonly string[];
}

const read = (path: string): Buffer | undefined => (existsSync(path) ? readFileSync(path) : undefined);

async function eventsOf(home: Home, id: string): Promise<readonly LoggedEvent[]> {
  const log = await fileStore(home.sessions).open(id, { mode: "read" });
  // Every blob that is named is there, with the bytes of its name.
  for (const name of blobsIn(log.events)) expect(await log.getBlob(name)).toBeDefined();
  await log.close();
  return log.events;
}

/** A session that is there has all its events. */
const wholeSession =
  (id: string, isWhole: (events: readonly LoggedEvent[], home: Home) => boolean) =>
  async (home: Home): Promise<boolean> => {
    if (!(await fileStore(home.sessions).exists(id))) return false;
    const events = await eventsOf(home, id);
    expect(isWhole(events, home), `session ${id} is whole`).toBe(true);
    return true;
  };

const sourceEvents = (home: Home): number =>
  readFileSync(join(home.sessions, "s.jsonl"), "utf8").split("\n").length - 1;

const bundleAt =
  (name: string, old?: string) =>
  async ({ work }: Home): Promise<boolean> => {
    const bytes = read(join(work, name));
    if (bytes === undefined || bytes.toString() === old) return false;
    parseBundle(bytes);
    return true;
  };

const EXISTS = { code: 2, says: /already/ };

const CASES: readonly Case[] = [
  {
    name: "sessions import",
    words: ["sessions", "import", "bundle.jsonl", "--id", "copy"],
    done: wholeSession("copy", (events, home) => events.length === sourceEvents(home)),
    again: EXISTS,
  },
  {
    name: "fork",
    words: ["fork", "s", "--id", "child"],
    done: wholeSession("child", (events, home) => events.length === sourceEvents(home)),
    again: EXISTS,
  },
  {
    name: "sessions erase --replace",
    words: ["sessions", "erase", "s", "--secret-file", "secret", "--replace"],
    done: async (home) => {
      const bytes = readFileSync(join(home.sessions, "s.jsonl"));
      if (bytes.equals(readFileSync(join(before.sessions, "s.jsonl")))) return false;
      expect(bytes.includes(SECRET)).toBe(false);
      const events = await eventsOf(home, "s");
      expect(events.at(-1)).toMatchObject({ type: "notice", code: "erased" });
      return true;
    },
    again: { code: 1, says: /nowhere/ },
    changes: ["s"],
  },
  {
    name: "sessions export",
    words: ["sessions", "export", "s", "-o", "out.jsonl"],
    done: bundleAt("out.jsonl"),
    again: EXISTS,
  },
  {
    name: "sessions export --force",
    words: ["sessions", "export", "s", "-o", "mine.jsonl", "--force"],
    done: bundleAt("mine.jsonl", "mine"),
    again: { code: 0, says: /exported/ },
  },
  {
    name: "sessions erase",
    words: ["sessions", "erase", "s", "--secret-file", "secret"],
    done: wholeSession("s-erased", (events) => {
      const last = events.at(-1);
      return last?.type === "notice" && last.code === "erased" && !JSON.stringify(events).includes(SECRET);
    }),
    again: EXISTS,
  },
  {
    name: "repair of a damaged log",
    words: ["repair", "broken"],
    done: wholeSession("broken-repaired", (events) => {
      const last = events.at(-1);
      return last?.type === "notice" && last.code === "log_repaired";
    }),
    again: EXISTS,
  },
  {
    name: "repair of a log that breaks a rule",
    words: ["repair", "odd"],
    done: async (home) => {
      const [was, now] = [before, home].map(({ sessions }) => readFileSync(join(sessions, "odd.jsonl")));
      if (was === undefined || now === undefined) throw new Error("odd is gone");
      expect(now.subarray(0, was.length).equals(was), "what was there is there").toBe(true);
      if (now.length === was.length) return false;
      expect((await eventsOf(home, "odd")).at(-1)).toMatchObject({ type: "notice", code: "log_repaired" });
      return true;
    },
    again: { code: 0, says: /nothing wrong/ },
    changes: ["odd"],
  },
  {
    name: "repair of a file of another tool",
    words: ["repair", "chat.json"],
    done: async ({ work }) => {
      const text = read(join(work, "chat.repaired.json"))?.toString();
      if (text === undefined) return false;
      expect(JSON.parse(text)).toHaveLength(4);
      return true;
    },
    again: EXISTS,
  },
  {
    name: "sessions rm",
    words: ["sessions", "rm", "s", "--yes"],
    done: async ({ sessions }) => !existsSync(join(sessions, "s.jsonl")),
    again: { code: 2, says: /no session/ },
    changes: ["s"],
  },
];

/** Not one byte of what was there has changed, but for what the command is to change. */
function expectUntouched(home: Home, { changes = [] }: Case): void {
  const mayChange = (name: string): boolean => changes.some((id) => name.startsWith(`${id}.`));
  for (const name of readdirSync(before.sessions, { recursive: true, encoding: "utf8" })) {
    if (mayChange(name) || !/\.jsonl$|torn|blobs\//.test(name)) continue;
    expect(
      readFileSync(join(home.sessions, name)).equals(readFileSync(join(before.sessions, name))),
      name,
    ).toBe(true);
  }
  for (const name of ["bundle.jsonl", "chat.json", "secret"])
    expect(readFileSync(join(home.work, name)).equals(readFileSync(join(before.work, name))), name).toBe(
      true,
    );
}

const leftIn = ({ folder }: Home): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tmp(?:$|\/)|\.new$/.test(name),
  );

/** Whoever writes next takes away what was left. */
async function expectSwept(home: Home): Promise<void> {
  const notice = { type: "notice", code: "test", message: "next" } as const;
  await fileStore(home.sessions).create("next", { events: [notice], blobs: new Map() });
  const longAgo = new Date(Date.now() - 3_600_000);
  for (const name of readdirSync(home.work)) utimesSync(join(home.work, name), longAgo, longAgo);
  replaceFile(join(home.work, "next"), "next");
  expect(leftIn(home)).toEqual([]);
  const ids = [...new Set(readdirSync(home.sessions).map((name) => name.split(".")[0]))];
  for (const id of ids) expect(existsSync(join(home.sessions, `${id}.jsonl`)), `${id} has a log`).toBe(true);
}

async function expectGoesOn(one: Case, home: Home): Promise<void> {
  expectUntouched(home, one);
  await expectSwept(copyOf(home)); // also where nobody runs it again
  const wasDone = await one.done(home);
  tally.add(wasDone ? "killed after the result was in place" : "killed before the result was in place");
  const { code, err, out } = await command(home, one.words);
  const said = `${out}${err}`;
  if (code !== 0 || !wasDone) {
    expect({ code, said }).toEqual({
      code: wasDone ? one.again.code : 0,
      said: expect.any(String) as string,
    });
    if (wasDone) expect(said).toMatch(one.again.says);
  }
  expect(await one.done(home)).toBe(true);
  expectUntouched(home, one);
  if (one.name === "sessions erase --replace") expectNowhere(home);
  if (one.name === "sessions rm")
    expect(readdirSync(home.sessions).filter((name) => name.startsWith("s."))).toEqual([]);
  await expectSwept(home);
}

/** The secret is in no file of the session, whatever came in between. */
function expectNowhere(home: Home): void {
  for (const name of readdirSync(home.sessions, { recursive: true, encoding: "utf8" }))
    if (name.startsWith("s.") && name !== "s.blobs")
      expect(readFileSync(join(home.sessions, name)).includes(SECRET), name).toBe(false);
}

describe.runIf(hasStrace)("SIGKILL by strace", () => {
  test.each(EXHAUSTIVE ? CASES : CASES.slice(0, 3))(
    "at every system call of $name",
    async (one) => {
      const points = await pointsOf(before, one.words);
      expect(points.length).toBeGreaterThan(10);
      tally.add("points", points.length);
      for (const index of someOf(points.length, 2)) {
        const home = copyOf(before);
        const point = points[index] as Point;
        const hit = await killAt(home, one.words, point);
        tally.add(hit ? `killed: ${one.name}` : `not reached: ${point.call}`);
        if (hit) tally.add("killed");
        tally.add(leftIn(home).length > 0 ? "left something for the next writer" : "left nothing");
        await expectGoesOn(one, home);
      }
    },
    PATIENCE_MS,
  );
});
