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

test("isoTime writes milliseconds as UTC", () => {
  expect(isoTime(0)).toBe("1970-01-01T00:00:00.000Z");
});
