/** What every store must report to readers of a log that another process writes (`Log.changes`). Run once per store. */

import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";

import type { Log, LogChange, Store } from "../../src/runtime/log/index.ts";
import { messagesOf, notice, type StoreUnderTest } from "./log-contract.ts";

/** Collects changes as they arrive; `until` waits for the first unseen change that matches. */
export interface Heard {
  readonly all: LogChange[];
  readonly ended: Promise<string>;
  until(fits: (change: LogChange) => boolean): Promise<LogChange>;
  untilAll(fits: (changes: readonly LogChange[]) => boolean): Promise<void>;
}

function hear(changes: AsyncIterable<LogChange>): Heard {
  const all: LogChange[] = [];
  let looked = 0;
  let over = false;
  let wake: (() => void) | undefined;
  const ended = (async () => {
    try {
      for await (const change of changes) {
        all.push(change);
        wake?.();
      }
      return "ended";
    } catch (error) {
      return String((error as { readonly code?: unknown }).code);
    } finally {
      over = true;
      wake?.();
    }
  })();
  const more = async (): Promise<void> => {
    if (over) throw new Error(`the changes ended: ${await ended}`);
    await new Promise<void>((done) => {
      wake = done;
    });
  };
  return {
    all,
    ended,
    async until(fits) {
      for (;;) {
        for (; looked < all.length; looked += 1) {
          const change = all[looked] as LogChange;
          if (!fits(change)) continue;
          looked += 1;
          return change;
        }
        await more();
      }
    },
    async untilAll(fits) {
      while (!fits(all)) await more();
    },
  };
}

const rowsOf = (changes: readonly LogChange[]): readonly string[] => changes.flatMap(({ rows }) => rows);
const eventsOf = (changes: readonly LogChange[]): readonly string[] =>
  messagesOf(changes.flatMap(({ events }) => events));

