import { describe, expect, test } from "vitest";

import {
  anyTool,
  call,
  eventsOf,
  history,
  KEY,
  ofType,
  play,
  say,
  scriptedSession,
  think,
} from "../../../test/contracts/session-fixture.ts";
import { instantClock } from "../../../test/support/instant-clock.ts";
import { type Emulator, type Fault, parseFaults } from "../../emulator/index.ts";
import { memoryStore } from "../log/index.ts";
import { anthropic, openai, openaiChat, priced } from "../models/index.ts";
import type { Model } from "../providers/index.ts";
import { createAgent } from "./agent.ts";
import { rebuildRequest } from "./rebuild.ts";
import type { AgentOptions, Session } from "./types.ts";

const responses = ({ baseUrl }: Emulator): Model => openai("emu-reasoner", { apiKey: KEY, baseUrl });
const claude = ({ baseUrl }: Emulator): Model =>
  anthropic("emu-claude", { apiKey: KEY, baseUrl: baseUrl.replace(/\/v1$/, "") });
const chat = ({ baseUrl }: Emulator): Model => openaiChat("emu-chat", { apiKey: KEY, baseUrl });
/** Nothing listens on port 1. */
const gone = (): Model => openai("gone", { apiKey: KEY, baseUrl: "http://127.0.0.1:1/v1" });

const PRICE = { input: 1, cachedInput: 1, output: 1, asOf: "now", source: "test" };

/** One more than the number of retries. */
const always = (fault: string, times = 4): readonly Fault[] =>
  Array.from({ length: times }, () => parseFaults(fault)[0] as Fault);

async function open(options: AgentOptions): Promise<Session> {
  return createAgent({ clock: instantClock(), ...options }).open();
}

const server = async (script?: Parameters<typeof scriptedSession>[0], faults: readonly Fault[] = []) =>
  (await scriptedSession(script, { emulator: { faults } })).emulator;

