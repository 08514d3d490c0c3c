/** A message that was taken back before its turn began leaves nothing in the conversation. */

import { expect, test } from "vitest";

import { say as answer, scriptedSession } from "../../../test/contracts/session-fixture.ts";
import type { LoggedEvent } from "../../base/events/index.ts";
import { blocksOf } from "./index.ts";

const endings = (log: readonly LoggedEvent[]): number =>
  blocksOf(log, { writerAlive: false }).filter(({ kind }) => kind === "turn_end").length;

test("the end of a turn that never began is not shown, and a stopped turn is", async () => {
  const { session } = await scriptedSession([{ output: [answer("One")] }]);
  await session.send("First").result();
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  await session.close();
  const last = events.at(-1);
  expect(last?.type).toBe("turn_end");
  const cancelled = { ...last, status: "cancelled" } as LoggedEvent;
  expect(endings([...events.slice(0, -1), cancelled])).toBe(1);
  expect(endings([...events, { ...cancelled, turn: "tn_never", seq: cancelled.seq + 1 }])).toBe(1);
});
