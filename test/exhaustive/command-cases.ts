/** Every command that reads or writes a user's file: how it is called, and how to tell that its work is done. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { fileStore, type LoggedEvent } from "../../src/index.ts";
import { blobsIn, parseBundle } from "../../src/runtime/log/index.ts";
import { type Home, SECRET } from "./command-fixture.ts";
import type { RunOptions } from "./system-calls.ts";

export interface Case extends RunOptions {
  readonly name: string;
  /** Whether the result is in place; throws if it is there but not whole. */
  readonly done: (home: Home, before: Home) => Promise<boolean>;
  /** What the command prints when it is run again after it had done its work. */
  readonly again: { readonly code: number; readonly says: RegExp };
  /** Sessions that it may change. */
  readonly changes?: readonly string[];
  /** Files in the working folder that it never overwrites, so a user removes them before running it again. */
  readonly cleared?: string;
  /** Files of the working folder and the home that it may change. */
  readonly rewrites?: readonly string[];
}

const read = (path: string): Buffer | undefined => (existsSync(path) ? readFileSync(path) : undefined);

async function eventsOf(home: Home, id: string): Promise<readonly LoggedEvent[]> {
  const log = await fileStore(home.sessions).open(id, { mode: "read" });
  // Every named blob is there, with the bytes of its name.
  for (const name of blobsIn(log.events)) expect(await log.getBlob(name), name).toBeDefined();
  await log.close();
  return log.events;
}

/** If the session is there, it has all its events. */
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

/** Everything that was in the log is still in it, followed by an event of this type. */
const appended =
  (id: string, isIt: (event: LoggedEvent) => boolean) =>
  async (home: Home, before: Home): Promise<boolean> => {
    const was = await eventsOf(before, id);
    const now = await eventsOf(home, id);
    expect(now.slice(0, was.length)).toEqual(was);
    return now.slice(was.length).some(isIt);
  };

const isCompleted = (event: LoggedEvent): boolean =>
  event.type === "turn_end" && event.status === "completed";

/** A file is complete, missing, or unchanged. */
const fileWith =
  (path: (home: Home) => string, isNew: (text: string) => boolean, old?: string) =>
  async (home: Home): Promise<boolean> => {
    const text = read(path(home))?.toString();
    if (text === undefined || text === old) {
      expect(old, "the earlier content is still there").toBe(text);
      return false;
    }
    expect(isNew(text), `${path(home)} is whole`).toBe(true);
    return true;
  };

const inWork =
  (name: string) =>
  ({ work }: Home): string =>
    join(work, name);
const inHome =
  (name: string) =>
  ({ folder }: Home): string =>
    join(folder, "home", name);

/** The turn completed, and the file has the right content. */
const both =
  (...all: readonly Case["done"][]) =>
  async (home: Home, before: Home): Promise<boolean> => {
    const each: boolean[] = [];
    for (const done of all) each.push(await done(home, before));
    return each.every(Boolean);
  };

/** Records of whole lines; the last may be torn while the command is not done. */
const linesIn =
  (name: string, last: string) =>
  async (home: Home): Promise<boolean> => {
    const lines = read(join(home.work, name))?.toString().split("\n") ?? [];
    for (const line of lines.slice(0, -1)) JSON.parse(line);
    return lines.some((line) => line.includes(last));
  };

const EXISTS = { code: 2, says: /already/ };
const AGAIN = { code: 0, says: /(?:)/ };