describe("a turn continues on the next model", () => {
  test.for([
    ["a rate limit beyond the retries", "429=retry-after:1", 4, "rate_limit_exceeded"],
    ["a status 500", "500", 4, "server_error"],
    ["a status 503", "503", 4, "server_is_overloaded"],
    ["a status 529", "529", 4, "server_error"],
    ["a stream that is always cut", "cut=after-event:2", 4, "connection_lost"],
    ["a stream that always fails", "failed=server_error", 4, "server_error"],
    ["an exhausted quota, without retries", "429=code:insufficient_quota", 1, "insufficient_quota"],
    ["a status 402, without retries", "402=code:billing_error", 1, "billing_error"],
  ] as const)("after %s", async ([, fault, requests, code]) => {
    const down = await server(undefined, always(fault));
    const up = await server([{ output: [think("A"), say("here")] }]);
    const session = await open({ model: responses(down), fallback: [claude(up)] });
    const { result, events } = await play(session.send("hello"));
    expect(result).toMatchObject({ status: "completed", text: "here", steps: 1 });
    expect([down.exchanges.length, up.exchanges.length]).toEqual([requests, 1]);
    const [notice, ...more] = ofType(events, "notice");
    expect(more).toEqual([]);
    expect(notice).toMatchObject({ code: "model_fallback", error: { code } });
    expect(notice?.message).toMatch(
      /^openai\/emu-reasoner did not answer: .+ \[.+\]\. anthropic\/emu-claude continues this turn$/,
    );
    // Attempts of one step, whoever answers.
    const starts = ofType(events, "response_start").map(({ step, attempt }) => [step, attempt]);
    expect(starts).toEqual(Array.from({ length: requests + 1 }, (_, index) => [1, index + 1]));
    await session.close();
  });

  test("after a connection that was refused", async () => {
    const up = await server([{ output: [say("here")] }]);
    const session = await open({ model: gone(), fallback: [responses(up)] });
    expect(await session.send("hello").result()).toMatchObject({ status: "completed", text: "here" });
    await session.close();
  });

  test("and the next turn starts with the first model again", async () => {
    const first = await server(undefined, always("503"));
    const second = await server();
    const session = await open({ model: responses(first), fallback: [claude(second)] });
    await session.send("hello").result();
    expect(await session.send("again").result()).toMatchObject({ status: "completed" });
    expect([first.exchanges.length, second.exchanges.length]).toEqual([5, 1]);
    expect(session.model.label).toBe("openai/emu-reasoner");
    expect(first.report().requests.filter(({ verdict }) => verdict === "refused")).toEqual([]);
    await session.close();
  });

  test("in the middle of a tool loop, over three dialects, and no tool runs twice", async () => {
    const ran: number[] = [];
    const look = anyTool("look", ({ n }) => void ran.push(Number(n)));
    const first = await server(
      [{ output: [think("A"), call("look", { n: 1 })] }],
      [{ type: "none" }, ...always("529")],
    );
    const second = await server(
      [{ output: [think("B"), call("look", { n: 2 })] }],
      [{ type: "none" }, ...always("500")],
    );
    const third = await server([{ output: [say("done")] }]);
    const store = memoryStore();
    const agent = createAgent({
      model: responses(first),
      fallback: [claude(second), chat(third)],
      tools: [look],
      clock: instantClock(),
    });
    const session = await agent.open({ store, id: "s" });
    expect(await session.send("go").result()).toMatchObject({ status: "completed", text: "done", steps: 3 });
    expect(ran).toEqual([1, 2]);
    const events = await history(session);
    const changes = ofType(events, "notice").filter(({ code }) => code === "model_fallback");
    expect(changes.map(({ error }) => error?.code)).toEqual(["server_error", "api_error"]);
    const requests = ofType(events, "response_start").length;
    const log = await store.open("s", { mode: "read" });
    for (let request = 1; request <= requests; request += 1)
      expect(await rebuildRequest(log, request)).toMatchObject({ proof: "same" });
    for (const emulator of [first, second, third])
      expect(emulator.report().requests.filter(({ rule }) => rule !== null)).toEqual([]);
    await session.close();
  });

  test("with the same structured output", async () => {
    const down = await server(undefined, always("503"));
    const up = await server([{ output: [say("no JSON")] }, { output: [say('{"n":1}')] }]);
    const session = await open({ model: responses(down), fallback: [claude(up)] });
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const result = await session.send("hello", { output: schema }).result();
    expect(result).toMatchObject({ status: "completed", output: { n: 1 } });
    await session.close();
  });

  test("and a model of the list that has just failed is not tried again", async () => {
    const down = await server(undefined, always("429=code:insufficient_quota", 9));
    const up = await server([{ output: [say("here")] }]);
    const session = await open({
      model: responses(down),
      fallback: [responses(down).withEffort("low"), claude(up)],
    });
    expect(await session.send("hello").result()).toMatchObject({ status: "completed" });
    expect(down.exchanges).toHaveLength(1);
    await session.close();
  });

  test("and the keys of all models stay out of the log", async () => {
    const key = "sk-the-second-key-0123456789";
    const up = await server([{ output: [call("look")] }, { output: [say("done")] }]);
    const session = await open({
      model: responses(up),
      fallback: [openai("gone", { apiKey: key, baseUrl: up.baseUrl })],
      tools: [anyTool("look", () => `the key is ${key}`)],
    });
    await session.send("look").result();
    expect(JSON.stringify(await history(session))).not.toContain(key);
    await session.close();
  });
});

