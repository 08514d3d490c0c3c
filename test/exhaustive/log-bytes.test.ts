/**
 * Every way in which the bytes of a log can be short, zeroed or changed, each opened by a writer: it recovers exactly
 * the intact part, or refuses with line and byte. It is never silently wrong, and the session can always continue.
 */

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { LoggedEvent } from "../../src/base/events/index.ts";
import { fileStore, type Log, salvageLog } from "../../src/runtime/log/index.ts";
import { frameLine } from "../../src/runtime/log/line-framing.ts";
import { Tally } from "../support/runs.ts";
import { CORPUS, converse, linesOf } from "./corpus.ts";
import { EXHAUSTIVE, PATIENCE_MS, quickFolder, someOf } from "./how-much.ts";

const tally = new Tally();
const recorded = new Map<string, readonly LoggedEvent[]>();
const folder = quickFolder();
const path = join(folder, "s.jsonl");
const store = fileStore(folder);

beforeAll(async () => {
  for (const name of ["responses", "messages", "crossings"])
    recorded.set(name, (await converse(CORPUS[name] ?? [])).events);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  tally.print(`bytes of the log (${EXHAUSTIVE ? "all" : "a sample"})`);
});

const eventsOf = (name: string): readonly LoggedEvent[] => recorded.get(name) ?? [];

/** `toEqual` is only for its message: used for every comparison, it would take most of a long run. */
function expectSame(read: unknown, written: unknown, where: string): void {
  if (!isDeepStrictEqual(read, written)) expect(read, where).toStrictEqual(written);
}

async function put(bytes: Buffer): Promise<void> {
  if (existsSync(path)) await store.remove("s");
  writeFileSync(path, bytes, { mode: 0o600 });
}

/**
 * A writer opens it, finds exactly `whole`, saves the rest aside and continues, and the next reader finds all of it.
 */
async function expectRecovered(
  bytes: Buffer,
  whole: readonly LoggedEvent[],
  goodBytes: number,
): Promise<void> {
  const where = `${goodBytes} of ${bytes.length} bytes are whole`;
  await put(bytes);
  const log: Log = await store.open("s", { mode: "write" });
  expectSame(log.events, whole, where);
  const torn = bytes.subarray(goodBytes);
  if (torn.length > 0 && !readFileSync(join(folder, `s.torn-${goodBytes}`)).equals(torn))
    throw new Error(`the torn tail was not saved as it was: ${where}`);
  await log.append([{ type: "notice", code: "test", message: "goes on" }]);
  await log.close();
  const next = await store.open("s", { mode: "read" });
  expectSame(next.events.slice(0, whole.length), whole, where);
  const added = next.events.slice(whole.length).map((event) => (event.type === "notice" ? event.code : ""));
  const notices = whole.length === 0 ? ["test", "log_tail_cut"] : ["log_tail_cut", "test"];
  expectSame(added, torn.length > 0 ? notices : ["test"], where);
  await next.close();
}

/** How many lines are whole in the first `length` bytes, and where they end. */
function wholeIn(
  lines: readonly Buffer[],
  length: number,
): { readonly count: number; readonly bytes: number } {
  let bytes = 0;
  let count = 0;
  for (const line of lines) {
    if (bytes + line.length > length) break;
    bytes += line.length;
    count += 1;
  }
  return { count, bytes };
}

describe.each(["responses", "messages", "crossings"])("the log of %s", (name) => {
  test(
    "cut after any byte is recovered to its whole lines and continues",
    async () => {
      const events = eventsOf(name);
      const lines = linesOf(events);
      const all = Buffer.concat(lines);
      for (const length of someOf(all.length + 1, 150)) {
        const whole = wholeIn(lines, length);
        await expectRecovered(all.subarray(0, length), events.slice(0, whole.count), whole.bytes);
        tally.add("byte prefixes");
      }
    },
    PATIENCE_MS,
  );
});

test(
  "zeros from any byte to the end, or to the end of the sector, are a torn tail",
  async () => {
    const events = eventsOf("responses");
    const lines = linesOf(events);
    const all = Buffer.concat(lines);
    for (const from of someOf(all.length, 150)) {
      const bytes = Buffer.alloc(Math.ceil(all.length / 512) * 512);
      all.copy(bytes, 0, 0, from);
      const whole = wholeIn(lines, from);
      await expectRecovered(bytes, events.slice(0, whole.count), whole.bytes);
      tally.add("zero tails");
    }
  },
  PATIENCE_MS,
);

