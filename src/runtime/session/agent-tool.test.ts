import { describe, expect, test } from "vitest";
import { z } from "zod";

import { afterTest } from "../../../test/contracts/file-fixture.ts";
import {
  anyTool,
  call,
  eventsOf,
  gate,
  history,
  inputOf,
  KEY,
  ofType,
  say,
  scriptedSession,
  type ScriptStep,
} from "../../../test/contracts/session-fixture.ts";
import { type Emulator, loadScenario, startEmulator } from "../../emulator/index.ts";
import { factsOf } from "../facts/index.ts";
import { memoryStore } from "../log/index.ts";
import { emulator, openai, priced } from "../models/index.ts";
import type { Model, Price } from "../providers/index.ts";
import { agentTool, type AgentToolOptions } from "./agent-tool.ts";
import { createAgent } from "./agent.ts";
import type { Agent, AgentOptions, Session } from "./types.ts";

async function scripted(
  steps: readonly ScriptStep[],
): Promise<{ readonly model: Model; readonly emulator: Emulator }> {
  const scenario = loadScenario(JSON.stringify({ steps, afterwards: "error" }), "test.json");
  const started = await startEmulator({ scenario });
  afterTest(() => started.close());
  return {
    model: openai("emu-reasoner", { apiKey: KEY, baseUrl: started.baseUrl }),
    emulator: started,
  };
}

const ask = (prompt = "Look it up."): object => call("research", { prompt });
const dollars = (input: number): Price => ({
  input: input * 1_000_000,
  cachedInput: input * 1_000_000,
  output: input * 1_000_000,
  asOf: "now",
  source: "test",
});

interface Family {
  readonly session: Session;
  readonly child: Agent;
  readonly childEmulator: Emulator;
  readonly parentEmulator: Emulator;
  readonly store: ReturnType<typeof memoryStore>;
}

async function family(
  parentSteps: readonly ScriptStep[],
  childSteps: readonly ScriptStep[],
  more: {
    readonly parent?: Partial<AgentOptions>;
    readonly child?: Partial<AgentOptions>;
    readonly tool?: Partial<AgentToolOptions>;
  } = {},
): Promise<Family> {
  const own = await scripted(childSteps);
  const child = createAgent({ model: own.model, ...more.child });
  const research = agentTool({ name: "research", description: "Researches", agent: child, ...more.tool });
  const store = memoryStore();
  const { session, emulator: parentEmulator } = await scriptedSession(parentSteps, {
    tools: [research],
    store,
    afterwards: "error",
    ...more.parent,
  });
  return { session, child, childEmulator: own.emulator, parentEmulator, store };
}

async function subSession({ session, child, store }: Family, nth = 0): Promise<Session> {
  const results = ofType(await history(session), "tool_result");
  const id = results.flatMap(({ spent = [] }) => spent)[nth]?.session ?? "";
  const sub = await child.open({ id, store, mode: "read" });
  afterTest(() => sub.close());
  return sub;
}

const DONE: ScriptStep = { output: [say("done")] };

