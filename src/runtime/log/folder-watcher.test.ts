import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { startChild, temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import type { Clock } from "../../base/support/index.ts";
import { FolderWatcher } from "./folder-watcher.ts";

const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

/** A clock that stands still until the test advances it, with a list of pending waits. */
function testClock(): Clock & { readonly waits: number[]; advance(ms: number): Promise<void> } {
  let now = 0;
  const sleeping = new Set<{ readonly at: number; readonly wake: () => void }>();
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    monotonic: () => now,
    sleep(ms, signal) {
      waits.push(ms);
      return new Promise((resolve, reject) => {
        const one = { at: now + ms, wake: resolve };
        sleeping.add(one);
        signal?.addEventListener("abort", () => {
          sleeping.delete(one);
          reject(signal.reason as Error);
        });
      });
    },
    async advance(ms) {
      for (const end = now + ms; now < end; now += 1) {
        for (const one of sleeping) {
          if (one.at > now) continue;
          sleeping.delete(one);
          one.wake();
        }
        await settle();
      }
    },
  };
}

function setUp(how: "hints" | "none" = "hints") {
  const folder = temporaryFolder();
  const clock = testClock();
  const held = new Set<string>();
  const asked: string[] = [];
  let hint: ((name: string) => void) | undefined;
  let fail: (() => void) | undefined;
  let open = 0;
  const watcher = new FolderWatcher({
    folder,
    clock,
    watch: (_folder, changed, failed) => {
      if (how === "none") throw new Error("made by the test");
      [hint, fail] = [changed, failed];
      open += 1;
      return { close: () => void (open -= 1) };
    },
    hasWriter: async (id) => {
      asked.push(id);
      return held.has(id);
    },
  });
  return {
    folder,
    clock,
    held,
    asked,
    watcher,
    hint: (name: string) => hint?.(name),
    fail: () => fail?.(),
    open: () => open,
    write: (name: string, text: string) => writeFileSync(join(folder, name), text),
  };
}

describe("the shared folder watcher", () => {
  test("starts with the first follower and stops with the last", async () => {
    const { watcher, open, clock } = setUp();
    expect([open(), clock.waits]).toEqual([0, []]);
    const one = watcher.follow("a", () => undefined);
    const two = watcher.follow("a", () => undefined);
    const three = watcher.follow("b", () => undefined);
    expect([open(), clock.waits.length]).toEqual([1, 1]);
    for (const followed of [one, two]) followed.leave();
    expect(open()).toBe(1);
    three.leave();
    expect(open()).toBe(0);
    const waits = clock.waits.length;
    await clock.advance(1000);
    expect(clock.waits).toHaveLength(waits);
    watcher.follow("a", () => undefined);
    expect(open()).toBe(1);
    watcher.close();
    expect([open(), watcher.closed.aborted]).toEqual([0, true]);
  });

  test("looks once after a burst of hints, loses none, and ignores other files", async () => {
    const { watcher, hint, clock } = setUp();
    let rings = 0;
    watcher.follow("a", () => (rings += 1));
    for (let n = 0; n < 100; n += 1) hint("a.jsonl");
    for (const name of ["b.jsonl", "a.torn-5", "a.jsonl.17.tmp", "a", ""]) hint(name);
    expect(rings).toBe(0);
    await clock.advance(2);
    expect(rings).toBe(1);
    hint("a.live");
    await clock.advance(5);
    expect(rings).toBe(1);
    await clock.advance(15);
    expect(rings).toBe(2);
    watcher.close();
  });

  test("asks a new lock at once, and again on the next tick because its holder may not be there yet", async () => {
    const { watcher, hint, clock, asked, held, folder } = setUp();
    let rings = 0;
    const followed = watcher.follow("a", () => (rings += 1));
    mkdirSync(join(folder, "a.lock"));
    hint("a.lock");
    await clock.advance(2);
    expect([asked.length, followed.writer.lives]).toEqual([1, false]);
    held.add("a");
    await clock.advance(250);
    expect([followed.writer, rings]).toEqual([{ lives: true, flips: 1 }, 1]);
    held.delete("a");
    rmdirSync(join(folder, "a.lock"));
    hint("a.lock");
    await clock.advance(20);
    expect([followed.writer, rings]).toEqual([{ lives: false, flips: 2 }, 2]);
    watcher.close();
  });

  test("finds within about a second that a holder was killed, although no file changed", async () => {
    const { watcher, clock, held, folder } = setUp();
    mkdirSync(join(folder, "a.lock"));
    held.add("a");
    const followed = watcher.follow("a", () => undefined);
    await followed.ask();
    held.delete("a");
    await clock.advance(1400);
    expect(followed.writer.lives).toBe(false);
    watcher.close();
  });

  test.each(["none", "failing"] as const)("finds changes by its timer alone if hints are %s", async (how) => {
    const { watcher, clock, write, fail, open } = setUp(how === "none" ? "none" : "hints");
    let rings = 0;
    watcher.follow("a", () => (rings += 1));
    if (how === "failing") fail();
    expect(open()).toBe(0);
    await clock.advance(450);
    expect(rings).toBe(0);
    for (const [name, count] of [
      ["a.jsonl", 1],
      ["a.live", 2],
    ] as const) {
      write(name, "x");
      await clock.advance(250);
      expect(rings).toBe(count);
    }
    watcher.close();
  });

  test("looks at some and asks a few per tick, however many are followed, until all had their turn", async () => {
    const { watcher, clock, asked, held, folder, write } = setUp("none");
    const ids = Array.from({ length: 200 }, (_, n) => `s${n}`);
    const rung = new Set<string>();
    for (const id of ids) {
      mkdirSync(join(folder, `${id}.lock`));
      held.add(id);
      watcher.follow(id, () => rung.add(id));
    }
    for (const id of ids) write(`${id}.jsonl`, "x");
    await clock.advance(201);
    expect([rung.size, asked.length]).toEqual([64, 4]);
    await clock.advance(600);
    expect(rung.size).toBe(200);
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked.length).toBeLessThanOrEqual(16);
    watcher.close();
  });
});

test("a process that stopped following exits, and one that follows stays alive", async () => {
  const folder = temporaryFolder();
  const child = startChild("follow-child", [folder, "s"]);
  await child.line("following");
  writeFileSync(join(folder, "leave"), "");
  await child.exited;
  expect(await child.line("left")).toBe("");
});
