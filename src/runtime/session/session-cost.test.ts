import { describe, expect, test } from "vitest";

import {
  anyTool,
  call,
  eventsOf,
  gate,
  history,
  KEY,
  ofType,
  say,
  scriptedSession,
} from "../../../test/contracts/session-fixture.ts";
import { instantClock } from "../../../test/support/instant-clock.ts";
import { type AppendDraft, memoryStore } from "../log/index.ts";
import { anthropic, emulator, priced } from "../models/index.ts";
import type { Model, Price } from "../providers/index.ts";
import { createAgent } from "./agent.ts";

/** The same price for every token, in USD. */
const perToken = (usd: number): Price => ({
  input: usd * 1e6,
  cachedInput: usd * 1e6,
  output: usd * 1e6,
  asOf: "now",
  source: "test",
});
const costly = (model: Model): Model => priced(model, perToken(1));

const OVER = { status: "incomplete", reason: "max_cost", steps: 0, error: { code: "max_cost" } } as const;

describe("a session that has cost its limit", () => {
  test("sends nothing more, and says what to do", async () => {
    const { emulator: server, model } = await scriptedSession([{ output: [say("one")] }]);
    const store = memoryStore();
    const agent = createAgent({ model: costly(model()), limits: { maxSessionCostUsd: 5 } });
    const limited = await agent.open({ store, id: "s" });
    expect(await limited.send("hello").result()).toMatchObject({ status: "completed" });
    const sent = server.exchanges.length;
    const result = await limited.send("again").result();
    expect(result).toMatchObject(OVER);
    expect(result.error?.message).toMatch(
      /^the session has cost [\d.]+ USD, and its limit is 5 USD\. Raise the limit \(maxSessionCostUsd, --max-cost\), or start a new session$/,
    );
    await limited.close();

    const reopened = await agent.open({ store, id: "s" });
    expect(await reopened.send("still?").result()).toMatchObject(OVER);
    expect(await reopened.retry().result()).toMatchObject(OVER);
    expect(server.exchanges).toHaveLength(sent);
    await reopened.close();
  });

  test("stops inside a turn too: the calls of that step do not run", async () => {
    let ran = 0;
    const { emulator: server, model } = await scriptedSession([
      { output: [say("first")] },
      { output: [call("look")] },
    ]);
    const limited = createAgent({
      model: costly(model()),
      tools: [anyTool("look", () => (ran += 1))],
      limits: { maxSessionCostUsd: 1e9 },
    });
    const store = memoryStore();
    const session = await limited.open({ store, id: "s" });
    await session.send("hello").result();
    const spent = session.usage.inputTokens + session.usage.outputTokens;
    await session.close();
    const tight = createAgent({
      model: costly(model()),
      tools: [anyTool("look", () => (ran += 1))],
      limits: { maxSessionCostUsd: spent + 1 },
    });
    const again = await tight.open({ store, id: "s" });
    expect(await again.send("look").result()).toMatchObject({ ...OVER, steps: 1 });
    const results = ofType(await history(again), "tool_result");
    expect(results).toMatchObject([
      { status: "not_executed", text: `not executed: the session reached its limit of ${spent + 1} USD` },
    ]);
    expect([ran, server.exchanges.length]).toEqual([0, 2]);
    await again.close();
  });

  test("counts the requests of every model, each at its own price", async () => {
    const { emulator: server, model } = await scriptedSession(undefined);
    const free = priced(model("emu-plain"), perToken(0));
    const session = await createAgent({ model: free, limits: { maxSessionCostUsd: 2 } }).open();
    expect(await session.send("hello").result()).toMatchObject({ status: "completed" });
    await session.setModel(costly(model()));
    expect(await session.send("hello").result()).toMatchObject({ status: "completed" });
    await session.setModel(free);
    const sent = server.exchanges.length;
    expect(await session.send("hello").result()).toMatchObject(OVER);
    expect(server.exchanges).toHaveLength(sent);
    await session.close();
  });

  test("writes no summary, neither before a turn nor on request", async () => {
    const { emulator: server, model } = await scriptedSession(undefined);
    const agent = createAgent({
      model: costly(model()),
      limits: { maxSessionCostUsd: 5, contextTokens: 40 },
      compaction: { at: 0.5 },
    });
    const session = await agent.open();
    await session.send("hello, this is a message of many words, more than half of a small context").result();
    expect(session.context?.fraction).toBeGreaterThan(0.5);
    const sent = server.exchanges.length;
    await expect(session.compact({ keepTurns: 0 })).rejects.toMatchObject({ code: "max_cost" });
    expect(await session.send("again").result()).toMatchObject(OVER);
    expect(server.exchanges).toHaveLength(sent);
    expect(ofType(await history(session), "compaction")).toEqual([]);
    await session.close();
  });

  test("counts the requests that wrote a summary", async () => {
    const { emulator: server, model } = await scriptedSession(undefined);
    const store = memoryStore();
    const unlimited = await createAgent({ model: model() }).open({ store, id: "s" });
    await unlimited.send("hello").result();
    await unlimited.close();
    const spent = unlimited.usage.inputTokens + unlimited.usage.outputTokens;
    const agent = createAgent({ model: costly(model()), limits: { maxSessionCostUsd: spent + 1 } });
    const session = await agent.open({ store, id: "s" });
    await session.compact({ keepTurns: 0 });
    const sent = server.exchanges.length;
    expect(await session.send("again").result()).toMatchObject(OVER);
    expect(server.exchanges).toHaveLength(sent);
    await session.close();
  });

  test("does not retry an attempt that failed after it had cost the rest", async () => {
    const { emulator: server } = await scriptedSession([
      { output: [say("half")], faults: "end=after-event:3" }, // this dialect reports the input at once
    ]);
    const session = await createAgent({
      model: costly(anthropic("emu-claude", { apiKey: KEY, baseUrl: server.baseUrl.replace(/\/v1$/, "") })),
      limits: { maxSessionCostUsd: 2 },
      clock: instantClock(),
    }).open();
    const turn = session.send("hello");
    const events = await eventsOf(turn);
    expect(ofType(events, "response_end")[0]?.usage).toBeDefined();
    expect(await turn.result()).toMatchObject({ ...OVER, steps: 1 });
    expect(server.exchanges).toHaveLength(1);
    await session.close();
  });

  test("does not run the calls that an interrupted turn still owes", async () => {
    const { emulator: server, model } = await scriptedSession([{ output: [call("look")] }]);
    const store = memoryStore();
    const started = gate();
    let ran = 0;
    const look = anyTool(
      "look",
      () => {
        ran += 1;
        started.open();
        return new Promise(() => undefined);
      },
      { idempotent: true },
    );
    const first = await createAgent({ model: model(), tools: [look] }).open({ store, id: "s" });
    first
      .send("look")
      .result()
      .catch(() => undefined);
    await started.promise;
    const copy = memoryStore();
    const events = await history(first);
    const drafts = events.map(({ v: _v, seq: _seq, epoch: _epoch, ...draft }) => draft as AppendDraft);
    await copy.create("s", { events: drafts, blobs: new Map() });
    const second = await createAgent({
      model: costly(model()),
      tools: [look],
      limits: { maxSessionCostUsd: 2 },
    }).open({ store: copy, id: "s" });
    expect(await second.resume().result()).toMatchObject({ status: "incomplete", reason: "max_cost" });
    expect([ran, server.exchanges.length]).toEqual([1, 1]);
    await second.close();
  });
});