describe("a turn does not change its model", () => {
  test.for([
    ["a refused key", "401", "http_401"],
    ["a forbidden request", "403", "http_403"],
    ["a bad request", "400=code:odd_request,message:nonsense", "odd_request"],
    ["an unknown model", "404=code:model_not_found", "model_not_found"],
  ] as const)("after %s", async ([, fault]) => {
    const down = await server(undefined, always(fault));
    const up = await server();
    const session = await open({ model: responses(down), fallback: [claude(up)] });
    const { result, events } = await play(session.send("hello"));
    expect(result).toMatchObject({ status: "failed" });
    expect(ofType(events, "notice").filter(({ code }) => code === "model_fallback")).toEqual([]);
    expect(up.exchanges).toEqual([]);
    await session.close();
  });

  test("after a content refusal", async () => {
    const down = await server([{ output: [], status: "incomplete", reason: "content_filter" }]);
    const up = await server();
    const session = await open({ model: responses(down), fallback: [claude(up)] });
    expect(await session.send("hello").result()).toMatchObject({
      status: "incomplete",
      reason: "content_filter",
    });
    expect(up.exchanges).toEqual([]);
    await session.close();
  });

  test("if it is cancelled while it waits to retry", async () => {
    const down = await server(undefined, always("429=retry-after:60"));
    const up = await server();
    const session = await createAgent({ model: responses(down), fallback: [claude(up)] }).open();
    const turn = session.send("hello");
    for await (const event of turn) if (event.type === "retry") turn.cancel();
    expect(await turn.result()).toMatchObject({ status: "cancelled" });
    expect(up.exchanges).toEqual([]);
    await session.close();
  });
});

test("if no model answers, the error names each one and why", async () => {
  const first = await server(undefined, always("503"));
  const second = await server(undefined, always("429=code:insufficient_quota,message:pay first"));
  const session = await open({ model: responses(first), fallback: [claude(second), gone()] });
  const result = await session.send("hello").result();
  expect(result).toMatchObject({ status: "failed", error: { code: "connect_refused" } });
  expect(result.error?.message).toMatch(
    /^no model answered\. openai\/emu-reasoner: .+ \[.+\]; anthropic\/emu-claude: .*\[.+\]; openai\/gone: .+ \[connect_refused\]$/,
  );
  await session.close();
});

describe("the cost limit", () => {
  test("holds for a fallback: without a price it is refused at once", async () => {
    const up = await server();
    const model = priced(responses(up), PRICE);
    expect(() => createAgent({ model, fallback: [claude(up)], limits: { maxCostUsd: 1 } })).toThrow(
      expect.objectContaining({ code: "price_unknown" }),
    );
  });

  test("counts each model at its own price", async () => {
    const down = await server([{ output: [call("look")] }], [{ type: "none" }, ...always("503")]);
    const up = await server([{ output: [call("look")] }]);
    const dear = { ...PRICE, input: 1e6, cachedInput: 1e6, output: 1e6 };
    const session = await open({
      model: priced(responses(down), PRICE),
      fallback: [priced(claude(up), dear)],
      tools: [anyTool("look", () => "seen")],
      limits: { maxCostUsd: 1 },
    });
    expect(await session.send("hello").result()).toMatchObject({
      status: "incomplete",
      reason: "max_cost",
      steps: 2,
    });
    await session.close();
  });
});

test("a fallback must be a list of models", () => {
  const model = gone();
  for (const fallback of [model, ["openai/gpt-5.6"], [{}]] as unknown as readonly (readonly Model[])[])
    expect(() => createAgent({ model, fallback })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
});

test("a summary is written by the next model, and the conversation stays with the first", async () => {
  const first = await server(undefined, [{ type: "none" }, ...always("503")]);
  const second = await server([{ output: [say("Short.")] }]);
  const session = await open({ model: responses(first), fallback: [claude(second)] });
  await session.send("hello").result();
  await session.compact({ keepTurns: 0 });
  expect(ofType(await history(session), "compaction")).toMatchObject([{ by: "model" }]);
  const events = await eventsOf(session.send("again"));
  expect(ofType(events, "response_start")).toMatchObject([{ origin: { model: "emu-reasoner" } }]);
  await session.close();
});
