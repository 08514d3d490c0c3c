/** Sessions and folders that cannot be used: named exactly, left exactly as they were. */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import {
  asOrdinaryUser,
  emulatorOf,
  eventsOf,
  expectProblem,
  newPlace,
  onlyLog,
  type Place,
  run,
  start,
  treeOf,
} from "./harness.ts";

/** A place with one session of one turn, and the environment that points the command at the server that made it. */
async function withSession(): Promise<{
  readonly place: Place;
  readonly id: string;
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}> {
  const place = newPlace();
  const { env } = await emulatorOf();
  expect(await run(place, ["-p", "hello"], { env })).toMatchObject({ code: 0 });
  return { place, env, ...(await onlyLog(place)) };
}

/** Damages one byte in line `line` (from 1). Returns the offset of that line and the new text of the file. */
function damage(file: string, line: number): { readonly byte: number; readonly text: string } {
  const text = readFileSync(file, "utf8");
  const before = text.split("\n").slice(0, line - 1);
  const byte = Buffer.byteLength(before.map((one) => `${one}\n`).join(""));
  const bytes = Buffer.from(text);
  bytes[byte + 30] = (bytes[byte + 30] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  return { byte, text: readFileSync(file, "utf8") };
}

describe("a damaged log", () => {
  test.for([["-r"], ["-r", "--json"]])(
    "is named by line and byte and left untouched by %j",
    async (flags) => {
      const { place, id, file, env } = await withSession();
      place.damaged = true;
      const { byte, text } = damage(file, 3);
      const before = treeOf(place.home);
      const ran = await run(place, ["-p", "go on", ...flags.slice(1), "-r", id], { env });
      expectProblem(ran, 2, "log_damaged");
      expect(ran.err).toContain(`line 3, byte ${byte}: `);
      expect(treeOf(place.home)).toEqual(before);
      expect(readFileSync(file, "utf8")).toBe(text);
    },
  );

  test("is named as the reason why -c cannot continue", async () => {
    const { place, file, env } = await withSession();
    place.damaged = true;
    const { byte } = damage(file, 2);
    const ran = await run(place, ["-p", "go on", "-c"], { env });
    expectProblem(ran, 2, "log_damaged");
    expect(ran.err).toContain(`damaged at line 2, byte ${byte}`);
  });

  test("newer than the one -c continues with is named", async () => {
    const { place, env } = await withSession();
    place.damaged = true;
    writeFileSync(join(place.home, "sessions", "newer.jsonl"), '{"not":"an event"}\n');
    const ran = await run(place, ["-p", "go on", "-c"], { env });
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.err).toContain(
      "skipped newer sessions that cannot be read: newer (the log is damaged at line 1, byte 0",
    );
  });

  test("whose last line was torn by a crash continues, and says what it saved", async () => {
    const { place, id, file, env } = await withSession();
    writeFileSync(file, readFileSync(file, "utf8").slice(0, -20));
    const ran = await run(place, ["-p", "go on", "-r", id], { env });
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.err).toContain("bytes of an unfinished write at the end of the log were moved to");
    const { events } = await onlyLog(place);
    expect(eventsOf(events, "turn_end").map(({ status }) => status)).toEqual(["interrupted", "completed"]);
  });
});

describe("a log that is not a regular, readable file", () => {
  test("such as a symbolic link is refused by name", async () => {
    const { place, id, file, env } = await withSession();
    place.damaged = true;
    renameSync(file, join(place.work, "elsewhere.jsonl"));
    symlinkSync(join(place.work, "elsewhere.jsonl"), file);
    const before = place.read("elsewhere.jsonl");
    const ran = await run(place, ["-p", "go on", "-r", id], { env });
    expectProblem(ran, 2, "log_unreadable");
    expect(ran.err).toContain(`${id}.jsonl: it is a symbolic link`);
    expect(place.read("elsewhere.jsonl")).toBe(before);
  });

  test("such as a pipe is refused by name, without waiting for it", async () => {
    const { place, env } = await withSession();
    place.damaged = true;
    execFileSync("mkfifo", [join(place.sessions, "s_pipe.jsonl")]);
    const ran = await run(place, ["-p", "go on", "-r", "s_pipe"], { env });
    expectProblem(ran, 2, "log_unreadable");
    expect(ran.err).toContain("s_pipe.jsonl: it is not a regular file");
  });

  test("such as another user's file is refused by name", async () => {
    const { place, id, file, env } = await withSession();
    place.damaged = true;
    const user = asOrdinaryUser(place);
    chmodSync(file, 0o000);
    const ran = await run(place, ["-p", "go on", "-r", id], { env, ...user });
    expectProblem(ran, 2, "log_unreadable");
    expect(ran.err).toContain("permission denied");
  });
});

