import { crc32 } from "node:zlib";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { isQuiet, type LineSource, type LoggedEvent } from "../../base/events/index.ts";
import type { ThroughlineError } from "../../base/support/index.ts";
import {
  frameLine,
  LineInBuffer,
  linesFrom,
  type ScannedLines,
  scanHeads,
  scanLines,
} from "./line-framing.ts";

const event = (seq: number, message = `message ${seq}`, epoch = 1): LoggedEvent => ({
  v: 1,
  seq,
  id: `ev_${seq}`,
  at: "2026-11-15T10:00:00.000Z",
  epoch,
  type: "notice",
  code: "test",
  message,
});

/** Text one bit away from NUL (space, @), multi-byte characters and quotes. */
const events = [
  event(0, "a @ b"),
  event(1, 'quotes " and \\ and ü 😀'),
  event(2, "x".repeat(40)),
  event(3, " @ "),
];
const lines = events.map((one) => frameLine(one));
const whole = Buffer.concat(lines);
const starts = lines.map((_, index) => Buffer.concat(lines.slice(0, index)).length);

const scan = (bytes: Buffer): ScannedLines => scanLines(bytes, { offset: 0, firstSeq: 0, lowestEpoch: 0 });

const damageOf = (bytes: Buffer): ThroughlineError["details"] & { readonly code: string } => {
  try {
    scan(bytes);
  } catch (error) {
    const { code, details } = error as ThroughlineError;
    return { code, ...details };
  }
  return { code: "no damage" };
};

/** The events read may be fewer than those written, but never different. */
const isPrefix = (read: readonly LoggedEvent[]): boolean =>
  JSON.stringify(read) === JSON.stringify(events.slice(0, read.length));

test("a line is JSON with its checksum as the last field, the CRC-32 of all bytes before it", () => {
  const text = frameLine(event(7)).toString("utf8");
  expect(text.endsWith("\n")).toBe(true);
  expect(Object.keys(JSON.parse(text) as object).at(-1)).toBe("sum");
  const [, open = "", sum] = /^(.*),"sum":"([0-9a-f]{8})"\}\n$/s.exec(text) ?? [];
  expect(sum).toBe(crc32(open).toString(16).padStart(8, "0"));
});

test("complete lines are read back equal, with nothing torn", () => {
  expect(scan(whole)).toEqual({ events, goodBytes: whole.length, tornBytes: 0 });
  expect(scan(Buffer.alloc(0))).toEqual({ events: [], goodBytes: 0, tornBytes: 0 });
});

test("from every byte prefix exactly the complete lines are read, and the rest is torn", () => {
  for (let length = 0; length <= whole.length; length += 1) {
    const complete = lines.filter((line, index) => (starts[index] ?? 0) + line.length <= length).length;
    const goodBytes = complete === lines.length ? whole.length : (starts[complete] ?? 0);
    expect(scan(whole.subarray(0, length))).toEqual({
      events: events.slice(0, complete),
      goodBytes,
      tornBytes: length - goodBytes,
    });
  }
});

test("zeros from any byte to the end are a torn tail, not damage", () => {
  for (let from = 0; from < whole.length; from += 1) {
    const bytes = Buffer.from(whole);
    bytes.fill(0, from);
    const complete = lines.filter((line, index) => (starts[index] ?? 0) + line.length <= from).length;
    expect(scan(bytes).events).toEqual(events.slice(0, complete));
  }
});

describe("sectors of the last write that never reached the disk", () => {
  const synced = Array.from({ length: 5 }, (_, seq) => frameLine(event(seq, "s".repeat(60 + seq))));
  const batch = Array.from({ length: 5 }, (_, index) => frameLine(event(5 + index, "b".repeat(700))));
  const base = Buffer.concat(synced);
  const file = Buffer.concat([base, ...batch]);
  const first = Math.floor(base.length / 512);
  const sectors = Math.ceil(file.length / 512) - first;

  test("leave all synced events in every combination, and of the rest only complete, unchanged ones", () => {
    expect(sectors).toBeGreaterThan(7);
    const all = [...synced, ...batch].map((line) => JSON.parse(line.toString()) as { id: string });
    for (let subset = 0; subset < 2 ** sectors; subset += 1) {
      const bytes = Buffer.from(file);
      for (let sector = 0; sector < sectors; sector += 1) {
        if ((subset & (1 << sector)) !== 0) continue;
        const from = Math.max(base.length, (first + sector) * 512);
        bytes.fill(0, from, Math.min(file.length, (first + sector + 1) * 512));
      }
      const { events: read } = scan(bytes);
      expect(read.length).toBeGreaterThanOrEqual(synced.length);
      expect(read.map(({ id }) => id)).toEqual(all.slice(0, read.length).map(({ id }) => id));
    }
  });

  test("are not assumed for zeros synced long ago: more than one write follows them, so they are damage", () => {
    const filler = Array.from({ length: 1200 }, (_, index) => frameLine(event(5 + index, "f".repeat(900))));
    const bytes = Buffer.concat([base, ...filler]);
    bytes.fill(0, 1024, 1536);
    expect(damageOf(bytes)).toMatchObject({ code: "log_damaged", problem: "the checksum does not match" });
  });

  test("may be far from the end in a long line, as long as little follows the line", () => {
    const long = frameLine(event(5, "l".repeat(5 * 1024 * 1024)));
    const bytes = Buffer.concat([base, long, frameLine(event(6))]);
    bytes.fill(0, 1024, 1536);
    expect(scan(bytes)).toMatchObject({ goodBytes: base.length });
  });

  test("are not assumed for a single zero byte: it is damage, wherever it is", () => {
    for (let at = 0; at < base.length - 1; at += 1) {
      const bytes = Buffer.concat([base, ...batch]);
      bytes[at] = 0;
      expect(damageOf(bytes).code).toBe("log_damaged");
    }
  });
});

