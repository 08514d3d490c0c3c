/** The wall clock jumps between any two events: to 1970, to 2100, back by hours, to an invalid time. */

import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import { instantClock } from "../../../test/support/instant-clock.ts";
import type { Clock } from "../../base/support/index.ts";
import { createAgent, emulator, fileStore, type LoggedEvent, memoryStore } from "../../index.ts";

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 17, 12);
const JUMPS: Readonly<Record<string, readonly number[]>> = {
  "back by hours": [NOW, NOW - 5 * HOUR, NOW - 9 * HOUR],
  "forward and back by years": [NOW, Date.UTC(2100, 0, 1), NOW, Date.UTC(1999, 11, 31, 23, 59, 59, 999)],
  "to 1970 and before": [0, -1, NOW, -62_167_219_200_001],
  "to invalid times": [Number.NaN, NOW, Number.POSITIVE_INFINITY, -Number.MAX_VALUE, 8.64e15 + 1],
};

/** A clock that returns another time at each call. */
function jumpingClock(times: readonly number[]): Clock {
  let looks = 0;
  return { ...instantClock(), now: () => times[(looks += 1) % times.length] ?? NOW };
}

test.each(
  Object.keys(JUMPS).flatMap((how) => (["memory", "file"] as const).map((place) => [how, place] as const)),
)(
  "if the clock jumps %s, in a %s store, turns complete, no event is lost, and no time is negative",
  async (how, place) => {
    const clock = jumpingClock(JUMPS[how] ?? []);
    const store = place === "memory" ? memoryStore({ clock }) : fileStore(temporaryFolder(), { clock });
    const agent = createAgent({ model: emulator(), clock });
    const seen: LoggedEvent[] = [];
    for (const text of ["Hello", "Think of a number", "And now?"]) {
      const session = await agent.open({ id: "s", store });
      expect(await session.send(text).result()).toMatchObject({ status: "completed" });
      await session.close();
    }
    const log = await store.open("s", { mode: "read" });
    seen.push(...log.events);
    await log.close();
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index));
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
    expect(seen.filter(({ at }) => Number.isNaN(Date.parse(at)))).toEqual([]);
    expect(seen.filter(({ type }) => type === "turn_end")).toHaveLength(3);
    const durations = seen.flatMap((event) => ("durationMs" in event ? [event.durationMs as number] : []));
    expect(durations.filter((ms) => !(ms >= 0 && ms < HOUR))).toEqual([]);
  },
);
