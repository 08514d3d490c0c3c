/** kill -9 of a process while a sub-agent works, and what the caller and the sub-agent make of it afterwards. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import {
  type Emulator,
  type EmulatorOptions,
  loadScenario,
  startEmulator,
} from "../../src/emulator/index.ts";
import { fileStore, type LoggedEvent, type Session } from "../../src/index.ts";
import { afterTest, type Child, startChild, temporaryFolder } from "../contracts/file-fixture.ts";
import { call, inputOf, say, think } from "../contracts/session-fixture.ts";
import { historyOf, ofType } from "./crash-fixture.ts";
import { agentsOf, type SubAgentPlan } from "./sub-agent-plan.ts";

interface Crash {
  readonly child: Child;
  readonly plan: SubAgentPlan;
  readonly parentEmulator: Emulator;
  readonly childEmulator: Emulator;
  /** How often the sub-agent's tool took effect. */
  effects(): number;
}

const SCRIPT = [
  { output: [think("Delegating"), call("research", { prompt: "What is the weather in Paris?" })] },
  { output: [say("The sub-agent has answered.")] },
];

async function startCrash(change: Partial<SubAgentPlan>, childOptions: EmulatorOptions = {}): Promise<Crash> {
  const scenario = loadScenario(JSON.stringify({ steps: SCRIPT, afterwards: "error" }), "test.json");
  const [parentEmulator, childEmulator] = await Promise.all([
    startEmulator({ scenario }),
    startEmulator(childOptions),
  ]);
  afterTest(() => parentEmulator.close());
  afterTest(() => childEmulator.close());
  const folder = temporaryFolder();
  const plan: SubAgentPlan = {
    folder,
    parentUrl: parentEmulator.baseUrl,
    childUrl: childEmulator.baseUrl,
    effects: join(folder, "effects.txt"),
    ...change,
  };
  return {
    child: startChild("sub-agent-child", [JSON.stringify(plan)]),
    plan,
    parentEmulator,
    childEmulator,
    effects: () => (existsSync(plan.effects) ? readFileSync(plan.effects, "utf8").split("\n").length - 1 : 0),
  };
}

interface Resumed {
  readonly parent: readonly LoggedEvent[];
  readonly child: readonly LoggedEvent[];
}

/** Continues the caller's turn in this process. Nothing is said to the sub-agent: its call runs again. */
async function resume({ plan }: Crash): Promise<Resumed> {
  const { block: _block, dieAt: _dieAt, ...mine } = plan;
  const store = fileStore(plan.folder);
  const { parent, child } = agentsOf(mine);
  const session = await parent.open({ id: "parent", store });
  afterTest(() => session.close());
  expect(await session.resume().result()).toMatchObject({
    status: "completed",
    text: "The sub-agent has answered.",
  });
  const history = await historyOf(session);
  const [{ spent } = {}] = ofType(history, "tool_result");
  const sub = await child.open({ id: spent?.[0]?.session ?? "", store, mode: "read" });
  afterTest(() => sub.close());
  return { parent: history, child: await historyOf(sub) };
}

function expectLinked({ parent, child }: Resumed): void {
  const [asked, ...others] = ofType(parent, "tool_call");
  expect(others).toEqual([]);
  expect(ofType(child, "session_start")).toMatchObject([
    {
      session: ofType(parent, "tool_result")[0]?.spent?.[0]?.session,
      parent: { session: "parent", seq: asked?.seq, call: asked?.callId, depth: 1 },
    },
  ]);
  expect(ofType(child, "user_message")).toHaveLength(1);
  expect(ofType(child, "turn_end").map(({ status }) => status)).toEqual(["completed"]);
}

function expectAllAccepted({ parentEmulator, childEmulator }: Crash): void {
  for (const { requests, totals } of [parentEmulator.report(), childEmulator.report()]) {
    expect(requests.filter((one) => one.verdict === "refused")).toEqual([]);
    expect(totals.recall).toBe(1);
  }
}

/** The thoughts in the last request of an emulator. */
function thoughtsIn(emulator: Emulator): readonly string[] {
  const last = emulator.exchanges.filter(({ path }) => path.endsWith("/responses")).length - 1;
  return inputOf(emulator, last).flatMap((item) =>
    item["type"] === "reasoning" ? [String(item["encrypted_content"])] : [],
  );
}

