import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { isoTime, systemClock } from "./clock.ts";

describe("systemClock.sleep", () => {
  test("resolves after the time", async () => {
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

  test("rejects at once when it was aborted before", async () => {
    await expect(systemClock.sleep(60_000, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });
});

describe("isoTime", () => {
  test("writes milliseconds as UTC", () => {
    expect(isoTime(0)).toBe("1970-01-01T00:00:00.000Z");
  });

  test("says of any moment what Date says, whatever was asked before", () => {
    const moment = fc.double({ min: -8.64e15, max: 8.64e15, noNaN: true });
    fc.assert(
      fc.property(moment, fc.array(fc.integer({ min: -3000, max: 3000 })), (start, steps) => {
        for (const step of steps) {
          const ms = Math.max(-8.64e15, Math.min(8.64e15, start + step));
          expect(isoTime(ms)).toBe(new Date(ms).toISOString());
        }
      }),
    );
  });

  test("of what is no moment throws, as Date does", () => {
    expect(() => isoTime(Number.NaN)).toThrow(RangeError);
  });
});