/** The first ones are the sample of the kills. */
export const WRITES: readonly Case[] = [
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
    done: async (home, before) => {
      const bytes = readFileSync(join(home.sessions, "s.jsonl"));
      if (bytes.equals(readFileSync(join(before.sessions, "s.jsonl")))) return false;
      expect(bytes.includes(SECRET)).toBe(false);
      const events = await eventsOf(home, "s");
      expect(events.at(-1)).toMatchObject({ type: "notice", code: "erased" });
      return true;
    },
    again: { code: 1, says: /not found in this session/ },
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
    rewrites: ["mine.jsonl"],
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
    done: appended("odd", (event) => event.type === "notice" && event.code === "log_repaired"),
    again: { code: 0, says: /no problems/ },
    changes: ["odd"],
  },
  {
    name: "repair of a file of another tool",
    words: ["repair", "chat.json"],
    done: fileWith(inWork("chat.repaired.json"), (text) => (JSON.parse(text) as unknown[]).length === 4),
    again: EXISTS,
  },
  {
    name: "sessions rm",
    words: ["sessions", "rm", "s", "--yes"],
    done: async ({ sessions }) => !existsSync(join(sessions, "s.jsonl")),
    again: { code: 2, says: /no session/ },
    changes: ["s"],
  },
  {
    name: "run of a new session with -o",
    words: ["-p", "Hello", "-o", "answer.txt"],
    done: async (home, before) => {
      const known = new Set(readdirSync(before.sessions));
      const ids = readdirSync(home.sessions).flatMap((name) =>
        name.endsWith(".jsonl") && !known.has(name) ? [name.slice(0, -".jsonl".length)] : [],
      );
      const logs = await Promise.all(ids.map((id) => eventsOf(home, id)));
      const text = read(join(home.work, "answer.txt"))?.toString() ?? "";
      if (text !== "") expect(text).toMatch(/^I am the Throughline emulator.*\n$/s);
      return text !== "" && logs.some((events) => events.some(isCompleted));
    },
    again: AGAIN,
    rewrites: ["answer.txt"],
  },
  {
    name: "run that stores a blob",
    words: ["-p", "-r", "s", "Read README.md and summarise it", "--permissions", "auto"],
    done: appended("s", isCompleted),
    again: AGAIN,
    changes: ["s"],
  },
  {
    name: "resume of a torn log",
    words: ["resume", "torn", "Hello"],
    done: appended("torn", isCompleted),
    again: AGAIN,
    changes: ["torn"],
  },
  {
    name: "run with --trace",
    words: ["-p", "-r", "s", "Hello", "--trace", "trace.jsonl"],
    done: both(appended("s", isCompleted), linesIn("trace.jsonl", '"type":"turn_end"')),
    again: AGAIN,
    cleared: "trace.jsonl",
    changes: ["s"],
    rewrites: ["trace.jsonl"],
  },
  {
    name: "run with --record",
    words: ["-p", "-r", "s", "Hello", "--record", "record.jsonl"],
    done: both(appended("s", isCompleted), linesIn("record.jsonl", '"type":"turn_end"')),
    again: AGAIN,
    cleared: "record.jsonl",
    changes: ["s"],
    rewrites: ["record.jsonl"],
  },
  {
    name: "retry",
    words: ["retry", "s"],
    done: appended("s", isCompleted),
    again: AGAIN,
    changes: ["s"],
  },
  {
    name: "edit",
    words: ["edit", "s", "1", "Hello once more"],
    done: appended("s", isCompleted),
    again: AGAIN,
    changes: ["s"],
  },
  {
    name: "undo",
    words: ["undo", "s"],
    done: appended("s", ({ type }) => type === "branch"),
    again: AGAIN,
    changes: ["s"],
  },
  {
    name: "tree --to",
    words: ["tree", "s", "--to", "2"],
    done: appended("s", ({ type }) => type === "branch"),
    again: AGAIN,
    changes: ["s"],
  },
  {
    name: "compact",
    words: ["compact", "s", "--keep-turns", "1"],
    done: appended("s", ({ type }) => type === "compaction"),
    again: AGAIN,
    changes: ["s"],
  },
  {
    name: "sessions rename",
    words: ["sessions", "rename", "s", "Another title"],
    done: appended("s", ({ type }) => type === "title"),
    again: AGAIN,
    changes: ["s"],
  },
  {
    name: "config set",
    words: ["config", "set", "effort", "high"],
    done: fileWith(inHome("config.json"), (text) => text.includes("high"), '{ "maxSteps": 40 }'),
    again: AGAIN,
    rewrites: ["config.json"],
  },
  {
    name: "config unset",
    words: ["config", "unset", "maxSteps"],
    done: fileWith(inHome("config.json"), (text) => text === "{}\n", '{ "maxSteps": 40 }'),
    again: AGAIN,
    rewrites: ["config.json"],
  },
  {
    name: "config trust",
    words: ["config", "trust"],
    done: fileWith(inHome("trust.json"), (text) => Object.keys(JSON.parse(text) as object).length === 1),
    again: AGAIN,
    rewrites: ["trust.json"],
  },
  {
    name: "eval --out",
    words: ["eval", "scenario.yaml", "--out", "results"],
    done: both(
      fileWith(inWork("results/report.json"), (text) => JSON.parse(text) !== undefined),
      fileWith(inWork("results/report.txt"), (text) => text.endsWith("\n")),
    ),
    again: AGAIN,
    cleared: "results",
  },
  {
    name: "emulator --record",
    words: ["emulator", "--port", "0", "--pace", "0", "--record", "exchanges.jsonl"],
    whenUp: async (baseUrl) => {
      const body = JSON.stringify({ model: "emu-reasoner", input: "Hello" });
      const headers = { authorization: "Bearer sk-any", "content-type": "application/json" };
      return (await fetch(`${baseUrl}/responses`, { method: "POST", headers, body })).text();
    },
    done: linesIn("exchanges.jsonl", '"status":200'),
    again: AGAIN,
    rewrites: ["exchanges.jsonl"],
  },
];

const looks = (...words: readonly string[]): Case => ({
  name: words.join(" "),
  words,
  done: async () => true,
  again: AGAIN,
});

/** These write nothing. */
export const LOOKS: readonly Case[] = [
  looks("sessions", "list"),
  looks("sessions", "show", "s"),
  looks("sessions", "search", "harmless"),
  looks("sessions", "path", "s"),
  looks("sessions", "export", "s", "--format", "markdown"),
  looks("sessions", "export", "s", "--format", "html", "--redact"),
  looks("inspect", "s"),
  looks("tree", "s"),
  looks("stats"),
  looks("check", "s"),
  looks("config", "list"),
  looks("models"),
  { ...looks("serve", "--port", "0"), whenUp: async () => undefined },
];
