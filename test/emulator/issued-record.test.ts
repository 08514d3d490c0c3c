/** What the report says about recall, retention and prefix stability; and that only completed responses count. */

import { describe, expect, test } from "vitest";

import type { Emulator, RequestReport } from "../../src/emulator/index.ts";
import {
  base,
  emulatorFor,
  get,
  type Json,
  outputOf,
  post,
  result,
  scripted,
  stream,
  user,
  without,
} from "./emulator-client.ts";

const script = `
steps:
  - output: [{reasoning: "**A**"}, {function_call: {name: look}}]
  - output: [{reasoning: "**B**"}, {message: Done.}]
afterwards: repeat
`;

const ask = (input: unknown, more: Json = {}): Json => ({ ...base, input, ...more });
const last = (emulator: Emulator): RequestReport | undefined => emulator.report().requests.at(-1);
const idOf = (item: Json | undefined): string => String(item?.["id"]);

async function twoSteps(more: Json = {}) {
  const emulator = await scripted(script);
  const first = [user("go")];
  const one = outputOf(await post(emulator, ask(first, more)));
  const second = [...first, ...one, result(one[1])];
  const two = outputOf(await post(emulator, ask(second, more)));
  return { emulator, first, one, second, two };
}

describe("recall and retention", () => {
  test("are both 1, and the prefix is stable, if everything is sent back", async () => {
    const { emulator, second, one, two } = await twoSteps();
    await post(emulator, ask([...second, ...two, user("more")]));
    expect(last(emulator)).toMatchObject({
      verdict: "accepted",
      rule: null,
      conversation: "conversation-1",
      sent: [idOf(one[0]), idOf(two[0])],
      acceptable: [idOf(one[0]), idOf(two[0])],
      missing: [],
      recall: 1,
      retention: 1,
      prefixStable: true,
      outcome: "completed",
    });
    expect(emulator.report().totals).toEqual({
      requests: 3,
      accepted: 3,
      refused: 0,
      recall: 1,
      retention: 1,
      prefixBreaks: 0,
    });
  });

  test("drop to half if one thought is omitted, which is named by its id", async () => {
    const { emulator, first, one, second, two } = await twoSteps();
    const cut = [...first, without(one[1], "id"), result(one[1]), ...two, user("more")];
    await post(emulator, ask(cut));
    expect(last(emulator)).toMatchObject({
      sent: [idOf(two[0])],
      missing: [idOf(one[0])],
      recall: 0.5,
      retention: 0.5,
      prefixStable: false,
      prefixDiffersAt: 1,
    });
    expect(second).toHaveLength(4);
  });

  test("are separate: a group that is not in the request lowers retention, not recall", async () => {
    const { emulator, two } = await twoSteps();
    await post(emulator, ask([user("go"), ...two, user("more")]));
    expect(last(emulator)).toMatchObject({ recall: 1, retention: 0.5, missing: [] });
  });

  test("do not count another model's, another account's or another key's items, which would not be accepted", async () => {
    const { emulator, first, one } = await twoSteps({ prompt_cache_key: "c" });
    const bare = [...first, without(one[1], "id"), result(one[1])];
    await post(emulator, ask(bare, { prompt_cache_key: "c", model: "emu-reasoner-mini" }));
    expect(last(emulator)).toMatchObject({ acceptable: [], recall: 1, retention: 0 });
    await post(emulator, ask(bare, { prompt_cache_key: "c" }), { authorization: "Bearer sk-other" });
    expect(last(emulator)).toMatchObject({ acceptable: [], recall: 1 });
    emulator.rotateKey();
    await post(emulator, ask(bare, { prompt_cache_key: "c" }));
    expect(last(emulator)).toMatchObject({ acceptable: [], recall: 1, retention: 0 });
  });

  test("find messages by exact text if their id is missing", async () => {
    const { emulator, second, two } = await twoSteps({ prompt_cache_key: "c" });
    const bare = [...second, without(two[1], "id"), user("more")];
    await post(emulator, ask(bare, { prompt_cache_key: "c" }));
    expect(last(emulator)).toMatchObject({ missing: [idOf(two[0])], recall: 0.5 });
  });
});

