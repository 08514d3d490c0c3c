import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import fc from "fast-check";
import { expect, test } from "vitest";

import { countedIo } from "../../../test/contracts/file-fixture.ts";
import { runs, timeoutFor } from "../../../test/support/runs.ts";
import type { LoggedEvent } from "../../base/events/index.ts";
import { fileStore, type Log } from "./index.ts";

type Action =
  | { readonly do: "append"; readonly sizes: readonly number[] }
  | { readonly do: "sync" }
  /** A writer that closes properly, and the next one. */
  | { readonly do: "reopen" }
  /** A loss of power: some unsynced bytes are gone, or some sectors were never written. */
  | { readonly do: "cut"; readonly keep: number }
  | { readonly do: "zero"; readonly sectors: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      sizes: fc.array(fc.nat(900), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ do: "sync" } as const) },
  { weight: 1, arbitrary: fc.constant({ do: "reopen" } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("cut" as const),
      keep: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("zero" as const), sectors: fc.nat(0xffff) }) },
);

/** The bytes starting at `from` as a loss of power may leave them. */
function damaged(bytes: Buffer, from: number, how: Extract<Action, { do: "cut" | "zero" }>): Buffer {
  if (how.do === "cut") return bytes.subarray(0, from + Math.floor((bytes.length - from) * how.keep));
  const left = Buffer.from(bytes);
  const first = Math.floor(from / 512);
  for (let sector = first; sector * 512 < bytes.length; sector += 1) {
    if ((how.sectors & (1 << ((sector - first) % 16))) === 0) continue;
    left.fill(0, Math.max(from, sector * 512), Math.min(bytes.length, (sector + 1) * 512));
  }
  return left;
}

const own = (events: readonly LoggedEvent[]): readonly LoggedEvent[] =>
  events.filter((event) => event.type !== "notice" || event.code !== "log_tail_cut");

/** `toEqual` only gives the message: called every time, it would take most of a long run. */
function expectSame(read: readonly LoggedEvent[], written: readonly LoggedEvent[]): void {
  if (!isDeepStrictEqual(read, written)) expect(read).toStrictEqual(written);
}

test(
  "whatever happens, synced events are there, unchanged and in order, and the log continues",
  async () => {
    let ran = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 14 }), async (actions) => {
        const folder = mkdtempSync(join(tmpdir(), "throughline-model-"));
        const path = join(folder, "s.jsonl");
        const open = (): Promise<Log> => fileStore(folder, { io: countedIo() }).open("s", { mode: "write" });
        let log = await open();
        let written: LoggedEvent[] = [];
        let synced = { events: 0, bytes: 0 };
        let count = 0;
        const settle = (): void => {
          synced = { events: written.length, bytes: log.events.length === 0 ? 0 : statSync(path).size };
        };
        for (const step of actions) {
          if (step.do === "append") {
            const drafts = step.sizes.map((size) => {
              count += 1;
              return { type: "notice", code: "test", message: `${count} ${"m".repeat(size)}` } as const;
            });
            written.push(...(await log.append(drafts)));
          } else if (step.do === "sync") {
            await log.append([], { durable: true });
            settle();
          } else {
            await log.close();
            if (step.do === "reopen") settle();
            else if (log.events.length > 0)
              writeFileSync(path, damaged(readFileSync(path), synced.bytes, step));
            log = await open();
            const read = own(log.events);
            expect(read.length).toBeGreaterThanOrEqual(synced.events);
            expectSame(read, written.slice(0, read.length));
            written = [...read];
            settle();
          }
        }
        await log.close();
        const reader =
          log.events.length === 0 ? undefined : await fileStore(folder).open("s", { mode: "read" });
        expectSame(own(reader?.events ?? []), written);
        expect(reader?.events.map(({ seq }) => seq) ?? []).toEqual(
          reader?.events.map((_, index) => index) ?? [],
        );
        // At once rather than after the test: a million runs would be a million folders.
        rmSync(folder, { recursive: true, force: true });
        ran += 1;
      }),
      runs(60),
    );
    process.stdout.write(`model of the log: ${ran} runs\n`);
  },
  timeoutFor(60),
);
