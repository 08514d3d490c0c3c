/** A session whose log becomes full: every turn ends, the log still opens, and the remedy in the message works. */

import { statSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import {
  anyTool,
  call,
  gate,
  history,
  ofType,
  say,
  scriptedSession,
  type ScriptStep,
  think,
} from "../../../test/contracts/session-fixture.ts";
import { fileStore } from "../log/index.ts";
import { frameLine } from "../log/line-framing.ts";
import { previewFromLog } from "./previews.ts";

const LARGEST = 200_000;
const SOFT = LARGEST * (3 / 4);
const words = (bytes: number): string => "word ".repeat(Math.round(bytes / 5));

async function limited(
  script: readonly ScriptStep[],
  tools = [anyTool("look", () => "seen")],
  largestLogBytes = LARGEST,
) {
  const folder = temporaryFolder();
  const store = fileStore(folder, { largestLogBytes });
  const parts = await scriptedSession(script, { store, tools });
  const size = (id = "s1"): number => statSync(join(folder, `${id}.jsonl`)).size;
  const reopened = async (id = "s1") => fileStore(folder).open(id, { mode: "read" });
  return { ...parts, folder, store, size, reopened };
}

/** A message that leaves this many bytes before nothing new can begin. */
const leaving = (bytes: number): string => words(SOFT - bytes);

const answers = (...sizes: readonly number[]): readonly ScriptStep[] =>
  sizes.map((size) => ({ output: [think("A"), say(words(size))] }));

const TOO_LARGE = { code: "log_too_large" };

describe("a log that is full", () => {
  test("accepts no new turn: the caller gets an error at once, and nothing is written", async () => {
    const { session, size } = await limited(answers(5000));
    await session.send(leaving(6000)).result();
    const before = size();
    expect(before).toBeGreaterThan(SOFT);
    const message = (await history(session)).find((event) => event.type === "user_message")?.seq ?? 0;
    expect(() => session.send("two")).toThrow(expect.objectContaining(TOO_LARGE));
    expect(() => session.retry()).toThrow(expect.objectContaining(TOO_LARGE));
    expect(() => session.edit(message, "another")).toThrow(expect.objectContaining(TOO_LARGE));
    expect(size()).toBe(before);
  });

  test("refuses a turn that was waiting when it became full, and writes no end without a beginning", async () => {
    const { session, size } = await limited(answers(5000));
    const turns = [session.send(leaving(6000)), session.send("two")];
    expect(await turns[0]?.result()).toMatchObject({ status: "completed" });
    const before = size();
    expect(await turns[1]?.result()).toMatchObject({ status: "failed", error: TOO_LARGE, steps: 0 });
    expect(size()).toBe(before);
    expect(ofType(await history(session), "turn_end")).toHaveLength(1);
  });

  test("continues in a compacted fork: smaller, with the same next request, and the old log still opens", async () => {
    const script = [...answers(10, 5000), { output: [say("the summary")] }, ...answers(10, 10)];
    const { session, store, size, reopened } = await limited(script);
    await session.send("one").result();
    await session.send(leaving(10_000)).result();
    expect(() => session.send("three")).toThrow(expect.objectContaining(TOO_LARGE));
    await session.compact({ keepTurns: 0 });
    const whole = await session.fork({ id: "whole" });
    await whole.close();
    expect(size("whole")).toBeGreaterThan(SOFT);
    const child = await session.fork({ id: "small", compacted: true });
    expect(size("small")).toBeLessThan(SOFT / 5);
    const [next, inParent] = await Promise.all(
      ["small", "s1"].map(async (id) => previewFromLog(await store.open(id, { mode: "read" }))),
    );
    expect(next?.body).toBe(inParent?.body);
    expect(await child.send("three").result()).toMatchObject({ status: "completed" });
    await child.close();
    await session.close();
    expect(ofType((await reopened()).events, "compaction")).toHaveLength(1);
  });
});

describe("a turn that is running when the log becomes full", () => {
  test("fails if its answer does not fit, with its response closed and one end", async () => {
    const { session, reopened } = await limited(answers(LARGEST / 8));
    const result = await session.send(leaving(6000)).result();
    expect(result).toMatchObject({ status: "failed", error: TOO_LARGE });
    await session.close();
    const { events } = await reopened();
    expect(events.map(({ type }) => type).slice(-2)).toEqual(["response_end", "turn_end"]);
    expect(ofType(events, "response_end")).toMatchObject([{ status: "failed", error: TOO_LARGE }]);
    expect(ofType(events, "turn_end")).toMatchObject([{ status: "failed", error: TOO_LARGE }]);
  });

  test("ends after its tools if it needs another step, and every call has its result", async () => {
    const script = [{ output: [think("A"), say(words(5000)), call("look")] }, ...answers(10)];
    const { session, emulator, reopened } = await limited(script);
    const { status, error } = await session.send(leaving(6000)).result();
    expect({ status, error }).toMatchObject({ status: "failed", error: TOO_LARGE });
    await session.close();
    const { events } = await reopened();
    expect(ofType(events, "tool_result")).toMatchObject([{ status: "ok" }]);
    expect(ofType(events, "turn_end")).toHaveLength(1);
    expect(emulator.exchanges).toHaveLength(1);
  });

  test("runs no tool that can no longer be logged as started, and says so to the model", async () => {
    let ran = 0;
    const tools = [anyTool("look", () => (ran += 1))];
    const script = [{ output: [call("look", { at: words(90_000) })] }, { output: [say("seen")] }];
    const measured = await limited(script, tools, 10 * LARGEST);
    await measured.session.send("one").result();
    const whole = await history(measured.session);
    const ended = whole.findIndex(({ type }) => type === "response_end");
    const bytes = whole.slice(0, ended + 1).reduce((sum, event) => sum + frameLine(event).length, 0);
    expect(ran).toBe(1);
    // The answer fits, but the start of its tool does not.
    const { session, reopened } = await limited(script, tools, Math.ceil((bytes + 60) * (128 / 127)));
    const { status, error } = await session.send("one").result();
    expect({ status, error }).toMatchObject({ status: "failed", error: TOO_LARGE });
    await session.close();
    const { events } = await reopened();
    expect(ran).toBe(1);
    expect(ofType(events, "tool_start")).toEqual([]);
    expect(ofType(events, "tool_result")).toMatchObject([{ status: "not_executed" }]);
    expect(ofType(events, "turn_end")).toHaveLength(1);
  });

  test("still has its end if a person stops it", async () => {
    const began = gate();
    const tools = [
      anyTool("look", (_input, { signal }) => {
        began.open();
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve("stopped"), { once: true });
        });
      }),
    ];
    const { session } = await limited([{ output: [say(words(5000)), call("look")] }], tools);
    const turn = session.send(leaving(6000));
    await began.promise;
    turn.cancel();
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    expect(ofType(await history(session), "turn_end")).toHaveLength(1);
  });
});

test("a compacted fork needs a summary", async () => {
  const { session } = await limited(answers(10));
  await session.send("one").result();
  await expect(session.fork({ compacted: true })).rejects.toMatchObject({ code: "not_compacted" });
});