test(
  "any subset of the sectors of the last write leaves what was synced, and of the rest only whole events in order",
  async () => {
    const all = eventsOf("messages");
    const synced = all.slice(0, 6);
    const base = Buffer.concat(linesOf(synced));
    // A write of twelve sectors: real events, the last padded to the length needed.
    const rest: LoggedEvent[] = [];
    const first = Math.floor(base.length / 512);
    const end = (first + 12) * 512;
    let size = base.length;
    for (let seq = 6; size < end; seq += 1) {
      const draft = { ...all[6], v: 1, seq, id: `ev_${seq}`, type: "notice", code: "test" };
      const event = (length: number): LoggedEvent =>
        ({ ...draft, message: "m".repeat(length) }) as unknown as LoggedEvent;
      const bare = frameLine(event(0)).length;
      const room = end - size - bare;
      const length = room < 900 ? Math.max(0, room) : 400;
      rest.push(event(length));
      size += bare + length;
    }
    const events = [...synced, ...rest];
    const file = Buffer.concat(linesOf(events));
    expect(Math.ceil(file.length / 512) - first).toBeGreaterThanOrEqual(12);
    for (const subset of someOf(2 ** 12, 200)) {
      const bytes = Buffer.from(file);
      for (let sector = 0; sector < 12; sector += 1) {
        if ((subset & (1 << sector)) !== 0) continue;
        bytes.fill(0, Math.max(base.length, (first + sector) * 512), (first + sector + 1) * 512);
      }
      await put(bytes);
      const log = await store.open("s", { mode: "write" });
      const read = log.events;
      expect(read.length).toBeGreaterThanOrEqual(synced.length);
      expectSame(read, events.slice(0, read.length), `sectors ${subset.toString(2)}`);
      await log.append([{ type: "notice", code: "test", message: "goes on" }]);
      await log.close();
      await (await store.open("s", { mode: "read" })).close();
      tally.add("sector subsets");
    }
  },
  PATIENCE_MS,
);

test(
  "any flipped bit is refused with its line and byte and changes nothing; only a lost final line break is a torn tail",
  async () => {
    const long = eventsOf("crossings");
    const lines = linesOf(long);
    const count = wholeIn(lines, 7000).count;
    const events = long.slice(0, count);
    const all = Buffer.concat(lines.slice(0, count));
    const starts = lines.slice(0, count).map((_, index) => Buffer.concat(lines.slice(0, index)).length);
    for (const index of someOf(all.length * 8, 1000)) {
      const at = index >> 3;
      const bytes = Buffer.from(all);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (index & 7));
      tally.add("bit flips");
      if (at === all.length - 1) {
        await expectRecovered(bytes, events.slice(0, -1), starts.at(-1) ?? 0);
        continue;
      }
      await put(bytes);
      const line = starts.filter((start) => start <= at).length;
      const refused = await store.open("s", { mode: "write" }).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (!isDamage(refused, line, starts[line - 1]))
        expect(refused, `bit ${index & 7} of byte ${at}`).toMatchObject({
          code: "log_damaged",
          details: { line, byte: starts[line - 1] },
        });
      if (!readFileSync(path).equals(bytes)) throw new Error(`the damaged file was changed: byte ${at}`);
      if (index % 50 === 0) expectSalvaged(bytes, events, line);
    }
  },
  PATIENCE_MS,
);

function isDamage(error: unknown, line: number, byte: number | undefined): boolean {
  const { code, details } = (error ?? {}) as { code?: string; details?: { line?: number; byte?: number } };
  return code === "log_damaged" && details?.line === line && details.byte === byte;
}

/** The output of `repair` is whole again, and every other event in it is unchanged. */
function expectSalvaged(bytes: Buffer, events: readonly LoggedEvent[], line: number): void {
  const { events: saved } = salvageLog(bytes, { session: "s" });
  for (const [index, event] of events.entries())
    if (index !== line - 1) expectSame(saved[index], event, `salvaged line ${index + 1}`);
  tally.add("bit flips also salvaged");
}

test(
  "a missing, doubled or swapped line is refused; a missing last line makes a shorter log",
  async () => {
    for (const name of recorded.keys()) {
      const events = eventsOf(name);
      const lines = linesOf(events);
      for (const index of someOf(lines.length, 40)) {
        const one = lines[index] as Buffer;
        const before = lines.slice(0, index);
        const after = lines.slice(index + 1);
        const [next, ...later] = after;
        const forms = [
          [...before, ...after],
          [...before, one, one, ...after],
          ...(next === undefined ? [] : [[...before, next, one, ...later]]),
        ];
        for (const [form, changed] of forms.entries()) {
          tally.add("lines missing, doubled, swapped");
          if (form === 0 && next === undefined) {
            await expectRecovered(Buffer.concat(changed), events.slice(0, -1), Buffer.concat(before).length);
            continue;
          }
          await put(Buffer.concat(changed));
          await expect(store.open("s", { mode: "write" })).rejects.toMatchObject({
            code: "log_damaged",
            details: { line: form === 1 ? index + 2 : index + 1 },
          });
        }
      }
    }
  },
  PATIENCE_MS,
);
