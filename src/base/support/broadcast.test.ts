import { describe, expect, test } from "vitest";

import { Broadcast } from "./broadcast.ts";

async function drain<T>(events: AsyncIterable<T>): Promise<readonly T[]> {
  const seen: T[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

describe("Broadcast that keeps all", () => {
  test("shows every reader everything from the start, before, during and after", async () => {
    const bus = new Broadcast<number>({ keepAll: true });
    const early = drain(bus);
    bus.push([1, 2]);
    const middle = drain(bus);
    bus.push([3]);
    bus.end();
    expect(await Promise.all([early, middle, drain(bus)])).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  test("is not affected by a reader that leaves early", async () => {
    const bus = new Broadcast<number>({ keepAll: true });
    bus.push([1, 2, 3]);
    for await (const event of bus) {
      if (event === 2) break;
    }
    bus.end();
    expect(await drain(bus)).toEqual([1, 2, 3]);
  });

  test("lets a reader see only what arrives from now on", async () => {
    const bus = new Broadcast<number>({ keepAll: true });
    bus.push([1]);
    const later = drain(bus.fromNow());
    bus.push([2]);
    bus.end();
    expect(await later).toEqual([2]);
  });

  test("never makes a writer wait for a reader that does not read", () => {
    const bus = new Broadcast<number>({ keepAll: true });
    const reader = bus[Symbol.asyncIterator]();
    for (let n = 0; n < 10_000; n += 1) bus.push([n]);
    bus.end();
    return expect(reader.next()).resolves.toEqual({ done: false, value: 0 });
  });
});

describe("Broadcast that keeps nothing", () => {
  test("shows a reader what arrives after it began to listen, even if it reads later", async () => {
    const bus = new Broadcast<string>({ keepAll: false });
    bus.push(["before"]);
    const live = bus.fromNow(); // listening starts here, not at the first read
    bus.push(["after"]);
    bus.end();
    expect(await drain(live)).toEqual(["after"]);
  });

  test("wakes only the waiting reader that an abort is for", async () => {
    const bus = new Broadcast<string>({ keepAll: false });
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
    const bus = new Broadcast<string>({ keepAll: false });
    const reader = bus.fromNow(AbortSignal.abort());
    bus.push(["x"]);
    expect(await drain(reader)).toEqual([]);
  });
});

test("after the end nothing is added, and an empty batch wakes no reader", async () => {
  const bus = new Broadcast<number>({ keepAll: true });
  const next = bus[Symbol.asyncIterator]().next();
  bus.push([]);
  bus.push([1]);
  expect(await next).toEqual({ done: false, value: 1 });
  bus.end();
  bus.push([2]);
  expect(await drain(bus)).toEqual([1]);
});
