import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../test/contracts/file-fixture.ts";
import {
  anyTool,
  call,
  history,
  inputOf,
  ofType,
  say,
  type Scripted,
  scriptedSession,
  type ScriptStep,
  think,
} from "../../../test/contracts/session-fixture.ts";
import type { LoggedEvent } from "../../base/events/index.ts";
import { fileStore } from "../log/index.ts";
import { anthropic } from "../models/index.ts";
import type { Session } from "./index.ts";
import { buildTree } from "./session-tree.ts";

const REFUSED = "http=400,code:odd_thing,message:Something odd.";

/** Two steps with a tool each, then one that the provider refuses; every later request is answered. */
const SCRIPT: readonly ScriptStep[] = [
  { output: [think("A"), call("look", { at: 1 })] },
  { output: [think("B"), call("look", { at: 2 })] },
  { output: [say("never seen")], faults: [REFUSED] },
  { output: [think("C"), say("done")] },
  { output: [say("more")] },
];

interface Failed extends Scripted {
  readonly runs: string[];
}

async function failedInALoop(
  script: readonly ScriptStep[] = SCRIPT,
  options: Parameters<typeof scriptedSession>[1] = {},
): Promise<Failed> {
  const runs: string[] = [];
  const look = anyTool("look", (args) => {
    runs.push(JSON.stringify(args));
    return `seen ${runs.length}`;
  });
  const scripted = await scriptedSession(script, { tools: [look], permissions: "auto", ...options });
  const { status } = await scripted.session.send("Look twice.").result();
  expect(["failed", "incomplete"]).toContain(status);
  return { ...scripted, runs };
}

const typesOf = (items: readonly Record<string, unknown>[]): readonly unknown[] =>
  items.map((item) => item["type"]);

const active = async (session: Session): Promise<readonly LoggedEvent[]> => {
  const events: LoggedEvent[] = [];
  for await (const event of session.events({ path: "active" })) events.push(event);
  return events;
};

const BOTH = [
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "reasoning",
  "function_call",
  "function_call_output",
];

