/** What the vendors behind chat completions do differently from OpenAI, by model. */

import { describe, expect, test } from "vitest";

import type { Emulator } from "../../src/emulator/index.ts";
import { chat, chatStream, messageOf, user } from "./chat-client.ts";
import { emulatorFor, type Json, scripted } from "./emulator-client.ts";

const statusOf = async (emulator: Emulator, body: Json): Promise<readonly unknown[]> => {
  const { status, json } = await chat(emulator, { messages: [user("Hi.")], ...body });
  const { message } = (json["error"] ?? {}) as Json;
  return message === undefined ? [status] : [status, message];
};

describe("Kimi by generation", () => {
  const enabled = { type: "enabled" };
  const disabled = { type: "disabled" };

  test("K2.7 cannot be switched off", async () => {
    const emulator = await emulatorFor();
    expect(await statusOf(emulator, { model: "emu-kimi-k2.7", thinking: enabled })).toEqual([200]);
    expect(await statusOf(emulator, { model: "emu-kimi-k2.7", thinking: disabled })).toEqual([
      400,
      "Invalid value: 'disabled'. 'thinking.type' of this model must be 'enabled'.",
    ]);
    expect(await statusOf(emulator, { model: "emu-kimi-k2.6", thinking: disabled })).toEqual([200]);
  });

  test("K3 accepts three efforts but no thinking parameter; a switch makes it ignore the latter", async () => {
    const emulator = await emulatorFor();
    const model = "emu-kimi-k3";
    expect(await statusOf(emulator, { model, thinking: enabled })).toEqual([
      400,
      "Unknown parameter: 'thinking'.",
    ]);
    expect(await statusOf(emulator, { model, reasoning_effort: "max" })).toEqual([200]);
    expect((await statusOf(emulator, { model, reasoning_effort: "medium" }))[0]).toBe(400);
    const lenient = await emulatorFor({ switches: { kimiThinking: "ignore" } });
    expect(await statusOf(lenient, { model, thinking: disabled })).toEqual([200]);
  });
});

const thought = "A thought that is long enough to be known again.";
const steps = `steps: [{output: [{reasoning: {text: ${thought}}}, {message: One.}]}, {output: [{message: Two.}]}]`;

/** The second request carries the first answer, changed; returns what the report says about its thought. */
async function cameBack(model: string, change: (message: Json) => Json, more: Json = {}): Promise<object> {
  const emulator = await scripted(steps);
  const first = await chat(emulator, { model, messages: [user("1")], ...more });
  const messages = [user("1"), change(messageOf(first)), user("2")];
  expect((await chat(emulator, { model, messages, ...more })).status).toBe(200);
  const { sent, dropped, modified } = emulator.report().requests.at(-1) ?? {};
  return { sent: sent?.length, dropped: dropped?.length, modified: modified?.length };
}

const moved = ({ reasoning, ...message }: Json): Json => ({ ...message, reasoning_content: reasoning });

const signed =
  (signature?: string) =>
  (message: Json): Json => {
    const [part, ...rest] = message["content"] as readonly Json[];
    return { ...message, content: [{ ...part, signature }, ...rest] };
  };

describe("reasoning that goes back", () => {
  const whole = { sent: 1, dropped: 0, modified: 0 };

  test("vLLM reads `reasoning` and silently ignores `reasoning_content`", async () => {
    const kept = { chat_template_kwargs: { preserve_thinking: true } };
    expect(await cameBack("emu-vllm", (message) => message, kept)).toEqual(whole);
    expect(await cameBack("emu-vllm", moved, kept)).toEqual({ sent: 0, dropped: 1, modified: 0 });
  });

  test("Mistral reads a part with its own signature and no other", async () => {
    expect(await cameBack("emu-mistral", (message) => message)).toEqual(whole);
    for (const change of [signed(), signed("c29tZWJvZHk=")])
      expect(await cameBack("emu-mistral", change)).toEqual({ sent: 0, dropped: 0, modified: 1 });
  });

  test("MiniMax splits its thoughts on request, and accepts them back in either form", async () => {
    const split = { reasoning_split: true };
    const emulator = await scripted(steps);
    const body = { model: "emu-minimax", messages: [user("1")] };
    expect(messageOf(await chat(emulator, { ...body, ...split }))).toMatchObject({
      content: "One.",
      reasoning_details: [{ type: "reasoning.text", text: thought }],
    });
    const other = await scripted(steps);
    expect(messageOf(await chat(other, body))["content"]).toBe(`<think>\n${thought}\n</think>\n\nOne.`);
    for (const more of [split, {}])
      expect(await cameBack("emu-minimax", (message) => message, more)).toEqual(whole);
  });

  test.for([
    ["emu-glm", { thinking: { type: "enabled", clear_thinking: false } }],
    ["emu-qwen", { preserve_thinking: true }],
    ["emu-cerebras", { clear_thinking: false }],
    ["emu-fireworks", { reasoning_history: "preserved" }],
    ["emu-kimi-k2.6", { thinking: { type: "enabled", keep: "all" } }],
  ] as const)("%s reads earlier turns only on request", async ([model, more]) => {
    expect(await cameBack(model, (message) => message, more)).toEqual(whole);
    expect(await cameBack(model, (message) => message)).toEqual({ sent: 0, dropped: 1, modified: 0 });
  });
});

describe("an answer ends at max_tokens", () => {
  test.for([
    ["emu-chat", "max_completion_tokens"],
    ["emu-deepseek", "max_tokens"],
    ["emu-mistral", "max_tokens"],
    ["emu-glm", "max_tokens"],
  ] as const)("%s", async ([model, name]) => {
    const emulator = await emulatorFor();
    for (const limit of [1, 8, 40, 64]) {
      const body = { model, messages: [user("Write a long answer.")], [name]: limit };
      const { json } = await chat(emulator, body);
      const [choice] = json["choices"] as readonly Json[];
      expect(choice?.["finish_reason"]).toBe("length");
      expect((json["usage"] as Json)["completion_tokens"]).toBeLessThanOrEqual(limit);
      const { events } = await chatStream(emulator, { ...body, stream: true });
      expect(JSON.stringify(events)).toContain('"finish_reason":"length"');
    }
  });

  test("a limit that is not reached changes nothing", async () => {
    const emulator = await emulatorFor();
    const { json } = await chat(emulator, { model: "emu-glm", messages: [user("Hi.")], max_tokens: 4000 });
    expect((json["choices"] as readonly Json[])[0]?.["finish_reason"]).toBe("stop");
  });
});
