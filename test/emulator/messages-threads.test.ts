/** Conversations the server holds (`thread`), as the official client and its tool runner use them. */

import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { describe, expect, test } from "vitest";

import type { Emulator, EmulatorOptions } from "../../src/emulator/index.ts";
import { emulatorFor, type Json } from "./emulator-client.ts";
import { adaptive, ask, assistant, contentOf, expectRefused, expectTaken, says } from "./messages-client.ts";

const beta = { "anthropic-beta": "message-threads-2026-08-12" };
const create = { thread: { type: "create" } };
const next = (id: unknown): Json => ({ thread: { type: "continue", previous_message_id: id } });

const bodies = (emulator: Emulator): Json[] =>
  emulator.exchanges.map(({ requestText }) => JSON.parse(requestText) as Json);

describe("by hand", () => {
  test("the next request sends only the new messages, and is judged as the whole", async () => {
    const emulator = await emulatorFor();
    const first = { ...adaptive, system: "Be brief.", messages: [says("Think of a number.")] };
    const one = await expectTaken(emulator, { ...first, ...create }, beta);
    const which = { ...adaptive, messages: [says("Which number was it?")] };
    const two = await expectTaken(emulator, { ...which, ...next(one["id"]) }, beta);
    expect(contentOf({ json: two }).at(-1)?.["text"]).toMatch(/^I thought of \d+/);
    const last = emulator.report().requests.at(-1);
    expect(last).toMatchObject({ recall: 1, prefixStable: true, inputItems: 3 });
    const three = await expectTaken(
      emulator,
      { ...adaptive, messages: [says("Thanks.")], ...next(two["id"]) },
      beta,
    );
    expect(three["stop_reason"]).toBe("end_turn");
    expect(emulator.report().requests.at(-1)).toMatchObject({ recall: 1, inputItems: 5 });
  });

  test("X-thread: refuses unknown threads, and system or tools on a continued thread", async () => {
    const emulator = await emulatorFor();
    const body = { ...adaptive, messages: [says("hello")] };
    const one = await expectTaken(emulator, { ...body, ...create }, beta);
    const lost = await ask(emulator, { ...body, ...next("msg_gone") }, beta);
    expect([lost.status, lost.json["error"]]).toEqual([
      404,
      {
        type: "not_found_error",
        message: "thread.previous_message_id: No thread state was found for msg_gone.",
        details: { error_code: "thread_not_found" },
      },
    ]);
    const other = await ask(
      emulator,
      { ...body, ...next(one["id"]) },
      { ...beta, "x-api-key": "sk-ant-other" },
    );
    expect(other.status).toBe(404);
    await expectRefused(
      emulator,
      { ...body, ...next(one["id"]), system: "Else." },
      { rule: "X-thread", message: "thread: `system` and `tools` cannot be set when a thread is continued." },
      beta,
    );
  });

  test("X-unknown: without its beta the parameter is unknown", async () => {
    const emulator = await emulatorFor();
    const body = { ...adaptive, ...create, messages: [says("hello")] };
    await expectRefused(emulator, body, {
      rule: "X-unknown",
      message: "thread: Extra inputs are not permitted",
    });
    await expectTaken(emulator, body, beta);
  });

  test("X-cache: one breakpoint fewer is allowed", async () => {
    const emulator = await emulatorFor();
    const block = { type: "text", text: "x", cache_control: { type: "ephemeral" } };
    const body = { ...adaptive, messages: [{ role: "user", content: [block, block, block, block] }] };
    await expectTaken(emulator, body, beta);
    const reply = await ask(emulator, { ...body, ...create }, beta);
    expect(reply.json["error"]).toMatchObject({
      message: expect.stringMatching(/^thread: a maximum of 3 blocks with cache_control .* Found 4\.$/),
      details: { error_code: "thread_unsupported_request" },
    });
  });

  test("switch threads: refused with the code that clients read", async () => {
    const emulator = await emulatorFor({ switches: { threads: "refuse" } });
    const reply = await ask(emulator, { ...adaptive, ...create, messages: [says("hello")] }, beta);
    expect([reply.status, reply.json["error"]]).toEqual([
      400,
      {
        type: "invalid_request_error",
        message: "thread: Threads are not supported for this request.",
        details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
      },
    ]);
    expect(emulator.report().requests.at(-1)?.rule).toBe("X-thread");
  });
});

describe("the official tool runner", () => {
  const weather = betaTool({
    name: "get_weather",
    description: "Weather of a city",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    run: ({ city }: { city: string }) => `sunny in ${city}`,
  });

  async function run(model: string, stream: boolean, options: EmulatorOptions = {}) {
    const emulator = await emulatorFor(options);
    const client = new Anthropic({ baseURL: emulator.url, apiKey: "sk-ant-test", maxRetries: 0 });
    const runner = client.beta.messages.toolRunner({
      model,
      max_tokens: 8000,
      thinking: { type: "adaptive" },
      stream,
      tools: [weather],
      messages: [{ role: "user", content: "Compare the weather in Paris and Rome." }],
    });
    const message = await runner.runUntilDone();
    return { emulator, text: message.content.map((block) => ("text" in block ? block.text : "")).join("") };
  }

  test.each([
    ["emu-claude", false],
    ["emu-claude", true],
    ["emu-claude-bound", false],
    ["emu-claude-5.5", true],
  ])("completes its loop over a thread: %s, streamed: %s", async (model, stream) => {
    const { emulator, text } = await run(model, stream);
    expect(text).toContain("sunny in Rome");
    const verdicts = emulator.report().requests.map((one) => [one.verdict, one.recall, one.prefixStable]);
    expect(verdicts).toEqual([
      ["accepted", 1, true],
      ["accepted", 1, true],
    ]);
    expect(bodies(emulator).map((body) => [body["thread"], (body["messages"] as unknown[]).length])).toEqual([
      [{ type: "create" }, 1],
      [{ type: "continue", previous_message_id: expect.stringMatching(/^msg_/) }, 1],
    ]);
  });

  test("falls back to no threads if they are refused", async () => {
    const { emulator, text } = await run("emu-claude", false, { switches: { threads: "refuse" } });
    expect(text).toContain("sunny in Rome");
    expect(emulator.report().requests.map((one) => one.verdict)).toEqual(["refused", "accepted", "accepted"]);
  });

  test("does not affect a client that does not know threads", async () => {
    const emulator = await emulatorFor();
    const body = { ...adaptive, messages: [says("hello")] };
    const one = await expectTaken(emulator, body);
    const more = [says("hello"), assistant(contentOf({ json: one })), says("and now?")];
    await expectTaken(emulator, { ...adaptive, messages: more });
    expect(emulator.report().requests.at(-1)).toMatchObject({ recall: 1, inputItems: 3 });
  });
});
