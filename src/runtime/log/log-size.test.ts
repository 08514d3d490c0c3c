/**
 * A log is never written past what can be opened again, and one that is still too large is refused with a clear
 * message.
 */

import { readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import type { EventDraft } from "../../base/events/index.ts";
import { fileStore, readBundle, writeSession } from "./index.ts";
import { LARGEST_LOG_BYTES, readWholeFile } from "./log-size.ts";

const LARGEST = 128_000;
const SOFT = LARGEST * (3 / 4);
const HARD = LARGEST * (127 / 128);

const message = (text: string, more: object = {}): EventDraft => ({
  type: "user_message",
  turn: "tn_1",
  by: "person",
  content: [{ type: "text", text }],
  ...more,
});
const start = { type: "session_start", session: "s", root: "s", writer: "w" } as const;
const usage = { inputTokens: 1, cachedTokens: 0, outputTokens: 1, reasoningTokens: 0 };
const turnEnd = { type: "turn_end", turn: "tn_1", status: "failed", steps: 1, usage, durationMs: 1 } as const;
const item = (text: string): EventDraft => ({
  type: "partial",
  turn: "tn_1",
  response: "r",
  outputIndex: 0,
  kind: "text",
  parts: [text],
});

async function opened(size = 0) {
  const folder = temporaryFolder();
  const path = join(folder, "s.jsonl");
  const store = fileStore(folder, { largestLogBytes: LARGEST });
  const log = await store.open("s", { mode: "write" });
  await log.append([start]);
  const bytes = (): number => statSync(path).size;
  const line = 200;
  while (bytes() < size) await log.append([item("x".repeat(Math.max(0, size - bytes() - line)))]);
  return { folder, path, store, log, bytes };
}

describe("a writer", () => {
  test("begins nothing new when only a quarter of the largest log is left, and says what to do", async () => {
    const { log, bytes } = await opened(SOFT - 200);
    const before = bytes();
    const told = { code: "log_too_large", message: expect.stringMatching(/throughline fork s --compacted$/) };
    await expect(log.append([message("one more ".repeat(50))])).rejects.toMatchObject(told);
    expect(bytes()).toBe(before);
    await log.append([item("a turn under way goes on ".repeat(20))]);
    expect(log.refusal?.()).toMatchObject(told);
    await log.append([message("summarise", { by: "runtime", purpose: "compaction" })]);
  });

  test("refuses an append as a whole", async () => {
    const { log, path } = await opened(SOFT + 10);
    const before = readFileSync(path);
    const events = log.events.length;
    await expect(log.append([turnEnd, message("next")])).rejects.toMatchObject({ code: "log_too_large" });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(log.events).toHaveLength(events);
    expect(await log.append([turnEnd])).toHaveLength(1); // it is not a failure: the log continues
  });

  test("reserves the last part for events that close a turn, and writes nothing past the limit", async () => {
    const { folder, log, bytes } = await opened(HARD - 400);
    await expect(log.append([item("x".repeat(500))])).rejects.toMatchObject({ code: "log_too_large" });
    let ends = 0;
    await expect(
      (async () => {
        for (; ; ends += 1) await log.append([turnEnd]);
      })(),
    ).rejects.toMatchObject({ code: "log_too_large" });
    expect(ends).toBeGreaterThan(0);
    expect(bytes()).toBeLessThanOrEqual(LARGEST);
    await log.close();
    const store = fileStore(folder, { largestLogBytes: LARGEST });
    expect((await store.open("s", { mode: "read" })).events).toHaveLength(log.events.length);
  });

  test("warns once while a log is open, with a person's message, long before the limit", async () => {
    const { store, log } = await opened(LARGEST / 2 + 10);
    const warnings = (one: typeof log) =>
      one.events.filter((event) => event.type === "notice" && event.code === "log_large");
    await log.append([item("no word in the middle of an answer")]);
    expect(warnings(log)).toHaveLength(0);
    expect(await log.append([message("hello")])).toHaveLength(1); // only the drafts that were passed in
    await log.append([message("again")]);
    expect(warnings(log)).toMatchObject([{ message: expect.stringContaining("throughline compact s") }]);
    await log.close();
    const next = await store.open("s", { mode: "write" });
    await next.append([message("in the next session")]);
    expect(warnings(next)).toHaveLength(2);
    await next.close();
  });
});

const sparse = (bytes: number) => {
  const folder = temporaryFolder();
  const path = join(folder, "s.jsonl");
  writeFileSync(path, "", { mode: 0o600 });
  truncateSync(path, bytes);
  return { folder, path };
};

describe("a log that is too large to be read", () => {
  test.each(["read", "write"] as const)(
    "is refused with a clear message when it is opened to %s",
    async (mode) => {
      const { folder, path } = sparse(LARGEST_LOG_BYTES + 1);
      await expect(fileStore(folder).open("s", { mode })).rejects.toMatchObject({
        code: "log_too_large",
        message: expect.stringContaining("8192.0 MiB"),
      });
      expect(statSync(path).size).toBe(LARGEST_LOG_BYTES + 1);
      await fileStore(folder).remove("s"); // without reading it
      expect(await fileStore(folder).exists("s")).toBe(false);
    },
  );

  test("is refused while a reader follows it; what was read before can still be exported", async () => {
    const { folder, path } = sparse(0);
    const log = await fileStore(folder).open("s", { mode: "read" });
    truncateSync(path, LARGEST_LOG_BYTES + 1);
    await expect(log.refresh()).rejects.toMatchObject({ code: "log_too_large" });
    expect((await readBundle(log)).lines).toEqual(await log.lines());
    expect(() => readWholeFile(path, path)).toThrow(expect.objectContaining({ code: "log_too_large" }));
  });

  test("is not created from an export, a fork or a repair either", async () => {
    const folder = temporaryFolder();
    const lines = { length: LARGEST_LOG_BYTES + 1 } as Buffer;
    const writing = writeSession(folder, { lines, blobs: new Map() }, { id: "s" });
    await expect(writing).rejects.toMatchObject({ code: "log_too_large" });
  });

  test("differs from a blob of that size, which is reported as damaged", async () => {
    const { log, folder } = await opened();
    const name = await log.putBlob(Buffer.from("small"));
    truncateSync(join(folder, "s.blobs", name), 3 * 2 ** 30);
    await expect(log.getBlob(name)).rejects.toMatchObject({ code: "blob_damaged" });
    await log.close();
  });
});
