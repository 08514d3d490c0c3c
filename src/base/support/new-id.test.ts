import { describe, expect, test } from "vitest";

import { createIdSource } from "./new-id.ts";

describe("createIdSource", () => {
  test("makes ids of a prefix and 25 characters that are safe in file names and URLs", () => {
    expect(createIdSource().next("ev")).toMatch(/^ev_[0-9a-hjkmnp-tv-z]{25}$/);
  });

  test("sorts by time", () => {
    let now = Date.UTC(2026, 0, 1);
    const ids = createIdSource(() => now);
    const made = Array.from({ length: 200 }, () => {
      now += 1 + (now % 997);
      return ids.next("x");
    });
    expect(made.toSorted()).toEqual(made);
  });

  test.each([-1, -1e15, 0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, 8.64e15])(
    "makes an id of the same form even if the clock says %d",
    (now) => {
      expect(createIdSource(() => now).next("ev")).toMatch(/^ev_[0-9a-hjkmnp-tv-z]{25}$/);
    },
  );

  test("sorts by creation even if the clock jumps back", () => {
    const times = [Date.UTC(2026, 0, 1), Date.UTC(2100, 0, 1), 0, -5, Number.NaN, Date.UTC(2025, 5, 1)];
    const ids = createIdSource(() => times.shift() ?? 7);
    const stems = Array.from({ length: 8 }, () => ids.next("x").slice(0, 11));
    expect(stems.toSorted()).toEqual(stems);
  });

  test("never makes the same id twice, even if the clock stands still", () => {
    const ids = createIdSource(() => 1_700_000_000_000);
    const made = new Set(Array.from({ length: 20_000 }, () => ids.next("x")));
    expect(made.size).toBe(20_000);
  });

  test("shares nothing but the time between two sources", () => {
    const [a, b] = [createIdSource(() => 0), createIdSource(() => 0)];
    expect(a.next("x").slice(0, 11)).toBe("x_000000000");
    expect(a.next("x")).not.toBe(b.next("x"));
  });
});
