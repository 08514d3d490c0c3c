import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { fileStore, writeSession } from "./index.ts";
import { frameLine } from "./line-framing.ts";

const notice = (message: string) => ({ type: "notice", code: "test", message }) as const;

async function written(folder: string): Promise<string> {
  const log = await fileStore(folder).open("s", { mode: "write" });
  await log.append([notice("one")]);
  await log.close();
  return join(folder, "s.jsonl");
}

const allIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted((a, b) => a.localeCompare(b));

function left(folder: string, ...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), "left");
  }
}

/** Opens to write and closes again, which cuts what a crash left. */
async function repaired(folder: string): Promise<void> {
  const log = await fileStore(folder).open("s", { mode: "write" });
  await log.close();
}

describe("a torn tail that was saved", () => {
  test("is not overwritten by a second tear at the same byte", async () => {
    const folder = temporaryFolder();
    const path = await written(folder);
    const size = readFileSync(path).length;
    for (const tail of ['{"first', '{"second', '{"third']) {
      appendFileSync(path, tail);
      await repaired(folder);
    }
    expect(readFileSync(join(folder, `s.torn-${size}`), "utf8")).toBe('{"first');
    expect(readFileSync(join(folder, `s.torn-${size}-2`), "utf8")).toBe('{"second');
    expect(readFileSync(join(folder, `s.torn-${size}-3`), "utf8")).toBe('{"third');
    await fileStore(folder).remove("s");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is saved only once if the writer was killed before it could cut", async () => {
    const folder = temporaryFolder();
    const path = await written(folder);
    const size = readFileSync(path).length;
    writeFileSync(join(folder, `s.torn-${size}`), '{"half');
    appendFileSync(path, '{"half');
    await repaired(folder);
    expect(existsSync(join(folder, `s.torn-${size}-2`))).toBe(false);
  });
});

describe("a blob", () => {
  test("that was changed on the disk is an error with a code; other bytes are never returned", async () => {
    const folder = temporaryFolder();
    const log = await fileStore(folder).open("s", { mode: "write" });
    const name = await log.putBlob(Buffer.from("picture"));
    expect(Buffer.from((await log.getBlob(name)) ?? []).toString()).toBe("picture");
    writeFileSync(join(folder, "s.blobs", name), "pictuRe");
    await expect(log.getBlob(name)).rejects.toMatchObject({ code: "blob_damaged", details: { blob: name } });
    await log.close();
  });
});

describe("the leftovers of a killed writer of a whole session", () => {
  const events = [notice("whole")];
  test("are removed by the next one, for every session of the folder, and nothing else is", async () => {
    const folder = temporaryFolder();
    await written(folder);
    left(folder, "s.blobs/aa", "s.blobs/aa.77.tmp", "s.jsonl.77.tmp", "s.torn-9.77.tmp", "s.torn-9");
    left(folder, "s.summary.77.tmp", "gone.summary.77.tmp");
    left(
      folder,
      "gone.jsonl.77.tmp",
      "gone.blobs.77.tmp/bb",
      "moved.blobs/cc",
      "notes.tmp",
      "t.jsonl.77.tmp",
    );
    await fileStore(folder).create("t", { events, blobs: new Map() });
    expect(allIn(folder)).toEqual([
      "moved.blobs",
      "moved.blobs/cc",
      "notes.tmp",
      "s.blobs",
      "s.blobs/aa",
      "s.jsonl",
      "s.summary",
      "s.torn-9",
      "t.jsonl",
    ]);
  });

  test("are removed with the blobs if the complete log has no name yet, and without them next to its log", async () => {
    const folder = temporaryFolder();
    await written(folder);
    left(folder, "s.jsonl.new", "s.blobs/aa", "half.jsonl.new", "half.blobs/bb");
    await fileStore(folder).create("t", { events, blobs: new Map() });
    expect(allIn(folder)).toEqual(["s.blobs", "s.blobs/aa", "s.jsonl", "s.summary", "t.jsonl"]);
  });

  test("stay while a writer holds the session", async () => {
    const folder = temporaryFolder();
    const log = await fileStore(folder).open("s", { mode: "write" });
    left(folder, "s.jsonl.77.tmp");
    await fileStore(folder).create("t", { events, blobs: new Map() });
    expect(readdirSync(folder)).toContain("s.jsonl.77.tmp");
    await log.close();
  });

  test("are removed from the blobs by the next writer that stores one", async () => {
    const folder = temporaryFolder();
    left(folder, "s.blobs/aa.77.tmp");
    const log = await fileStore(folder).open("s", { mode: "write" });
    const name = await log.putBlob(Buffer.from("picture"));
    await log.close();
    expect(readdirSync(join(folder, "s.blobs"))).toEqual([name]);
  });

  test("do not occur if the writer is stopped early, and existing blobs stay", async () => {
    const folder = temporaryFolder();
    const blobs = new Map([
      ["aa", Buffer.from("x")],
      ["bb", Buffer.from("y")],
    ]);
    const lines = Buffer.from("log\n");
    for (const before of [false, true]) {
      if (before) left(folder, "s.blobs/aa");
      const stop = new AbortController();
      const done: number[] = [];
      const onProgress = (bytes: number): void => {
        done.push(bytes);
        if (bytes === 2) stop.abort();
      };
      await expect(
        writeSession(folder, { lines, blobs }, { id: "s", signal: stop.signal, onProgress }),
      ).rejects.toMatchObject({ code: "stopped" });
      expect(done).toEqual([1, 2]);
      expect(allIn(folder)).toEqual(before ? ["s.blobs", "s.blobs/aa"] : []);
    }
  });
});

const newer = (folder: string): Buffer => {
  const raw =
    '{"v":2,"seq":0,"id":"ev_1","at":"2027-01-01T00:00:00.000Z","epoch":1,"type":"session_start","session":"s"}';
  const line = frameLine({
    v: 1,
    seq: 0,
    id: "ev_1",
    at: "",
    epoch: 1,
    type: "unknown",
    unknownType: "session_start",
    raw: raw as never,
  });
  writeFileSync(join(folder, "s.jsonl"), line);
  return line;
};

describe("a log in a newer format", () => {
  test("is refused to readers and writers with advice, and not touched", async () => {
    const folder = temporaryFolder();
    const line = newer(folder);
    for (const mode of ["read", "write"] as const) {
      await expect(fileStore(folder).open("s", { mode })).rejects.toMatchObject({
        code: "log_too_new",
        details: { version: 2, reads: 1 },
        message: expect.stringContaining("Update throughline") as string,
      });
    }
    expect(readFileSync(join(folder, "s.jsonl")).equals(line)).toBe(true);
  });
});
