/**
 * Logs of earlier versions (test/fixtures/logs, one folder per version) keep working: each one opens, every request is
 * rebuilt with its original hashes, the next request and the display are the same, and the session can continue. Made
 * by scripts/make-log-fixtures.mjs. A folder is never made again, so a failing test here means that the program
 * changed.
 */

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { LoggedEvent, SettingsEvent } from "../../src/base/events/index.ts";
import { type Emulator, startEmulator } from "../../src/emulator/index.ts";
import { createAgent, fileStore, type Session } from "../../src/index.ts";
import { type Log, toLine } from "../../src/inspect.ts";
import {
  type Expected,
  expectedOf,
  fixtureTools,
  type Known,
  type LogRecord,
  modelOf,
  recordOf,
  SYSTEM,
  towards,
  whatIsKnown,
} from "../support/earlier-logs.ts";

const root = resolve(import.meta.dirname, "../fixtures/logs");
const versions = readdirSync(root)
  .filter((name) => name.startsWith("v"))
  .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));

/** `knew`: what that version knew, and must have a log of, in its folder or in an earlier one. */
interface Answers {
  readonly knew: Known;
  readonly logs: Readonly<Record<string, Expected>>;
}

const answersOf = (version: string): Answers =>
  JSON.parse(readFileSync(join(root, version, "expected.json"), "utf8")) as Answers;