describe("a retry of a turn that failed in a tool loop", () => {
  test("continues from the finished steps: no tool runs twice, and nothing said before is lost", async () => {
    const { session, emulator, runs } = await failedInALoop();
    const before = await history(session);
    const turn = session.retry();
    expect(await turn.result()).toMatchObject({ status: "completed", text: "done", steps: 1 });
    expect(runs).toEqual(['{"at":1}', '{"at":2}']);
    const log = await history(session);
    expect(log.slice(0, before.length)).toEqual(before);
    const results = ofType(before, "tool_result");
    const settled = before.findLast(({ type }) => type === "tool_result" || type === "settings");
    expect(ofType(log, "branch")).toMatchObject([{ why: "retry", to: settled?.seq, turn: turn.id }]);
    expect(results).toHaveLength(2);
    // The very request that was refused, byte for byte (law 4).
    expect(emulator.exchanges.at(-1)?.requestText).toBe(emulator.exchanges.at(-2)?.requestText);
    expect(typesOf(inputOf(emulator, 3))).toEqual(BOTH);
    expect(await session.send("And now?").result()).toMatchObject({ status: "completed", text: "more" });
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("keeps them on another model too, as plain meaning", async () => {
    const { session, runs, emulator } = await failedInALoop(SCRIPT.slice(0, 3));
    const baseUrl = emulator.baseUrl.replace(/\/v1$/, "");
    await session.setModel(anthropic("emu-claude", { baseUrl, apiKey: "k" }));
    expect(await session.retry().result()).toMatchObject({ status: "completed" });
    expect(runs).toHaveLength(2);
    const last = ofType(await history(session), "response_start").at(-1);
    expect(last?.origin.model).toBe("emu-claude");
    const path = await active(session);
    expect(ofType(path, "tool_result")).toHaveLength(2);
    expect(ofType(path, "turn_end")).toMatchObject([{ status: "completed" }]);
  });

  test("starts from the message if requested", async () => {
    const { session, emulator, runs } = await failedInALoop();
    expect(await session.retry({ from: "message" }).result()).toMatchObject({ status: "completed" });
    expect(typesOf(inputOf(emulator, 3))).toEqual(["message"]);
    expect(runs).toHaveLength(2);
  });

  test("keeps what was finished if it fails again, however often", async () => {
    const again = { output: [say("never seen")], faults: [REFUSED] };
    const script = [
      ...SCRIPT.slice(0, 3),
      again,
      { output: [call("look", { at: 3 })] },
      again,
      ...SCRIPT.slice(3),
    ];
    const { session, runs, emulator } = await failedInALoop(script);
    expect((await session.retry().result()).status).toBe("failed");
    expect((await session.retry().result()).status).toBe("failed");
    expect(await session.retry().result()).toMatchObject({ status: "completed", text: "done" });
    expect(runs).toEqual(['{"at":1}', '{"at":2}', '{"at":3}']);
    expect(typesOf(inputOf(emulator, 6))).toEqual([...BOTH, "function_call", "function_call_output"]);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("shows each step once, and is a sibling of the turn that failed", async () => {
    const { session } = await failedInALoop();
    await session.retry().result();
    const [first, second, ...more] = buildTree(await history(session));
    expect(more).toEqual([]);
    expect([first?.status, first?.active, second?.status, second?.why, second?.text, second?.active]).toEqual(
      ["failed", false, "completed", "retry", "Look twice.", true],
    );
    const path = await active(session);
    expect(ofType(path, "response_start").map(({ step }) => step)).toEqual([1, 2, 1]);
    expect(ofType(path, "response_end").every(({ status }) => status === "completed")).toBe(true);
  });
});

describe("a retry after a limit", () => {
  test("of steps repeats the calls that were not run, and keeps those that were", async () => {
    const { session, runs, emulator } = await failedInALoop([...SCRIPT.slice(0, 2), ...SCRIPT.slice(3)], {
      limits: { maxSteps: 2 },
    });
    expect(runs).toEqual(['{"at":1}']);
    expect(await session.retry().result()).toMatchObject({ status: "completed", text: "done" });
    expect(typesOf(inputOf(emulator, 2))).toEqual(BOTH.slice(0, 4));
  });

  test("of the answer's length repeats the step that was cut", async () => {
    const cut = { status: "incomplete", reason: "max_output_tokens", output: [think("B"), say("Half")] };
    const { session, runs, emulator } = await failedInALoop([
      SCRIPT[0] as ScriptStep,
      cut,
      ...SCRIPT.slice(3),
    ]);
    expect(await session.retry().result()).toMatchObject({ status: "completed", text: "done" });
    expect([runs.length, typesOf(inputOf(emulator, 2))]).toEqual([1, BOTH.slice(0, 4)]);
  });
});

test("a turn that failed before any tool ran is answered from its message", async () => {
  const { session, emulator } = await failedInALoop([SCRIPT[2] as ScriptStep, ...SCRIPT.slice(3)]);
  const message = ofType(await history(session), "user_message")[0];
  await session.retry().result();
  expect(ofType(await history(session), "branch")).toMatchObject([{ to: message?.seq }]);
  expect(typesOf(inputOf(emulator, 1))).toEqual(["message"]);
});

test("a turn that a person stopped is answered from its message", async () => {
  const { session, emulator } = await scriptedSession([SCRIPT[0] as ScriptStep, ...SCRIPT.slice(3)], {
    tools: [anyTool("look", () => session.cancel().then(() => "seen"))],
    permissions: "auto",
  });
  expect((await session.send("Look.").result()).status).toBe("cancelled");
  await session.retry().result();
  expect(typesOf(inputOf(emulator, 1))).toEqual(["message"]);
});

test.each(["resume", "send", "retry"] as const)(
  "a process that dies between the branch and the first request loses nothing on %s",
  async (next) => {
    const store = fileStore(temporaryFolder());
    const { session, agent, runs } = await failedInALoop(SCRIPT, { store });
    const path = await active(session);
    await session.close();
    // Only what the retry writes first.
    const log = await store.open("s1", { mode: "write" });
    const to = path.findLast(({ type }) => type === "tool_result")?.seq ?? -1;
    await log.append([{ type: "branch", turn: "tn_died", to, why: "retry" }]);
    await log.close();
    const opened = await agent.open({ id: "s1", store });
    expect(opened.interrupted).toBe(true);
    const turn = next === "send" ? opened.send("Go on.") : opened[next]();
    expect(await turn.result()).toMatchObject({ status: "completed", text: "done" });
    // From the message on after an interruption: the turn did not fail.
    expect(runs).toHaveLength(2);
    const kept = ofType(await active(opened), "tool_result");
    expect(kept).toHaveLength(next === "retry" ? 0 : 2);
    await opened.close();
  },
);
