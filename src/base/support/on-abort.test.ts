import { getEventListeners } from "node:events";

import { expect, test } from "vitest";

import { onAbort, untilAborted } from "./on-abort.ts";

test("any number of callbacks share one listener on the signal, and each is called once, in order", () => {
  const { signal, abort } = controlled();
  const called: number[] = [];
  for (let n = 0; n < 200; n += 1) onAbort(signal, () => called.push(n));
  expect(getEventListeners(signal, "abort").length).toBe(1);
  abort();
  abort();
  expect(called).toEqual(Array.from({ length: 200 }, (_, n) => n));
  expect(getEventListeners(signal, "abort").length).toBe(0);
});

test("a removed callback is not called, and the last one leaves nothing on the signal", () => {
  const { signal, abort } = controlled();
  const called: string[] = [];
  const listen = (name: string): (() => void) => onAbort(signal, () => called.push(name));
  const [stop, again] = [listen("first"), listen("second")];
  stop();
  stop(); // a second time does nothing
  expect(getEventListeners(signal, "abort").length).toBe(1);
  again();
  expect(getEventListeners(signal, "abort").length).toBe(0);
  listen("third");
  abort();
  expect(called).toEqual(["third"]);
});

test("a callback that another removes during the abort is not called", () => {
  const { signal, abort } = controlled();
  const called: string[] = [];
  const stops: (() => void)[] = [];
  onAbort(signal, () => stops[0]?.());
  stops.push(onAbort(signal, () => called.push("second")));
  abort();
  expect(called).toEqual([]);
});

test("a promise that fails after the wait was aborted does no harm", async () => {
  const { signal, abort } = controlled();
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  abort();
  expect(await untilAborted(Promise.reject(new Error("late")), signal)).toBeUndefined();
  await new Promise((done) => setTimeout(done, 5));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

function controlled(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