describe("a sub-agent", () => {
  test("answers in its own session, which is linked to the call both ways", async () => {
    const all = await family([{ output: [ask()] }, DONE], [{ output: [say("Found it.")] }]);
    expect(await all.session.send("go").result()).toMatchObject({ status: "completed", text: "done" });
    const events = await history(all.session);
    const [asked] = ofType(events, "tool_call");
    const sub = await subSession(all);
    const childEvents = await history(sub);
    const usage = { ...sub.usage };
    expect(ofType(events, "tool_result")).toMatchObject([
      { status: "ok", text: "Found it.", spent: [{ session: sub.id, usage }] },
    ]);
    expect(childEvents[0]).toMatchObject({
      type: "session_start",
      session: sub.id,
      root: sub.id,
      parent: { session: all.session.id, seq: asked?.seq, call: asked?.callId, depth: 1 },
    });
    expect(ofType(childEvents, "user_message")).toMatchObject([
      { by: "person", content: [{ type: "text", text: "Look it up." }] },
    ]);
    expect(JSON.stringify(inputOf(all.parentEmulator, 1).at(-1))).toContain("Found it.");
  });

  test("runs several times in parallel, each in its own session", async () => {
    const all = await family(
      [{ output: [ask("one"), ask("two")] }, DONE],
      [
        { when: "one", output: [say("first")] },
        { when: "two", output: [say("second")] },
      ],
    );
    await all.session.send("go").result();
    const results = ofType(await history(all.session), "tool_result");
    expect(results.map(({ text }) => text).toSorted()).toEqual(["first", "second"]);
    expect(new Set(results.map(({ spent }) => spent?.[0]?.session)).size).toBe(2);
  });

  test("runs inside the parallel wrapper too: one result names both sessions", async () => {
    const uses = ["one", "two"].map((prompt) => ({
      recipient_name: "functions.research",
      parameters: { prompt },
    }));
    const all = await family(
      [{ output: [call("multi_tool_use.parallel", { tool_uses: uses })] }, DONE],
      [
        { when: "one", output: [say("first")] },
        { when: "two", output: [say("second")] },
      ],
    );
    await all.session.send("go").result();
    const [result, ...others] = ofType(await history(all.session), "tool_result");
    expect(others).toEqual([]);
    expect(result?.text).toContain("second");
    expect(new Set(result?.spent?.map(({ session }) => session)).size).toBe(2);
  });

  test("returns structured output, after one correction by its own model", async () => {
    const Fact = z.object({ city: z.string(), people: z.number() });
    const all = await family(
      [{ output: [ask()] }, DONE],
      [{ output: [say("Paris")] }, { output: [say('{"city":"Paris","people":2}')] }],
      { tool: { output: Fact } },
    );
    await all.session.send("go").result();
    const [result] = ofType(await history(all.session), "tool_result");
    expect(JSON.parse(result?.text ?? "")).toEqual({ city: "Paris", people: 2 });
    expect(inputOf(all.childEmulator, 1)).toHaveLength(3);
  });

  test("gets a message that `prompt` makes from a typed input", async () => {
    const own = await scripted([{ output: [say("ok")] }]);
    const research = agentTool({
      name: "research",
      description: "Researches",
      agent: createAgent({ model: own.model }),
      input: z.object({ city: z.string(), year: z.number() }),
      prompt: ({ city, year }) => `Tell me about ${city} in ${year.toFixed()}.`,
    });
    const { session } = await scriptedSession(
      [{ output: [call("research", { city: "Paris", year: 1900 })] }, DONE],
      { tools: [research] },
    );
    await session.send("go").result();
    expect(JSON.stringify(inputOf(own.emulator, 0))).toContain("Tell me about Paris in 1900.");
  });

  test("is cancelled with its caller, and its session is released", async () => {
    const reached = gate();
    const slow = anyTool("slow", async (_input, { signal }) => {
      reached.open();
      await new Promise((_done, refuse) => {
        signal.addEventListener("abort", () => refuse(new Error("stopped")), { once: true });
      });
    });
    const all = await family([{ output: [ask()] }], [{ output: [call("slow")] }], {
      child: { tools: [slow] },
    });
    const turn = all.session.send("go");
    await reached.promise;
    turn.cancel();
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    expect(ofType(await history(all.session), "tool_result")).toMatchObject([{ status: "cancelled" }]);
    const sub = await subSession(all);
    expect(ofType(await history(sub), "turn_end")).toMatchObject([{ status: "cancelled" }]);
    expect([sub.writer, sub.interrupted]).toEqual(["none", false]);
  });

  test("that fails gives its caller an error with the reason, and the caller goes on", async () => {
    const all = await family([{ output: [ask()] }, DONE], [], { child: { limits: { maxRetries: 0 } } });
    expect(await all.session.send("go").result()).toMatchObject({ status: "completed" });
    const [result] = ofType(await history(all.session), "tool_result");
    expect(result).toMatchObject({ status: "error" });
    expect(result?.text).toMatch(/^the tool "research" failed: the sub-agent \(session sub_\w+\) failed: \[/);
  });

  test("that reaches its own limit says which, with its last text", async () => {
    const all = await family(
      [{ output: [ask()] }, DONE],
      [{ output: [say("I will look."), call("get_it")] }],
      { child: { tools: [anyTool("get_it", () => "it")], limits: { maxSteps: 1 } } },
    );
    expect(await all.session.send("go").result()).toMatchObject({ status: "completed" });
    const [result] = ofType(await history(all.session), "tool_result");
    expect(result).toMatchObject({ status: "error" });
    expect(result?.text).toContain("stopped at a limit (max_steps). Its last text: I will look.");
  });

  test("asks nobody unless its agent is interactive: a call that needs permission is denied", async () => {
    const all = await family(
      [{ output: [ask()] }, DONE],
      [{ output: [call("write_it")] }, { output: [say("I was not allowed to.")] }],
      {
        child: { tools: [anyTool("write_it", () => "written", { access: "write" })], permissions: "ask" },
      },
    );
    await all.session.send("go").result();
    const [denied] = ofType(await history(await subSession(all)), "tool_result");
    expect(denied).toMatchObject({ status: "denied" });
    expect(denied?.text).toContain("the session is not interactive");
  });

  test("cannot be nested deeper than its limit, even by an agent that calls itself", async () => {
    const own = await scripted([
      { output: [ask("1")] },
      { output: [ask("2")] },
      { output: [ask("3")] },
      { output: [say("I did it myself.")] },
      DONE,
      DONE,
    ]);
    const self = agentTool({
      name: "research",
      description: "Researches",
      agent: (): Agent => agent,
      access: "read",
      maxDepth: 2,
    });
    const agent: Agent = createAgent({ model: own.model, tools: [self] });
    const store = memoryStore();
    const session = await agent.open({ id: "top", store });
    afterTest(() => session.close());
    expect(await session.send("go").result()).toMatchObject({ status: "completed" });
    const depths = new Set<number | undefined>();
    const texts: string[] = [];
    for await (const { id } of store.list()) {
      const log = await store.open(id, { mode: "read" });
      depths.add(factsOf(log.events).parent?.depth);
      texts.push(...ofType(log.events, "tool_result").map(({ text }) => text));
      await log.close();
    }
    expect(depths).toEqual(new Set([undefined, 1, 2]));
    expect(texts.filter((text) => text.includes("nested 2 deep"))).toHaveLength(1);
  });
});

describe("the cost of a sub-agent", () => {
  test("is part of its caller's cost, over two levels", async () => {
    const leaf = createAgent({ model: priced(emulator(), dollars(1)) });
    const middleModel = await scripted([{ output: [ask()] }, DONE]);
    const middle = createAgent({
      model: priced(middleModel.model, dollars(1)),
      tools: [agentTool({ name: "research", description: "Researches", agent: leaf })],
    });
    const store = memoryStore();
    const top = agentTool({ name: "research", description: "Researches", agent: middle });
    const { session } = await scriptedSession([{ output: [ask()] }, DONE], { tools: [top], store });
    await session.send("go").result();
    let tokens = 0;
    for await (const { id, summary } of store.list()) {
      if (id !== session.id) tokens += (summary?.usage.inputTokens ?? 0) + (summary?.usage.outputTokens ?? 0);
    }
    const events = await history(session);
    expect(tokens).toBeGreaterThan(0);
    expect(factsOf(events, () => 0).costUsd).toBe(tokens);
    expect(ofType(events, "tool_result")[0]?.spent?.[0]).toMatchObject({ costUsd: tokens });
  });

  const LOOKUP = anyTool("get_it", () => "it");
  const costly = async (
    limits: AgentOptions["limits"],
    child: { readonly price: Price | undefined },
  ): Promise<{ readonly session: Session; readonly own: Emulator; readonly parent: Emulator }> => {
    const own = await scripted([{ output: [call("get_it")] }, { output: [say("Found it.")] }]);
    const model = child.price === undefined ? own.model : priced(own.model, child.price);
    const research = agentTool({
      name: "research",
      description: "Researches",
      agent: createAgent({ model, tools: [LOOKUP] }),
    });
    const parent = await scripted([{ output: [ask()] }, DONE, DONE]);
    const agent = createAgent({ model: priced(parent.model, dollars(1e-9)), tools: [research], limits });
    const session = await agent.open();
    afterTest(() => session.close());
    return { session, own: own.emulator, parent: parent.emulator };
  };

  test("is bounded by the limit of its caller, which then sends no further request", async () => {
    const { session, own, parent } = await costly({ maxCostUsd: 1 }, { price: dollars(1) });
    expect(await session.send("go").result()).toMatchObject({ status: "incomplete", reason: "max_cost" });
    expect([own.exchanges.length, parent.exchanges.length]).toEqual([1, 1]);
    const [result] = ofType(await history(session), "tool_result");
    expect(result?.text).toContain("stopped at a limit (max_cost)");
    expect(result?.spent?.[0]?.costUsd).toBeGreaterThan(1);
  });

  test("counts for the limit of the session, in later turns too", async () => {
    const { session, parent } = await costly({ maxSessionCostUsd: 1000 }, { price: dollars(1) });
    expect(await session.send("go").result()).toMatchObject({ status: "completed" });
    const spent = ofType(await history(session), "tool_result")[0]?.spent?.[0]?.costUsd ?? 0;
    expect(spent).toBeGreaterThan(1);
    const same = await costly({ maxSessionCostUsd: spent }, { price: dollars(1) });
    expect(await same.session.send("go").result()).toMatchObject({
      status: "incomplete",
      reason: "max_cost",
    });
    expect(await same.session.send("more").result()).toMatchObject({
      status: "incomplete",
      reason: "max_cost",
    });
    expect([parent.exchanges.length, same.parent.exchanges.length]).toEqual([2, 1]);
  });

  test("must be known if its caller has a limit: otherwise the sub-agent sends nothing", async () => {
    const { session, own } = await costly({ maxCostUsd: 1 }, { price: undefined });
    expect(await session.send("go").result()).toMatchObject({ status: "completed" });
    expect(own.exchanges).toEqual([]);
    expect(ofType(await history(session), "tool_result")[0]?.text).toContain("[price_unknown]");
  });

  test("is unknown if its price is, and then so is the caller's", async () => {
    const all = await family([{ output: [ask()] }, DONE], [{ output: [say("Found it.")] }]);
    await all.session.send("go").result();
    const events = await history(all.session);
    expect(ofType(events, "tool_result")[0]?.spent?.[0]?.costUsd).toBeUndefined();
    expect(factsOf(events, () => 1).costUsd).toBeUndefined();
  });
});

function accessOf(options: Partial<AgentOptions>): string {
  const agent = createAgent({ model: emulator(), ...options });
  return agentTool({ name: "a", description: "d", agent }).access;
}

describe("agentTool", () => {
  const readOnly = createAgent({ model: emulator() });

  test("may do what the agent's own permissions let its tools do", () => {
    const tools = [
      anyTool("r", () => ""),
      anyTool("w", () => "", { access: "write" }),
      anyTool("x", () => "", { access: "execute" }),
    ];
    expect(accessOf({})).toBe("read");
    expect(accessOf({ tools })).toBe("read");
    expect(accessOf({ tools, permissions: "ask" })).toBe("read");
    expect(accessOf({ tools, permissions: "ask", interactive: true })).toBe("execute");
    expect(accessOf({ tools, permissions: "ask", allow: ["w"] })).toBe("write");
    expect(accessOf({ tools, permissions: "auto" })).toBe("execute");
    expect(accessOf({ tools: tools.slice(0, 2), permissions: "auto" })).toBe("write");
    expect(agentTool({ name: "a", description: "d", agent: () => readOnly }).access).toBe("execute");
  });

  test.each([
    ["an agent that is not one", { agent: { open: () => undefined } }],
    ["an input without a prompt", { input: { type: "object", properties: {} } }],
    ["a prompt without an input", { prompt: () => "hello" }],
    ["a depth of zero", { maxDepth: 0 }],
    ["an unknown option", { depth: 2 }],
    ["an idempotent option, because it always is", { idempotent: false }],
    ["a bad name", { name: "no spaces" }],
  ])("refuses %s", (_what, wrong) => {
    const options = { name: "a", description: "d", agent: readOnly, ...wrong } as unknown as AgentToolOptions;
    expect(() => agentTool(options)).toThrow(expect.objectContaining({ code: "tool_invalid" }));
  });

  test("run outside a session says that only a session can call it", async () => {
    const research = agentTool({ name: "research", description: "d", agent: readOnly });
    const context = {
      signal: new AbortController().signal,
      callId: "c",
      idempotencyKey: "k",
      progress: () => undefined,
    };
    await expect(research.run({ prompt: "x" }, context)).rejects.toMatchObject({ code: "sub_agent_failed" });
  });

  test("shows the sub-agent's session while it runs", async () => {
    const all = await family([{ output: [ask()] }, DONE], [{ output: [say("Found it.")] }]);
    const events = await eventsOf(all.session.send("go"));
    expect(ofType(events, "tool_progress")[0]?.text).toMatch(/^sub-agent session sub_\w+\n$/);
  });
});
