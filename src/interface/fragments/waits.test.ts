import { expect, test } from "vitest";

import { LogBuilder } from "../../../test/contracts/log-builder.ts";
import { call, history, say, scriptedSession, anyTool } from "../../../test/contracts/session-fixture.ts";
import type { LoggedEvent } from "../../base/events/index.ts";
import { isoMs, isoTime, systemClock } from "../../base/support/index.ts";
import { type Block, blocksOf, openWaitMs, type ToolBlock, workedMs } from "./index.ts";

const START = isoMs("2026-11-15T10:00:00.000Z");

/** The events at the given seconds, one for each of the last events. */
const timed = ({ events }: LogBuilder, ...seconds: readonly number[]): readonly LoggedEvent[] =>
  events.map((event, index) => {
    const second = seconds[index - (events.length - seconds.length)];
    return second === undefined ? event : { ...event, at: isoTime(START + second * 1000) };
  });

const tools = (blocks: readonly Block[]): readonly ToolBlock[] =>
  blocks.filter((block) => block.kind === "tool");

const asking = (log: LogBuilder, callId: string, requestId: string): LogBuilder =>
  log.add({
    type: "permission_request",
    turn: log.turn,
    response: log.response,
    callId,
    tool: "look",
    requestId,
    access: "execute",
    arguments: "{}",
    argumentsHash: "h",
  });

const deciding = (log: LogBuilder, callId: string, requestId: string): LogBuilder =>
  log.add({
    type: "permission_decision",
    turn: log.turn,
    response: log.response,
    callId,
    requestId,
    decision: "allow",
    by: "person",
    argumentsHash: "h",
  });

const ending = (log: LogBuilder, durationMs: number): LogBuilder => {
  log.endTurn();
  const end = log.events.pop() as LoggedEvent & { readonly type: "turn_end" };
  log.events.push({ ...end, durationMs });
  return log;
};

const two = (): LogBuilder =>
  new LogBuilder()
    .settings()
    .user("go")
    .respond({
      items: [
        { type: "call", callId: "a" },
        { type: "call", callId: "b" },
      ],
    });

test("waits for permission that overlap count once, and not as work of the turn", () => {
  const log = two();
  asking(log, "a", "1");
  asking(log, "b", "2");
  deciding(log, "a", "1");
  deciding(log, "b", "2");
  log.start("a").result("a").start("b").result("b");
  const blocks = blocksOf(timed(ending(log, 60_000), 10, 20, 40, 50, 50, 52, 52, 53, 60), {
    writerAlive: false,
  });
  expect(tools(blocks).map(({ waitedMs, pausedMs }) => [waitedMs, pausedMs])).toEqual([
    [30_000, 0],
    [30_000, 0],
  ]);
  const end = blocks.at(-1);
  expect(end).toMatchObject({ kind: "turn_end", waitedMs: 40_000 });
  expect(end?.kind === "turn_end" ? workedMs(end) : undefined).toBe(20_000);
});

test("an open question says since when it waits, while it can be answered", () => {
  const log = asking(two(), "a", "1");
  const events = timed(log, 10);
  const asked = tools(blocksOf(events, { writerAlive: true }))[0] as ToolBlock;
  expect(asked.askedAt).toBe(isoTime(START + 10_000));
  expect(openWaitMs(asked, START + 52_000)).toBe(42_000);
  expect(tools(blocksOf(events, { writerAlive: false }))[0]?.askedAt).toBeUndefined();
});

test("a call that asks while it runs has worked without the wait, live and afterwards", () => {
  const log = two().start("a");
  const base = { turn: log.turn, response: log.response, callId: "a", requestId: "1" };
  const asked = { server: "s", message: "m", mode: "url", url: "https://a.example/" } as const;
  log.add({ type: "elicitation_request", ...base, ...asked });
  const live = (events: readonly LoggedEvent[], now: number): number | undefined =>
    workedMs(tools(blocksOf(events, { writerAlive: true }))[0] as ToolBlock, START + now * 1000);
  expect(live(timed(log, 10, 12), 40)).toBe(2000);
  log.add({ type: "elicitation_answer", ...base, action: "accept", by: "person" });
  expect(live(timed(log, 10, 12, 50), 55)).toBe(7000);
  log.add({ ...base, type: "tool_result", status: "ok", text: "", durationMs: 48_000 });
  const [done] = tools(blocksOf(timed(log, 10, 12, 50, 58), { writerAlive: false }));
  expect(done?.pausedMs).toBe(38_000);
  expect(workedMs(done as ToolBlock)).toBe(10_000);
});

test("a question that a crash left open is not subtracted from the turn that a resume finishes", () => {
  const log = asking(two(), "a", "1");
  asking(log, "a", "2");
  deciding(log, "a", "2");
  log.start("a").result("a");
  const blocks = blocksOf(timed(ending(log, 10_000), 10, 1000, 1004, 1004, 1005, 1006), {
    writerAlive: false,
  });
  expect(blocks.at(-1)).toMatchObject({ waitedMs: 4000 });
  expect(tools(blocks)[0]?.waitedMs).toBe(4000);
});

test("a question that is open when the turn is stopped has waited until then", () => {
  const log = asking(two(), "a", "1");
  const blocks = blocksOf(timed(ending(log, 30_000), 10, 30), { writerAlive: false });
  expect(blocks.at(-1)).toMatchObject({ waitedMs: 20_000 });
});

test("a session that waits a minute for permission has not worked that long", async () => {
  let skipped = 0;
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + skipped,
    monotonic: () => systemClock.monotonic() + skipped,
  };
  const { session } = await scriptedSession([{ output: [call("look")] }, { output: [say("Done.")] }], {
    tools: [anyTool("look", () => "it", { access: "execute" })],
    permissions: "ask",
    clock,
  });
  for await (const event of session.send("go")) {
    if (event.type !== "permission_request") continue;
    skipped += 60_000;
    await session.approve(event.requestId);
  }
  const end = blocksOf(await history(session), { writerAlive: false }).at(-1);
  if (end?.kind !== "turn_end") throw new Error("the turn has no end");
  expect(end.durationMs).toBeGreaterThanOrEqual(60_000);
  expect(end.waitedMs).toBeGreaterThanOrEqual(60_000);
  expect(workedMs(end)).toBeLessThan(60_000);
});