/** The thoughts of each went back to the model that had them, and to no other. */
function expectOwnThoughts({ parentEmulator, childEmulator }: Crash): void {
  const [parents, childs] = [thoughtsIn(parentEmulator), thoughtsIn(childEmulator)];
  expect(parents).toHaveLength(1);
  expect(childs.length).toBeGreaterThan(0);
  expect(childs).not.toContain(parents[0]);
}

describe("kill -9, then resume of the caller", () => {
  test("while the sub-agent thinks: its request is sent again in its own session", async () => {
    const crash = await startCrash(
      {},
      { faults: [{ type: "stall", at: { where: "after", unit: "event", index: 14 } }] },
    );
    await crash.child.line("thinking");
    await crash.child.kill();
    const resumed = await resume(crash);
    expectLinked(resumed);
    expect(ofType(resumed.parent, "tool_result")).toMatchObject([{ status: "ok" }]);
    expect(crash.effects()).toBe(1);
    expect(ofType(resumed.child, "response_end").map(({ status }) => status)).toEqual([
      "cut",
      "completed",
      "completed",
    ]);
    expectOwnThoughts(crash);
    expectAllAccepted(crash);
  });

  test.each(["before", "after"] as const)(
    "while a tool of the sub-agent runs, %s its effect: the tool does not run again",
    async (when) => {
      const crash = await startCrash({ block: { when, city: "Paris" } });
      await crash.child.line(`blocked-${when}`);
      await crash.child.kill();
      const resumed = await resume(crash);
      expectLinked(resumed);
      expect(ofType(resumed.parent, "tool_result")).toMatchObject([{ status: "ok" }]);
      expect(crash.effects()).toBe(when === "after" ? 1 : 0);
      expect(ofType(resumed.child, "tool_result")).toMatchObject([{ status: "outcome_unknown" }]);
      expectOwnThoughts(crash);
      expectAllAccepted(crash);
    },
  );

  test.each([
    ["before the sub-agent's log has its first event", '"call":"', 1],
    ["before the sub-agent's first request is logged", '"type":"response_start"', 2],
    ["before the sub-agent's tool is logged as started", '"tool":"get_weather"', 1],
    ["before the result of the sub-agent's tool is logged", '"text":"Sunny', 1],
    ["before the end of the sub-agent's turn", '"type":"turn_end"', 1],
    ["between the end of the sub-agent and its caller's result", '"spent":', 1],
  ])("%s: no tool ran twice, and the caller gets one result", async (_when, text, nth) => {
    const crash = await startCrash({ dieAt: { text, nth } });
    await crash.child.exited;
    const resumed = await resume(crash);
    expectLinked(resumed);
    expect(ofType(resumed.parent, "tool_result")).toMatchObject([{ status: "ok" }]);
    expect(crash.effects()).toBe(1);
    expect(ofType(resumed.child, "response_end").map(({ status }) => status)).toEqual([
      "completed",
      "completed",
    ]);
    expectOwnThoughts(crash);
    expectAllAccepted(crash);
  });
});

test.each([
  ["while a tool of the sub-agent runs", '"text":"Sunny', "outcome_unknown"],
  ["before the end of the sub-agent's turn", '"type":"turn_end"', "ok"],
  ["between the end of the sub-agent and its caller's result", '"spent":', "ok"],
])("kill -9 %s: the caller still gets output that fits the schema", async (_when, text, status) => {
  const crash = await startCrash({ dieAt: { text, nth: 1 }, typed: true });
  await crash.child.exited;
  const { parent, child } = await resume(crash);
  const [result] = ofType(parent, "tool_result");
  expect(JSON.parse(result?.text ?? "")).toEqual({ city: [expect.any(String)] });
  expect(ofType(child, "tool_result").map((one) => one.status)).toEqual([status]);
  expect(crash.effects()).toBe(1);
  expectAllAccepted(crash);
});

test("a message instead of a resume leaves the sub-agent as it is, and says that the outcome is unknown", async () => {
  const crash = await startCrash({ block: { when: "after", city: "Paris" } });
  await crash.child.line("blocked-after");
  await crash.child.kill();
  const { block: _block, ...mine } = crash.plan;
  const session: Session = await agentsOf(mine).parent.open({ id: "parent", store: fileStore(mine.folder) });
  afterTest(() => session.close());
  expect(await session.send("Are you still there?").result()).toMatchObject({ status: "completed" });
  expect(ofType(await historyOf(session), "tool_result")).toMatchObject([{ status: "outcome_unknown" }]);
  expect(crash.effects()).toBe(1);
});
