/** Whatever request reaches the chat route, the answer has some vendor's shape: never 500, a stack trace or a hang. */

import fc from "fast-check";
import { expect, test } from "vitest";

import type { Emulator } from "../../src/emulator/index.ts";
import { assistant, chat, user } from "./chat-client.ts";
import { emulatorFor, type Json } from "./emulator-client.ts";

const models = [
  "emu-chat",
  "emu-chat-plain",
  "emu-deepseek",
  "emu-deepseek-old",
  "emu-kimi",
  "emu-mistral",
  "emu-groq",
  "emu-router",
];

async function expectSane(emulator: Emulator, body: unknown): Promise<void> {
  const reply = await chat(emulator, body);
  expect(reply.status, reply.text).toBeLessThan(500);
  if (reply.status === 200) return;
  expect(reply.json["error"] ?? reply.json["message"], reply.text).toBeDefined();
  expect(reply.text).not.toMatch(/at .*\.ts:|TypeError|undefined is not/);
}

const value = fc.oneof(fc.jsonValue(), fc.string(), fc.constant(null));

test("random JSON as the body never breaks the emulator", async () => {
  const emulator = await emulatorFor();
  const named = fc.record(
    {
      model: fc.oneof(fc.constantFrom(...models), value),
      messages: value,
      tools: value,
      tool_choice: value,
      response_format: value,
      reasoning_effort: value,
      thinking: value,
      stream_options: value,
      max_tokens: value,
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(named, fc.jsonValue()), async (body) => {
      await expectSane(emulator, JSON.stringify(body));
    }),
    { numRuns: 80 },
  );
});

test("random messages with the right names never break any vendor, strict or lenient", async () => {
  const call = fc.record(
    {
      id: fc.oneof(fc.constantFrom("call_1", "Ab3dEf6hI", "functions.x:0"), value),
      type: fc.oneof(fc.constantFrom("function", "custom"), value),
      function: fc.oneof(fc.record({ name: value, arguments: value }), value),
    },
    { requiredKeys: [] },
  );
  const part = fc.record(
    {
      type: fc.oneof(fc.constantFrom("text", "thinking", "image_url", "refusal"), value),
      text: value,
      thinking: fc.oneof(fc.array(fc.record({ type: fc.constant("text"), text: value })), value),
      image_url: value,
    },
    { requiredKeys: [] },
  );
  const detail = fc.record(
    {
      type: fc.oneof(fc.constantFrom("reasoning.summary", "reasoning.encrypted"), value),
      data: value,
      id: value,
      summary: value,
      index: value,
    },
    { requiredKeys: [] },
  );
  const message = fc.record(
    {
      role: fc.oneof(fc.constantFrom("system", "user", "assistant", "tool"), value),
      content: fc.oneof(value, fc.array(fc.oneof(part, value))),
      tool_calls: fc.oneof(fc.array(fc.oneof(call, value)), value),
      tool_call_id: fc.oneof(fc.constantFrom("call_1", "Ab3dEf6hI"), value),
      reasoning_content: value,
      reasoning: value,
      reasoning_details: fc.oneof(fc.array(fc.oneof(detail, value)), value),
    },
    { requiredKeys: ["role"] },
  );
  const emulators = [await emulatorFor(), await emulatorFor({ mode: "lenient" })];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...models),
      fc.array(message, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      async (model, messages, stream) => {
        for (const emulator of emulators) await expectSane(emulator, { model, messages, stream });
      },
    ),
    { numRuns: 80 },
  );
});

test("a long history with many thoughts is judged", async () => {
  const emulator = await emulatorFor();
  const messages: Json[] = [];
  for (let turn = 0; turn < 2000; turn += 1)
    messages.push(
      user(`question ${turn}`),
      assistant(`answer ${turn}`, { reasoning_content: `thought ${turn}` }),
    );
  messages.push(user("now"));
  for (const model of ["emu-deepseek", "emu-kimi"])
    expect((await chat(emulator, { model, messages })).status).toBe(200);
});
