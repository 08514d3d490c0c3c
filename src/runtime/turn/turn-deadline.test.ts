import { describe, expect, test, vi } from "vitest";

import { afterTest } from "../../../test/contracts/file-fixture.ts";
import {
  anyTool,
  call,
  gate,
  history,
  ofType,
  play,
  say,
  scriptedSession,
} from "../../../test/contracts/session-fixture.ts";
import type { SessionEvent } from "../../base/events/index.ts";
import type { PermissionDecision } from "./context.ts";
import { TurnDeadline } from "./turn-deadline.ts";

/** Runs out when the test says so. */
function timeOfATurn(): { readonly ms: number; isOver(): void } {
  const ms = 3_456_789;
  let isOver: (() => void) | undefined;
  const real = globalThis.setTimeout;
  vi.spyOn(globalThis, "setTimeout").mockImplementation((run: () => void, after?: number) => {
    if (after === ms) isOver = run;
    return real(run, after);
  });
  return { ms, isOver: () => isOver?.() };
}

describe("the time limit of a turn", () => {
  test("stops a tool, ends the turn as incomplete: time, and does not affect the next turn", async () => {
    // Runs out once the tool has begun, however slow the machine is.
    const time = timeOfATurn();
    const { session, emulator } = await scriptedSession(
      [{ output: [call("wait")] }, { output: [say("ok")] }],
      {
        limits: { turnTimeoutMs: time.ms },
        tools: [
          anyTool(
            "wait",
            (_input, { signal }) =>
              new Promise((_done, fail) => {
                signal.addEventListener("abort", () => fail(signal.reason as Error));
                time.isOver();
              }),
          ),
        ],
      },
    );
    const { result, events } = await play(session.send("go"));
    expect(result).toMatchObject({ status: "incomplete", reason: "time" });
    expect(ofType(events, "tool_result")).toMatchObject([
      { status: "cancelled", text: expect.stringContaining("the turn ran out of time") as string },
    ]);
    expect(ofType(events, "turn_end")).toHaveLength(1);
    const preview = await session.preview();
    expect(preview.violations).toEqual([]);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("stops a provider that never ends", async () => {
    const time = timeOfATurn();
    const { session } = await scriptedSession(undefined, {
      limits: { turnTimeoutMs: time.ms, maxRetries: 0 },
      emulator: { paceMs: 600_000 },
    });
    const turn = session.send("hello");
    const events: SessionEvent[] = [];
    for await (const event of turn) {
      events.push(event);
      if (event.type === "response_start") time.isOver();
    }
    expect(await turn.result()).toMatchObject({ status: "incomplete", reason: "time" });
    expect(ofType(events, "response_end")).toMatchObject([{ status: "cancelled" }]);
  });

  test("is suspended while a person is asked", async () => {
    vi.useFakeTimers();
    afterTest(() => void vi.useRealTimers());
    const deadline = new TurnDeadline(1000, new AbortController().signal);
    const answer = gate<PermissionDecision>();
    vi.advanceTimersByTime(600);
    const asked = deadline.paused(() => answer.promise);
    vi.advanceTimersByTime(60_000);
    expect(deadline.ranOut).toBe(false);
    answer.open({ decision: "allow" });
    await asked;
    vi.advanceTimersByTime(399);
    expect(deadline.ranOut).toBe(false);
    vi.advanceTimersByTime(1);
    expect([deadline.ranOut, deadline.signal.aborted]).toEqual([true, true]);
  });

  test("is not reported for a turn that a person stopped", async () => {
    const { session } = await scriptedSession(undefined, { emulator: { paceMs: 10_000 } });
    const turn = session.send("hello");
    for await (const event of turn) if (event.type === "response_start") turn.cancel();
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    expect(ofType(await history(session), "turn_end")).toHaveLength(1);
  });
});

test("arguments that nest too deep are refused with a result for the model, and the tool does not run", async () => {
  let ran = 0;
  const deep = `{"a":${"[".repeat(200)}${"]".repeat(200)}}`;
  const { session } = await scriptedSession([{ output: [call("look", deep)] }, { output: [say("sorry")] }], {
    tools: [anyTool("look", () => (ran += 1))],
  });
  const { result, events } = await play(session.send("go"));
  expect(result).toMatchObject({ status: "completed" });
  expect(ran).toBe(0);
  expect(ofType(events, "tool_result")).toMatchObject([
    { status: "error", text: expect.stringContaining("levels deep") as string },
  ]);
});

test("a tool that ignores the signal is abandoned, and its late end is a notice", async () => {
  const held = gate();
  const begun = gate();
  const { session } = await scriptedSession([{ output: [call("stubborn")] }, { output: [say("ok")] }], {
    limits: { toolTimeoutMs: 5, toolGraceMs: 5 },
    tools: [
      anyTool("stubborn", async () => {
        begun.open();
        await held.promise;
        return "at last";
      }),
    ],
  });
  const { result, events } = await play(session.send("go"));
  expect(result).toMatchObject({ status: "completed" });
  expect(ofType(events, "tool_result")).toMatchObject([{ status: "timeout" }]);
  const late = (async () => {
    for await (const event of session.follow()) if (event.type === "notice") return event;
    return undefined;
  })();
  held.open();
  expect(await late).toMatchObject({ code: "late_result" });
});
