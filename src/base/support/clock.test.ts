import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { isoTime, systemClock } from "./clock.ts";

describe("systemClock.sleep", () => {
  test("resolves when the time has passed", async () => {
    const before = systemClock.monotonic();
    await systemClock.sleep(5);
    expect(systemClock.monotonic() - before).toBeGreaterThanOrEqual(4);
  });

  test("rejects with the reason as soon as it is aborted", async () => {
    const controller = new AbortController();
    const sleeping = systemClock.sleep(60_000, controller.signal);
    controller.abort(new Error("enough"));
    await expect(sleeping).rejects.toThrow("enough");
  });

  test("rejects at once if it was aborted before", async () => {
    await expect(systemClock.sleep(60_000, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });
});

describe("isoTime", () => {
  test("writes milliseconds as UTC", () => {
    expect(isoTime(0)).toBe("1970-01-01T00:00:00.000Z");
  });

  const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
  const LAST = Date.parse("9999-12-31T23:59:59.999Z");

  test("agrees with Date for any time with a four-digit year, whatever was formatted before", () => {
    const moment = fc.double({ min: FIRST, max: LAST, noNaN: true });
    fc.assert(
      fc.property(moment, fc.array(fc.integer({ min: -3000, max: 3000 })), (start, steps) => {
        for (const step of steps) {
          const ms = Math.max(FIRST, Math.min(LAST, start + step));
          expect(isoTime(ms)).toBe(new Date(ms).toISOString());
        }
      }),
    );
  });

  test.each([
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, LAST],
    [Number.NEGATIVE_INFINITY, FIRST],
    [8.64e15, LAST],
    [-8.64e15, FIRST],
    [1e300, LAST],
  ])("uses the nearest valid time if the clock says %d", (ms, near) => {
    expect(isoTime(ms)).toBe(new Date(near).toISOString());
  });
});