test("no bit flip is ever accepted as an event; all but those of the last line break are damage", () => {
  for (let at = 0; at < whole.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
      if (at === whole.length - 1) {
        // Without its line break the last line looks unfinished.
        expect(scan(bytes).events).toEqual(events.slice(0, -1));
        continue;
      }
      const { code, line } = damageOf(bytes);
      const broken = starts.filter((start) => start <= at).length;
      expect([code, line]).toEqual(["log_damaged", broken]);
    }
  }
});

test("random damage is never accepted: the events read are a prefix of those written", () => {
  const change = fc.record({
    at: fc.nat(whole.length - 1),
    length: fc.nat(60),
    bytes: fc.uint8Array({ maxLength: 60 }),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      let bytes = whole;
      for (const { at, length, bytes: put } of changes)
        bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + length)]);
      try {
        return isPrefix(scan(bytes).events);
      } catch (error) {
        return (error as ThroughlineError).code === "log_damaged";
      }
    }),
    { numRuns: Number(process.env["THROUGHLINE_RUNS"] ?? 3000) },
  );
});

const at = (index: number): number => starts[index] ?? -1;

const join = (...order: readonly number[]): Buffer =>
  Buffer.concat(order.map((index) => lines[index] ?? Buffer.alloc(0)));

describe("complete lines in the wrong place are reported with line and byte", () => {
  test.each([
    ["a deleted first line", join(1, 2, 3), 1, 0, "seq is 1, expected 0"],
    ["a deleted line", join(0, 2, 3), 2, at(1), "seq is 2, expected 1"],
    ["a duplicated line", join(0, 1, 1, 2, 3), 3, at(2), "seq is 1, expected 2"],
    ["two swapped lines", join(0, 2, 1, 3), 2, at(1), "seq is 2, expected 1"],
    ["a line from the end moved to the front", join(3, 0, 1, 2), 1, 0, "seq is 3, expected 0"],
  ])("%s", (_what, bytes, line, byte, problem) => {
    expect(damageOf(bytes)).toMatchObject({ code: "log_damaged", line, byte, problem });
  });

  test("an epoch that goes down, written by an overtaken writer", () => {
    const bytes = Buffer.concat([frameLine(event(0, "a", 3)), frameLine(event(1, "b", 2))]);
    expect(damageOf(bytes)).toMatchObject({
      code: "log_damaged",
      line: 2,
      byte: frameLine(event(0, "a", 3)).length,
      problem: "epoch went down from 3 to 2",
    });
  });

  test("an empty line, a foreign line, and a line with a right checksum that is not an event", () => {
    const foreign = Buffer.from('{"hello":"world"}\n');
    const open = Buffer.from('{"hello":"world"');
    const summed = Buffer.from(`${open.toString()},"sum":"${crc32(open).toString(16).padStart(8, "0")}"}\n`);
    const untyped = frameLine({ ...event(1, "b"), message: 7 } as unknown as LoggedEvent);
    const first = lines[0] ?? Buffer.alloc(0);
    for (const [bad, problem] of [
      [Buffer.from("\n"), "too short to be an event"],
      [foreign, "too short to be an event"],
      [Buffer.from('{"hello":"a world that is larger"}\n'), "the checksum does not match"],
      [summed, "not an event: no JSON object with a type"],
      [untyped, "not an event: notice: message is not a string"],
    ] as const) {
      expect(damageOf(Buffer.concat([first, bad, lines[1] ?? Buffer.alloc(0)]))).toMatchObject({
        line: 2,
        byte: first.length,
        problem,
      });
    }
  });
});

test("a later read counts lines and bytes from the start of the file", () => {
  const [first = Buffer.alloc(0), second = Buffer.alloc(0), third = Buffer.alloc(0)] = lines;
  const offset = first.length;
  const rest = scanLines(Buffer.concat([second, third]), { offset, firstSeq: 1, lowestEpoch: 1 });
  expect(rest).toEqual({
    events: [events[1], events[2]],
    goodBytes: second.length + third.length,
    tornBytes: 0,
  });
  expect(() => scanLines(Buffer.concat([second, second]), { offset, firstSeq: 1, lowestEpoch: 1 })).toThrow(
    `damaged at line 3, byte ${first.length + second.length}: seq is 1, expected 2`,
  );
});

const toolStart = (seq: number, epoch: number): LoggedEvent => ({
  v: 1,
  seq,
  id: `ev_${seq}`,
  at: "2026-11-15T10:00:00.000Z",
  epoch,
  turn: "t",
  response: "r",
  type: "tool_start",
  callId: "c",
  tool: "look",
  idempotencyKey: "k",
});

const NO_LINES: LineSource = {
  text: () => "",
  bytes: () => new LineInBuffer(Buffer.alloc(0)),
  damaged: (_start, seq) => new Error(`line ${seq}`),
  keeps: true,
};

const scanned = (...written: readonly LoggedEvent[]) =>
  scanHeads(linesFrom(written), { offset: 0, firstSeq: 0, lowestEpoch: 0 }, NO_LINES).heads;

describe("heads of events that are not decoded", () => {
  test("are read in order", () => {
    expect(scanned(toolStart(0, 1), toolStart(1, 2)).map(isQuiet)).toEqual([true, true]);
  });

  test("are damage if a number is missing or a writer was overtaken", () => {
    expect(() => scanned(toolStart(0, 1), toolStart(2, 1))).toThrow("seq is 2, expected 1");
    expect(() => scanned(toolStart(0, 2), toolStart(1, 1))).toThrow("epoch went down from 2 to 1");
  });
});