describe("the responses that a fork copied", () => {
  test("do not count, because its parent paid for them; its own do", async () => {
    const { model } = await scriptedSession(undefined);
    const agent = createAgent({ model: costly(model()), limits: { maxSessionCostUsd: 5 } });
    const parent = await agent.open();
    await parent.send("hello").result();
    expect(await parent.send("again").result()).toMatchObject(OVER);
    const child = await parent.fork();
    expect(await child.send("hello").result()).toMatchObject({ status: "completed" });
    expect(await child.send("again").result()).toMatchObject(OVER);
    await child.close();
    await parent.close();
  });
});

describe("a limit for the session needs the prices of its past", () => {
  test("a model that is not priced is named, and nothing is sent", async () => {
    const { emulator: server, model } = await scriptedSession(undefined);
    const store = memoryStore();
    const first = await createAgent({ model: model("emu-plain") }).open({ store, id: "s" });
    await first.send("hello").result();
    await first.close();
    const limited = createAgent({ model: costly(model()), limits: { maxSessionCostUsd: 5 } });
    const session = await limited.open({ store, id: "s" });
    const sent = server.exchanges.length;
    expect(await session.send("hello").result()).toMatchObject({
      status: "failed",
      error: {
        code: "price_unknown",
        message:
          "the price of openai/emu-plain is not known, so maxSessionCostUsd cannot be enforced. Omit the limit, or give the model a price (its option price, or prices in the settings)",
      },
    });
    expect(server.exchanges).toHaveLength(sent);
    await session.close();
  });

  test("modelFrom supplies the price of a model that another process used", async () => {
    const { model } = await scriptedSession(undefined);
    const store = memoryStore();
    const first = await createAgent({ model: model("emu-plain") }).open({ store, id: "s" });
    await first.send("hello").result();
    await first.close();
    const limited = createAgent({
      model: priced(model(), perToken(0)),
      modelFrom: (name) => costly(model(name.replace("openai/", ""))),
      limits: { maxSessionCostUsd: 2 },
    });
    const session = await limited.open({ store, id: "s" });
    expect(await session.send("hello").result()).toMatchObject(OVER);
    await session.close();
  });

  test("the table of prices knows the built-in emulator", async () => {
    const store = memoryStore();
    const first = await createAgent({ model: emulator({ model: "emu-claude" }) }).open({ store, id: "s" });
    await first.send("hello").result();
    await first.close();
    const session = await createAgent({ model: emulator(), limits: { maxSessionCostUsd: 1 } }).open({
      store,
      id: "s",
    });
    expect(await session.send("hello").result()).toMatchObject({ status: "completed" });
    await session.close();
  });

  test("createAgent refuses it for a model without a price, and an amount of 0", async () => {
    const { model } = await scriptedSession(undefined);
    expect(() => createAgent({ model: model(), limits: { maxSessionCostUsd: 1 } })).toThrow(
      expect.objectContaining({ code: "price_unknown" }),
    );
    expect(() => createAgent({ model: emulator(), limits: { maxSessionCostUsd: 0 } })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});