test("the answer mentions thoughts that were not sent back", async () => {
  const emulator = await emulatorFor();
  const first = [user("Think of a number.")];
  const output = outputOf(await post(emulator, ask(first, { prompt_cache_key: "c" })));
  const answerTo = async (history: readonly unknown[]): Promise<string> => {
    const input = [...first, ...history, user("Which number was it?")];
    return JSON.stringify(outputOf(await post(emulator, ask(input, { prompt_cache_key: "c" }))).at(-1));
  };
  const kept = await answerTo(output);
  expect(kept).toMatch(/I thought of \d+\./);
  expect(kept).not.toContain("no longer have my notes");
  const lost = await answerTo([without(output[1], "id")]);
  expect(lost).toContain("I no longer have my notes from when I thought of a number");
  expect(lost).toMatch(/notes from \w+ earlier thoughts?: that reasoning was not sent back to me/);
});

test("a prefix-bound model never drops anything from a client that sends everything back verbatim", async () => {
  const emulator = await emulatorFor();
  const tools = ["get_weather", "read_file"].map((name) => ({
    type: "function",
    name,
    parameters: { type: "object", properties: {}, additionalProperties: false },
  }));
  const input: Json[] = [];
  const prompts = [
    "Weather in Paris and Rome?",
    "Look at two files, thinking in between.",
    "Think of a number.",
    "Which number was it?",
  ];
  for (const prompt of prompts) {
    input.push(user(prompt));
    for (let step = 0; step < 5; step += 1) {
      const reply = await post(emulator, ask(input, { model: "emu-prefix-bound", tools }));
      expect(reply.status).toBe(200);
      const output = outputOf(reply);
      const calls = output.filter((item) => item["type"] === "function_call");
      input.push(...output, ...calls.map((call) => result(call)));
      if (calls.length === 0) break;
    }
  }
  const { requests, totals } = emulator.report();
  expect(requests.length).toBe(6);
  expect(requests.flatMap((one) => one.dropped)).toEqual([]);
  expect(totals).toMatchObject({ recall: 1, retention: 1, prefixBreaks: 0, refused: 0 });
  expect(JSON.stringify(input.at(-1))).toMatch(/I thought of \d+\./);
});