describe("a data folder that cannot be used", () => {
  test.for([["-p", "hi"], ["-p", "hi", "-c"], ["-p", "hi", "-r", "s_x"], ["start"]])(
    "because a file is in its place is reported by %j",
    async (args) => {
      const place = newPlace();
      place.damaged = true;
      writeFileSync(place.home, "not a folder");
      const ran = await run(place, args);
      expectProblem(ran, 2, "store_unusable");
      expect(ran.err).toContain(place.sessions);
      expect(readFileSync(place.home, "utf8")).toBe("not a folder");
    },
  );

  test("because it cannot be read is reported", async () => {
    const place = newPlace();
    place.damaged = true;
    mkdirSync(place.sessions, { recursive: true });
    const user = asOrdinaryUser(place);
    chmodSync(place.sessions, 0o000);
    const ran = await run(place, ["-p", "hi", "-c"], user);
    expectProblem(ran, 2, "store_unusable");
    expect(ran.err).toContain("permission denied");
  });

  test("because it cannot be written stops the turn before it starts", async () => {
    const place = newPlace();
    const { emulator, env } = await emulatorOf();
    mkdirSync(place.sessions, { recursive: true });
    const user = asOrdinaryUser(place);
    chmodSync(place.sessions, 0o500);
    const ran = await run(place, ["-p", "hi"], { env, ...user });
    expectProblem(ran, 2, "store_unusable");
    expect(ran.err).toContain("permission denied");
    expect(emulator.report().requests).toEqual([]);
    chmodSync(place.sessions, 0o700);
  });
});

describe("-r", () => {
  test("accepts a unique id prefix, and lists the candidates of an ambiguous one", async () => {
    const { place, id, env } = await withSession();
    expect(await run(place, ["-p", "again", "-r", id.slice(0, -3)], { env })).toMatchObject({ code: 0 });
    expect(await run(place, ["-p", "another"], { env })).toMatchObject({ code: 0 });
    const ran = await run(place, ["-p", "which?", "-r", "s_"], { env });
    expectProblem(ran, 2, "session_ambiguous");
    expect(ran.err).toContain('2 session ids begin with "s_" (');
    expect(ran.err).toContain(id);
  });

  test("prefers an exact id to longer ids that start with it", async () => {
    const { place, id, file, env } = await withSession();
    const text = readFileSync(file, "utf8");
    place.damaged = true;
    writeFileSync(join(place.sessions, `${id}x.jsonl`), text, { mode: 0o600 });
    expect(await run(place, ["-p", "again", "-r", id], { env })).toMatchObject({ code: 0 });
    expect(readFileSync(join(place.sessions, `${id}x.jsonl`), "utf8")).toBe(text);
  });

  test("refuses a session that another process is writing, and names that process", async () => {
    const { place, id, env } = await withSession();
    const { env: stalled } = await emulatorOf({
      faults: [{ type: "stall", at: { where: "after", unit: "event", index: 2 } }],
    });
    const writer = start(place, ["-p", "--json", "long", "-r", id], { env: { ...env, ...stalled } });
    await writer.event("response_start");
    const refused = async (): Promise<string> => {
      const ran = await run(place, ["-p", "hi", "-r", id], { env });
      expectProblem(ran, 2, "session_locked");
      return ran.err;
    };
    // A writer that is too busy to identify itself at once is reported as "another process".
    await expect.poll(refused).toContain(`process ${writer.child.pid}`);
    writer.kill("SIGTERM");
    expect(await writer.ended).toMatchObject({ code: 143 });
  });
});
