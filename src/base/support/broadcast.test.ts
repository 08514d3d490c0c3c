import { describe, expect, test } from "vitest";

import { Broadcast } from "./broadcast.ts";

async function drain<T>(events: AsyncIterable<T>): Promise<readonly T[]> {
  const seen: T[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

describe("a reader of a Broadcast", () => {
  test("sees what it is given first, then everything that arrives, at its own pace", async () => {
    const bus = new Broadcast<number>();
    const early = drain(bus.fromNow());
    bus.push([1, 2]);
    const middle = drain(bus.fromNow(undefined, [1, 2]));
    const later = drain(bus.fromNow());
    bus.push([3]);
    bus.end();
    const after = drain(bus.fromNow(undefined, [1, 2, 3]));
    expect(await Promise.all([early, middle, later, after])).toEqual([[1, 2, 3], [1, 2, 3], [3], [1, 2, 3]]);
  });

  test("does not affect others if it leaves early", async () => {
    const bus = new Broadcast<number>();
    const other = drain(bus.fromNow());
    const leaving = bus.fromNow();
    bus.push([1, 2, 3]);
    for await (const event of leaving) {
      if (event === 2) break;
    }
    bus.end();
    expect(await other).toEqual([1, 2, 3]);
  });

  test("never makes a writer wait if it does not read", () => {
    const bus = new Broadcast<number>();
    const reader = bus.fromNow();
    for (let n = 0; n < 10_000; n += 1) bus.push([n]);
    bus.end();
    return expect(reader.next()).resolves.toEqual({ done: false, value: 0 });
  });

  test("shows a reader what arrives after it began to listen, even if it reads later", async () => {
    const bus = new Broadcast<string>();
    bus.push(["before"]);
    const live = bus.fromNow(); // listening starts here, not at the first read
    bus.push(["after"]);
    bus.end();
    expect(await drain(live)).toEqual(["after"]);
  });

  test("wakes only the waiting reader that an abort is for", async () => {
    const bus = new Broadcast<string>();
    const controller = new AbortController();
    const stopped = drain(bus.fromNow(controller.signal));
    const other = drain(bus.fromNow());
    controller.abort();
    expect(await stopped).toEqual([]);
    bus.push(["late"]);
    bus.end();
    expect(await other).toEqual(["late"]);
  });

  test("shows nothing to a reader whose signal was aborted before", async () => {
    const bus = new Broadcast<string>();
    const reader = bus.fromNow(AbortSignal.abort());
    bus.push(["x"]);
    expect(await drain(reader)).toEqual([]);
  });
});

test("after the end nothing is added, and an empty batch wakes no reader", async () => {
  const bus = new Broadcast<number>();
  const reader = bus.fromNow();
  const next = reader.next();
  bus.push([]);
  bus.push([1]);
  expect(await next).toEqual({ done: false, value: 1 });
  bus.end();
  bus.push([2]);
  expect(await drain(reader)).toEqual([]);
});
