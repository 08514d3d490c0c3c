import { describe, expect, test } from "vitest";

import { createIdSource } from "./new-id.ts";

describe("createIdSource", () => {
  test("makes ids of a prefix and 25 characters that are safe in files and addresses", () => {
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

  test("never makes the same id twice, though the clock stands still", () => {
    const ids = createIdSource(() => 1_700_000_000_000);
    const made = new Set(Array.from({ length: 20_000 }, () => ids.next("x")));
    expect(made.size).toBe(20_000);
  });

  test("two sources share nothing but the time", () => {
    const [a, b] = [createIdSource(() => 0), createIdSource(() => 0)];
    expect(a.next("x").slice(0, 11)).toBe("x_000000000");
    expect(a.next("x")).not.toBe(b.next("x"));
  });
});
