import { expect, test, vi } from "vitest";

import { afterTest } from "../../../test/contracts/file-fixture.ts";
import { type Settlement, settleInTime } from "./settle-in-time.ts";

const LONG = 60_000;

interface Trial {
  readonly outcome: Promise<Settlement>;
  readonly late: Settlement[];
  readonly controller: AbortController;
}

function run(
  work: (signal: AbortSignal) => unknown,
  options: { readonly timeoutMs?: number; readonly graceMs?: number; readonly aborted?: boolean } = {},
): Trial {
  const controller = new AbortController();
  if (options.aborted === true) controller.abort(new Error("before"));
  const late: Settlement[] = [];
  const outcome = settleInTime(work, {
    signal: controller.signal,
    timeoutMs: options.timeoutMs ?? LONG,
    graceMs: options.graceMs ?? LONG,
    onLate: (what) => late.push(what),
  });
  return { outcome, late, controller };
}

let begun: (() => void) | undefined;

/** Ends only when told to stop. */
const untilStopped = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    begun?.();
    signal.addEventListener("abort", () => resolve((signal.reason as Error).message));
  });

test("a returned value is the result, at once or later", async () => {
  expect(await run(() => 7).outcome).toEqual({ how: "returned", value: 7 });
  expect(await run(async () => undefined).outcome).toEqual({ how: "returned", value: undefined });
});

test("a thrown value is the error, at once or later, whatever it is", async () => {
  const error = new Error("bad");
  expect(
    await run(() => {
      throw error;
    }).outcome,
  ).toEqual({ how: "threw", error });
  // oxlint-disable-next-line prefer-promise-reject-errors -- tools reject with anything
  expect(await run(() => Promise.reject("text")).outcome).toEqual({ how: "threw", error: "text" });
});

test("work that times out is notified by its signal, and counts as stopped when it ends", async () => {
  let told = "";
  const { outcome, late } = run(
    async (signal) => {
      told = await untilStopped(signal);
    },
    { timeoutMs: 1 },
  );
  expect(await outcome).toEqual({ how: "timed_out", stopped: true });
  expect([told, late]).toEqual(["the tool ran out of time", []]);
});

test("an abort is passed on, and a tool that then throws counts as stopped", async () => {
  const running = new Promise<void>((done) => {
    begun = done;
  });
  const { outcome, controller } = run(async (signal) => {
    throw new Error(await untilStopped(signal));
  });
  await running;
  controller.abort(new Error("user"));
  expect(await outcome).toEqual({ how: "aborted", stopped: true });
});

test("work stopped before it began never runs", async () => {
  let ran = 0;
  const { outcome } = run(() => (ran += 1), { aborted: true });
  expect(await outcome).toEqual({ how: "aborted", stopped: true });
  const { outcome: second, controller } = run(() => (ran += 1));
  controller.abort();
  expect(await second).toEqual({ how: "aborted", stopped: true });
  expect(ran).toBe(0);
});

test("work that ignores its signal is abandoned after the grace period, and its late end is reported once", async () => {
  let finish: ((value: string) => void) | undefined;
  const { outcome, late } = run(
    () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
    { timeoutMs: 1, graceMs: 1 },
  );
  expect(await outcome).toEqual({ how: "timed_out", stopped: false });
  expect(late).toEqual([]);
  finish?.("too late");
  await Promise.resolve();
  await Promise.resolve();
  await Promise.resolve();
  expect(late).toEqual([{ how: "returned", value: "too late" }]);
});

test("a late failure is reported with its error", async () => {
  let fail: ((error: Error) => void) | undefined;
  const { outcome, late, controller } = run(
    () =>
      new Promise((_resolve, reject) => {
        fail = reject;
      }),
    { graceMs: 1 },
  );
  await new Promise((done) => setImmediate(done)); // so that it has begun
  controller.abort();
  expect(await outcome).toEqual({ how: "aborted", stopped: false });
  const error = new Error("exploded");
  fail?.(error);
  await new Promise((done) => setImmediate(done));
  expect(late).toEqual([{ how: "threw", error }]);
});

test("the time limit rests while a person is asked, and what was left of it runs afterwards", async () => {
  vi.useFakeTimers();
  afterTest(() => vi.useRealTimers());
  let answer: (() => void) | undefined;
  const controller = new AbortController();
  const seen: Settlement[] = [];
  void settleInTime(
    async (signal, paused) => {
      await paused(() =>
        Promise.all([
          paused(async () => undefined), // one of two questions is answered at once
          new Promise<void>((resolve) => {
            answer = resolve;
          }),
        ]),
      );
      return untilStopped(signal);
    },
    { signal: controller.signal, timeoutMs: 1000, graceMs: 1000, onLate: () => undefined },
  ).then((outcome) => seen.push(outcome));
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(seen).toEqual([]);
  answer?.();
  await vi.advanceTimersByTimeAsync(999);
  expect(seen).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(seen).toEqual([{ how: "timed_out", stopped: true }]);
});

test("after a result neither the timeout nor an abort changes anything", async () => {
  const { outcome, controller, late } = run(() => "done", { timeoutMs: 1 });
  expect(await outcome).toEqual({ how: "returned", value: "done" });
  controller.abort();
  expect([await outcome, late]).toEqual([{ how: "returned", value: "done" }, []]);
});