const folders: string[] = [];
let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(async () => {
  await emulator.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

test("every current event type and dialect has a log of some version", () => {
  const known = versions.map((version) => answersOf(version).knew);
  const { types, dialects } = whatIsKnown();
  expect(types.filter((type) => !known.some((one) => one.types.includes(type)))).toEqual([]);
  expect(dialects.filter((dialect) => !known.some((one) => one.dialects.includes(dialect)))).toEqual([]);
});

const bytesOf = (folder: string, id: string): Buffer => readFileSync(join(folder, `${id}.jsonl`));

/** What a writer cut from the end and saved next to it. */
function tornFrom(folder: string, id: string): Buffer {
  const names = readdirSync(folder).filter((name) => name.startsWith(`${id}.torn-`));
  return Buffer.concat(names.map((name) => readFileSync(join(folder, name))));
}

/** The events of every readable log of a version. */
async function eventsOfAll(version: string): Promise<readonly LoggedEvent[]> {
  const all: LoggedEvent[] = [];
  for (const [id, expected] of Object.entries(answersOf(version).logs)) {
    if ("problem" in expected) continue;
    const log = await fileStore(join(root, version)).open(id, { mode: "read" });
    all.push(...log.events);
    await log.close();
  }
  return all;
}

/** Opens the session by an agent with the log's last model. */
async function reopened(id: string, folder: string): Promise<Session> {
  const store = fileStore(folder);
  const log = await store.open(id, { mode: "read" });
  const { settings } =
    log.events.findLast((event): event is SettingsEvent => event.type === "settings") ?? {};
  await log.close();
  if (settings === undefined) throw new Error(`${id} has no settings`);
  const agent = createAgent({
    model: modelOf(settings),
    tools: fixtureTools(),
    system: SYSTEM,
    permissions: "auto",
    fetch: towards(emulator),
  });
  return agent.open({ id, store });
}

describe.each(versions)("logs of %s", (version) => {
  const fixtures = join(root, version);
  const { knew, logs: expected } = answersOf(version);
  const ids = Object.keys(expected);
  const whole = ids.filter((id) => !("problem" in (expected[id] as Expected)));

  /** Copies the log with everything next to it to a place where it may be written. */
  function copyOf(id: string): string {
    const folder = mkdtempSync(join(tmpdir(), "throughline-earlier-"));
    folders.push(folder);
    for (const name of readdirSync(fixtures))
      if (name.startsWith(`${id}.`)) cpSync(join(fixtures, name), join(folder, name), { recursive: true });
    return folder;
  }

  async function withLog<T>(id: string, use: (log: Log) => T): Promise<Awaited<T>> {
    const log = await fileStore(copyOf(id)).open(id, { mode: "read" });
    try {
      return await use(log);
    } finally {
      await log.close();
    }
  }

  test("have expectations for every log of the folder, and none is missing", () => {
    const logs = readdirSync(fixtures).filter((name) => name.endsWith(".jsonl"));
    expect(logs.map((name) => name.slice(0, -".jsonl".length)).toSorted()).toEqual(ids.toSorted());
  });

  test("reveal nothing about the machine that made them", () => {
    const places = /\/(?:tmp|root|home|Users|work)\/|127\.0\.0\.1|localhost/;
    expect(ids.filter((id) => places.test(bytesOf(fixtures, id).toString("utf8")))).toEqual([]);
  });

  test("with earlier ones hold every event type and every dialect that the version knew, and an event it did not", async () => {
    const events: LoggedEvent[] = [];
    for (const one of versions.slice(0, versions.indexOf(version) + 1))
      events.push(...(await eventsOfAll(one)));
    const types = new Set(events.map(({ type }) => type));
    const dialects = new Set(
      events.flatMap((event) => (event.type === "response_start" ? event.origin.dialect : [])),
    );
    expect([...types].toSorted()).toEqual([...knew.types, "unknown"].toSorted());
    expect([...dialects].toSorted()).toEqual(knew.dialects);
  });

  test("have interrupted turns that can be resumed to their end", async () => {
    const resumed: string[] = [];
    for (const id of whole) {
      const session = await reopened(id, copyOf(id));
      if (session.interrupted) resumed.push(`${id} ${(await session.resume().result()).status}`);
      await session.close();
    }
    expect(resumed.length).toBeGreaterThan(0);
    expect(resumed.filter((one) => !one.endsWith(" completed"))).toEqual([]);
  });

  describe.each(ids)("%s", (id) => {
    test("reads as before: requests with their hashes, the next one and the display", async () => {
      const folder = copyOf(id);
      expect(await expectedOf(fileStore(folder), id, "read", version)).toEqual(expected[id]);
      expect(bytesOf(folder, id)).toEqual(bytesOf(fixtures, id));
      expect(tornFrom(folder, id)).toHaveLength(0);
    });

    test("opens for a writer, which changes nothing but a torn tail, which is kept", async () => {
      const folder = copyOf(id);
      expect(await expectedOf(fileStore(folder), id, "write", version)).toEqual(expected[id]);
      expect(Buffer.concat([bytesOf(folder, id), tornFrom(folder, id)])).toEqual(bytesOf(fixtures, id));
    });
  });

  describe.each(whole)("%s", (id) => {
    test("gives back every line exactly, even those of unknown events", async () => {
      const lines = bytesOf(fixtures, id).toString("utf8").split("\n").slice(0, -1);
      const written = await withLog(id, (log) => log.events.map((event) => toLine(event)));
      expect(written).toEqual(lines.map((line) => line.replace(/,"sum":"[0-9a-f]{8}"\}$/, "}")));
    });

    test("continues with another turn, after the existing ones", async () => {
      const folder = copyOf(id);
      const session = await reopened(id, folder);
      const { status, error } = await session.send("Thanks once more").result();
      await session.close();
      expect({ status, error }).toEqual({ status: "completed" });
      const before = bytesOf(fixtures, id);
      const kept = before.subarray(0, before.length - tornFrom(folder, id).length);
      expect(bytesOf(folder, id).subarray(0, kept.length)).toEqual(kept);
      const { requests: was } = expected[id] as LogRecord;
      const log = await fileStore(folder).open(id, { mode: "read" });
      const { requests } = await recordOf(log, version);
      await log.close();
      expect(requests.slice(0, was.length)).toEqual(was);
      expect(requests.length).toBeGreaterThan(was.length);
      // Earlier losses affect the next request too: it is sent as far as possible, and rebuilt as it was sent.
      expect(requests.slice(was.length).map((one) => one.split(" ")[0])).toEqual(
        requests.slice(was.length).map(() => "same"),
      );
    });
  });
});