export function describeChangesContract(
  kind: string,
  create: () => Promise<StoreUnderTest> | StoreUnderTest,
): void {
  describe(`the changes of a log in ${kind}`, () => {
    const made: StoreUnderTest[] = [];
    const logs: Log[] = [];

    afterEach(async () => {
      await Promise.all(logs.splice(0).map((log) => log.close()));
      for (const one of made.splice(0)) await one.dispose?.();
    });

    const setUp = async (): Promise<{ readonly store: Store; readonly other: Store }> => {
      const one = await create();
      made.push(one);
      return { store: one.store, other: one.again?.() ?? one.store };
    };
    const open = async (store: Store, mode: "write" | "read" = "write"): Promise<Log> => {
      const log = await store.open("s1", { mode });
      logs.push(log);
      return log;
    };

    test("start at once with the new events, the rows so far, and whether a writer is active", async () => {
      const { store, other } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      const reader = await open(other, "read");
      await log.append([notice("b")]);
      log.scratch.write(["1", "2"]);
      const heard = hear(reader.changes());
      expect(await heard.until(() => true)).toEqual({
        events: log.events.slice(1),
        rows: ["1", "2"],
        hasWriter: true,
      });
      expect(messagesOf(reader.events)).toEqual(["a", "b"]);
      await log.close();
      await heard.until(({ hasWriter }) => !hasWriter);
      const late = hear(reader.changes());
      expect(await late.until(() => true)).toEqual({ events: [], rows: ["1", "2"], hasWriter: false });
    });

    test("deliver every event and row once, in the order written, even after the scratch journal is cleared and rewritten", async () => {
      const { store, other } = await setUp();
      const log = await open(store);
      await log.append([notice("start")]);
      const reader = await open(other, "read");
      const heard = hear(reader.changes());
      await heard.until(() => true);
      for (let round = 0; round < 5; round += 1) {
        await log.append([notice(`${round}`)]);
        for (const part of ["a", "b"]) {
          log.scratch.write([`["${round}","${part}"]`]);
          await heard.until(({ rows }) => rows.includes(`["${round}","${part}"]`));
        }
        log.scratch.clear();
      }
      await log.append([notice("end")]);
      await heard.until(({ events }) => events.length > 0);
      await heard.untilAll((all) => eventsOf(all).includes("end"));
      expect(eventsOf(heard.all)).toEqual(["0", "1", "2", "3", "4", "end"]);
      expect(rowsOf(heard.all)).toEqual(
        [0, 1, 2, 3, 4].flatMap((round) => [`["${round}","a"]`, `["${round}","b"]`]),
      );
    });

    test("never deliver a row before the events that were written ahead of it", async () => {
      const { store, other } = await setUp();
      const log = await open(store);
      await log.append([notice("start")]);
      const reader = await open(other, "read");
      const heard = hear(reader.changes());
      await heard.until(() => true);
      for (let round = 0; round < 200; round += 1) {
        await log.append([notice(`${round}`)]);
        log.scratch.write([String(round)]);
        if (round % 7 === 0) await new Promise((done) => setImmediate(done));
      }
      await heard.untilAll((all) => rowsOf(all).includes("199"));
      let known = new Set<string>();
      for (const { events, rows } of heard.all) {
        known = new Set([...known, ...messagesOf(events)]);
        expect(rows.filter((row) => !known.has(row))).toEqual([]);
      }
    });

    test("report when a writer arrives and leaves", async () => {
      const { store, other } = await setUp();
      const first = await open(store);
      await first.append([notice("a")]);
      await first.close();
      const reader = await open(other, "read");
      const heard = hear(reader.changes());
      expect((await heard.until(() => true)).hasWriter).toBe(false);
      const second = await open(store);
      await heard.until(({ hasWriter }) => hasWriter);
      await second.append([notice("b")]);
      await second.close();
      await heard.until(({ hasWriter }) => !hasWriter);
      // A reader that learns that the writer is gone has everything it wrote.
      expect(eventsOf(heard.all)).toEqual(["b"]);
      expect(heard.all.at(-1)?.hasWriter).toBe(false);
    });

    test("end with their signal, with the log and with the store; a writer's own changes end at once", async () => {
      const { store, other } = await setUp();
      const log = await open(store);
      await log.append([notice("a")]);
      expect([await hear(log.changes()).ended]).toEqual(["ended"]);
      const controller = new AbortController();
      const [one, two, three] = [
        await open(other, "read"),
        await open(other, "read"),
        await open(other, "read"),
      ];
      const heard = [hear(one.changes(controller.signal)), hear(two.changes()), hear(three.changes())];
      await Promise.all(heard.map((each) => each.until(() => true)));
      controller.abort();
      expect(await heard[0]?.ended).toBe("ended");
      await two.close();
      expect(await heard[1]?.ended).toBe("ended");
      await other.close();
      expect(await heard[2]?.ended).toBe("ended");
      const afterwards = [hear(one.changes(controller.signal)), hear(two.changes()), hear(three.changes())];
      expect(await Promise.all(afterwards.map(({ ended }) => ended))).toEqual(["ended", "ended", "ended"]);
      expect(afterwards.flatMap(({ all }) => all)).toEqual([]);
    });

    test("and a concurrent refresh each see every event once", async () => {
      const { store, other } = await setUp();
      const log = await open(store);
      await log.append([notice("start")]);
      const reader = await open(other, "read");
      const heard = hear(reader.changes());
      await heard.until(() => true);
      const read: string[] = [];
      for (let round = 0; round < 50; round += 1) {
        await log.append([notice(`${round}`)]);
        if (round % 3 === 0) read.push(...messagesOf(await reader.refresh()));
        if (round % 5 === 0) await new Promise((done) => setImmediate(done));
      }
      await heard.untilAll((all) => eventsOf(all).includes("49"));
      expect(eventsOf(heard.all)).toEqual(messagesOf(log.events).slice(1));
      expect(messagesOf(reader.events)).toEqual(messagesOf(log.events));
      expect(new Set(read).size).toBe(read.length);
    });

    test("lose no event and are the same for every reader, whatever the order of writes and clears", async () => {
      const step = fc.oneof(
        fc.record({ do: fc.constant("append" as const), count: fc.integer({ min: 1, max: 4 }) }),
        fc.record({ do: fc.constant("write" as const), count: fc.integer({ min: 1, max: 3 }) }),
        fc.record({ do: fc.constant("clear" as const) }),
        fc.record({ do: fc.constant("breathe" as const) }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 200, maxLength: 200 }), async (steps) => {
          const { store, other } = await setUp();
          const log = await open(store);
          await log.append([notice("start")]);
          const readers = [await open(other, "read"), await open(other, "read")];
          const heard = readers.map((reader) => hear(reader.changes()));
          await Promise.all(heard.map((one) => one.until(() => true)));
          let number = 0;
          const written: string[] = [];
          for (const one of steps) {
            number += 1;
            if (one.do === "append")
              await log.append(Array.from({ length: one.count }, (_, index) => notice(`${number}.${index}`)));
            if (one.do === "write") {
              const rows = Array.from({ length: one.count }, (_, index) => `"${number}.${index}"`);
              written.push(...rows);
              log.scratch.write(rows);
            }
            if (one.do === "clear") log.scratch.clear();
            if (one.do === "breathe") await new Promise((done) => setImmediate(done));
          }
          log.scratch.clear();
          log.scratch.write(['"last"']);
          await log.append([notice("last")]);
          await Promise.all(
            heard.map((one) =>
              one.untilAll((all) => eventsOf(all).includes("last") && rowsOf(all).includes('"last"')),
            ),
          );
          for (const { all } of heard) {
            expect(eventsOf(all)).toEqual(messagesOf(log.events).slice(1));
            const rows = rowsOf(all).slice(0, -1);
            // A clear may lose rows, but no row arrives twice, out of order, or without having been written.
            expect(written.filter((row) => rows.includes(row))).toEqual(rows);
          }
          await log.close();
          await Promise.all(readers.map((reader) => reader.close()));
          await Promise.all(heard.map(({ ended }) => ended));
        }),
        { numRuns: 5 },
      );
    });
  });
}
