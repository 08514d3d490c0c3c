import { closeSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { inOrder, LogBuilder } from "../../../test/contracts/log-builder.ts";
import { type EventHead, eventOf, type LoggedEvent } from "../../base/events/index.ts";
import { linesFrom } from "./line-framing.ts";
import { LogPieces, type PieceSizes } from "./log-pieces.ts";
import { LARGEST_LOG_BYTES, mostEvents } from "./log-size.ts";

const FROM = { offset: 0, seq: 0, epoch: 0 };

const LOG = ((): readonly LoggedEvent[] => {
  const log = new LogBuilder().settings().user("hi");
  for (let step = 1; step <= 40; step += 1) {
    const callId = `call_${step}`;
    log
      .respond({ items: [{ type: "reasoning" }, { type: "call", callId }] })
      .result(callId, "x".repeat(step * 7));
  }
  return log.events.map(inOrder);
})();

async function load(path: string, given: Partial<PieceSizes>, size = statSync(path).size) {
  const sizes = { ...AMPLE, ...given };
  const file = openSync(path, "r");
  const pieces = new LogPieces(path, "s", sizes);
  const heads: EventHead[] = [];
  let parts = 0;
  try {
    const read = await pieces.load(file, size, FROM, (more) => {
      parts += 1;
      heads.push(...more);
    });
    return { goodBytes: read.goodBytes, tail: read.tail, heads, parts, pieces };
  } finally {
    closeSync(file);
  }
}

/** What bounds nothing here. */
const AMPLE = { piece: 2 ** 22, kept: 2 ** 28, line: 2 ** 22, events: 1000 };

function written(tail = ""): string {
  const path = join(temporaryFolder(), "s.jsonl");
  writeFileSync(path, Buffer.concat([linesFrom(LOG), Buffer.from(tail)]), { mode: 0o600 });
  return path;
}

test.each([50, 1000, 4096, 2 ** 22])(
  "a file read in pieces of %i bytes has the same events",
  async (piece) => {
    const path = written('{"unfinished');
    const { heads, goodBytes, tail } = await load(path, { piece, kept: 2 ** 28 });
    expect(heads.map(eventOf)).toEqual(LOG);
    expect([goodBytes, tail.toString()]).toEqual([linesFrom(LOG).length, '{"unfinished']);
  },
);

test("the event loop is free between two pieces", async () => {
  const path = written("x".repeat(2 ** 21)); // what a crash can have left unfinished is in the last piece
  let turns = 0;
  const count = (): void => {
    turns += 1;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const { parts } = await load(path, { piece: 4096, kept: 2 ** 28 });
  clearImmediate(timer);
  expect(parts).toBeGreaterThan(5);
  expect(turns).toBeGreaterThanOrEqual(parts - 1);
});

test("reading at once gives the same", () => {
  const path = written();
  const file = openSync(path, "r");
  const heads: EventHead[] = [];
  const pieces = new LogPieces(path, "s", { ...AMPLE, piece: 1000, kept: 2 ** 28 });
  pieces.loadNow(file, statSync(path).size, FROM, (more) => void heads.push(...more));
  closeSync(file);
  expect(heads.map(eventOf)).toEqual(LOG);
});

test("what is not kept is read again and verified; an event that is held stays the same object", async () => {
  const path = written("x".repeat(2 ** 21));
  const { heads, pieces } = await load(path, { piece: 4096, kept: 8192 });
  expect(pieces.keeps).toBe(false);
  const held = eventOf(heads[3] as EventHead);
  expect(heads.map(eventOf)).toEqual(LOG);
  expect(eventOf(heads[3] as EventHead)).toBe(held);
});

test("an event whose line has changed since is not read again", async () => {
  const path = written("x".repeat(2 ** 21));
  const { heads } = await load(path, { piece: 4096, kept: 8192 });
  writeFileSync(path, readFileSync(path, "latin1").replace('"step":1,', '"step":2,'), "latin1");
  expect(() => eventOf(heads[2] as EventHead)).toThrow(expect.objectContaining({ code: "log_replaced" }));
});

test("damage is reported by line and byte, in whichever piece it is", async () => {
  const path = written();
  const bytes = readFileSync(path);
  const at = bytes.indexOf('"call_30"');
  bytes[at + 1] = 0x58;
  writeFileSync(path, bytes);
  const line = bytes.subarray(0, at).toString().split("\n").length;
  await expect(load(path, { piece: 1000, kept: 2 ** 28 })).rejects.toMatchObject({
    code: "log_damaged",
    details: { line, byte: bytes.lastIndexOf(0x0a, at) + 1 },
  });
});

test("a file that is cut while it is read ends there", async () => {
  const path = written();
  const { heads } = await load(path, { piece: 1000, kept: 2 ** 28 }, statSync(path).size + 5000);
  expect(heads).toHaveLength(LOG.length);
});

test("a log with more events than memory holds is refused before they take it", async () => {
  await expect(load(written(), { piece: 1000, events: 40 })).rejects.toMatchObject({
    code: "log_too_large",
    message: expect.stringContaining("more than 40 events") as string,
  });
});

test("a file that goes on without a line break is damaged, and is not read to its end", async () => {
  const endless = load(written("x".repeat(2 ** 23)), { piece: 4096, line: 2 ** 16 });
  await expect(endless).rejects.toMatchObject({
    code: "log_damaged",
    details: { line: LOG.length + 1, byte: linesFrom(LOG).length },
  });
});

test("this process has memory for the events of any log that a writer may make", () => {
  expect(mostEvents(4 * 2 ** 30)).toBeGreaterThan(LARGEST_LOG_BYTES / 800);
});