describe("only completed responses count", () => {
  test.each([
    "cut=after-item:1",
    "reset=after-item:0",
    "end=after-item:1",
    "no-terminal",
    "failed=server_error",
    "incomplete=max_output_tokens,items:2",
    "error-event=flat,items:2",
  ])("%s", async (fault) => {
    const emulator = await scripted("steps: [{output: [{reasoning: a}, {function_call: {name: look}}]}]");
    const key = { prompt_cache_key: "c" };
    const { events } = await stream(emulator, ask([user("go")], key), { "x-emulator-fault": fault });
    const items = events
      .filter((event) => event["type"] === "response.output_item.done")
      .map((event) => event["item"] as Json);
    const call = items.find((item) => item["type"] === "function_call");
    const input = [
      user("go"),
      ...(call === undefined ? [] : [without(call, "id"), result(call)]),
      user("more"),
    ];
    const reply = await post(emulator, ask(input, key));
    expect(reply.status).toBe(200);
    expect(last(emulator)).toMatchObject({ issued: [], acceptable: [], recall: 1, conversation: "c" });
  });

  test("a client that disconnects adds nothing to the issued record", async () => {
    const emulator = await emulatorFor({ paceMs: 20 });
    const leave = new AbortController();
    const response = await fetch(`${emulator.baseUrl}/responses`, {
      method: "POST",
      headers: { authorization: "Bearer sk-test" },
      body: JSON.stringify(ask("Write a long answer.", { stream: true, prompt_cache_key: "c" })),
      signal: leave.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    leave.abort();
    await expect.poll(() => emulator.report().requests[0]?.outcome).toBe("client_left");
    await post(emulator, ask("again", { prompt_cache_key: "c" }));
    expect(last(emulator)).toMatchObject({ issued: [] });
  });
});

describe("conversations", () => {
  test("the header takes precedence over the cache key, and ids lead back to a conversation without either", async () => {
    const emulator = await scripted(script);
    const named = { "x-emulator-conversation": "mine" };
    const one = outputOf(await post(emulator, ask("go", { prompt_cache_key: "c" }), named));
    expect(last(emulator)?.conversation).toBe("mine");
    await post(emulator, ask([user("go"), ...one, result(one[1])]));
    expect(last(emulator)).toMatchObject({ conversation: "mine", recall: 1, sent: [idOf(one[0])] });
    const bare = one.map((item) => without(item, "id"));
    await post(emulator, ask([user("go"), bare[1], result(one[1])]));
    expect(last(emulator)).toMatchObject({ conversation: "mine", recall: 0 });
    await post(emulator, ask("something else"));
    expect(last(emulator)?.conversation).toBe("conversation-1");
  });

  test("issued items stay valid after the emulator restarts", async () => {
    const { emulator, second } = await twoSteps();
    await emulator.close();
    const again = await scripted(script);
    const reply = await post(again, ask(second));
    expect(reply.status).toBe(200);
    const other = await scripted(script, { secret: "another" });
    expect((await post(other, ask(second))).status).toBe(404);
  });

  test("the report over HTTP is the same", async () => {
    const { emulator } = await twoSteps();
    const reply = await get(emulator, "/../__emulator/report");
    expect(reply.json).toEqual(emulator.report());
  });
});

describe("exchanges", () => {
  test("exact request text, redacted key, events as sent", async () => {
    const entries: unknown[] = [];
    const emulator = await emulatorFor({ record: (entry) => entries.push(entry) });
    const text = '{"model":"emu-reasoner", "input":"hello",  "stream":true}';
    await post(emulator, text, { authorization: "Bearer sk-secret-key-9999" });
    const [exchange] = emulator.exchanges;
    expect(exchange).toMatchObject({ method: "POST", path: "/v1/responses", requestText: text, status: 200 });
    expect(exchange?.headers["authorization"]).toBe("Bearer sk-secre********9999");
    expect(exchange?.events.at(-1)?.["type"]).toBe("response.completed");
    expect(exchange?.report?.outcome).toBe("completed");
    expect(entries).toEqual([exchange]);
    expect(JSON.stringify(emulator.exchanges)).not.toContain("sk-secret-key-9999");
  });

  test("headers of the real service", async () => {
    const emulator = await emulatorFor();
    const { headers } = await post(emulator, ask("hello"));
    expect(headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
    expect(headers.get("openai-version")).toBe("2020-10-01");
    expect(headers.get("openai-organization")).toMatch(/^org-/);
    for (const name of ["openai-processing-ms", "x-ratelimit-limit-requests", "x-ratelimit-reset-tokens"]) {
      expect(headers.get(name), name).not.toBeNull();
    }
  });
});

describe("usage", () => {
  test("counts cached tokens from a real prefix match, per account and model", async () => {
    const emulator = await emulatorFor({ switches: { cacheMinimumTokens: 0 } });
    const cached = async (body: Json, key = "sk-test"): Promise<number> => {
      const { json } = await post(emulator, body, { authorization: `Bearer ${key}` });
      const usage = json["usage"] as { input_tokens_details: { cached_tokens: number } };
      return usage.input_tokens_details.cached_tokens;
    };
    const one = [user("first ".repeat(50))];
    const two = [...one, { role: "assistant", content: "fine" }, user("second")];
    expect(await cached(ask(one))).toBe(0);
    const warm = await cached(ask(two));
    expect(warm).toBeGreaterThan(70);
    expect(await cached(ask([user("other"), ...two]))).toBeLessThan(10);
    expect(await cached(ask(two), "sk-other")).toBe(0);
    expect(await cached(ask(two, { model: "emu-reasoner-mini" }))).toBe(0);
  });

  test("counts them by default only from 1024 tokens on, in steps of 128", async () => {
    const emulator = await emulatorFor();
    const input = [user("word ".repeat(1200))];
    await post(emulator, ask(input));
    const { json } = await post(emulator, ask(input));
    const usage = json["usage"] as { input_tokens_details: { cached_tokens: number } };
    expect(usage.input_tokens_details.cached_tokens).toBe(1408);
  });
});
