/** Group E: schema and fields. Some items are changed in the log as another server would have sent them. */

import { expect, test } from "vitest";

import { tool } from "../../src/index.ts";
import {
  appendToLog,
  bench,
  bodies,
  calls,
  completed,
  echoTool,
  expectNoneRefused,
  expectSound,
  inputOf,
  issued,
  type Json,
  lastInput,
  msgItem,
  ofType,
  outline,
  refusal,
  rsItem,
  says,
  scriptedBench,
  thought,
} from "./harness.ts";

/** A conversation of one thought and one answer, whose thought is then given another shape in the log. */
async function withThought(change: (item: Json) => Json): Promise<Awaited<ReturnType<typeof bench>>> {
  const b = await bench({ steps: [{ output: [{ reasoning: [] }, says("Hello.")] }] });
  await b.ask("Hi.");
  const events = await b.log();
  await b.session.close();
  await b.store.remove("bench");
  await appendToLog(b, () =>
    events.map(({ v: _v, seq: _seq, epoch: _epoch, ...draft }) =>
      draft.type === "reasoning"
        ? { ...draft, item: JSON.stringify(change(JSON.parse(draft.item) as Json)) }
        : draft,
    ),
  );
  await b.reopen();
  return b;
}

test.each([
  ["S01 a thought without a summary gets an empty one", (item: Json) => ({ ...item, summary: undefined })],
  ["S02 a summary that is null becomes an empty one", (item: Json) => ({ ...item, summary: null })],
  [
    "S03 the status that some servers put on a thought is not sent",
    (item: Json) => ({ ...item, status: "completed" }),
  ],
  [
    "S04 the readable text of a thought is not sent to a server that wants none",
    (item: Json) => ({ ...item, content: [{ type: "reasoning_text", text: "hm" }] }),
  ],
])("%s", async (_, change) => {
  const b = await withThought(change);
  await b.ask("Again.");
  const input = lastInput(b.emulator);
  expect(outline(input)).toEqual(["user", "reasoning+", "assistant+", "user"]);
  expect(Object.keys(input[1] ?? {}).toSorted()).toEqual(["encrypted_content", "id", "summary", "type"]);
  expect(input[1]?.["summary"]).toEqual([]);
  expectSound(b.emulator);
});

test("S04 a server that wants the readable text back gets it", async () => {
  const b = await bench({
    steps: [{ output: [{ reasoning: { text: "I read it twice." } }, says("Hello.")] }],
    emulator: { switches: { reasoningText: true, reasoningContent: "accept" } },
    openai: { profile: "open-responses" },
  });
  await b.ask("Hi.");
  await b.ask("Again.");
  expect(lastInput(b.emulator)[1]).toMatchObject({
    type: "reasoning",
    summary: [],
    content: [{ type: "reasoning_text", text: "I read it twice." }],
  });
  expectNoneRefused(b.emulator);
});

test("S10 a payload of null is not sent: its meaning differs by endpoint", async () => {
  const content = [{ type: "reasoning_text", text: "hm" }];
  const b = await scriptedBench(
    (_, request) => completed([rsItem({ encrypted_content: null, content }), msgItem(`${request}.`)]),
    { openai: { profile: "open-responses" } },
  );
  await b.ask("Hi.");
  await b.ask("Again.");
  expect(inputOf(b.server.bodies[1])[1]).toEqual({ type: "reasoning", summary: [], content });
});

test("S05 an answer that goes to another model is output_text of an assistant", async () => {
  const b = await bench({ steps: [{ output: [thought(), says("Hello.")] }] });
  await b.ask("Hi.");
  await b.session.setModel(b.model("emu-reasoner-mini"));
  await b.ask("Again.");
  expect(lastInput(b.emulator)[1]).toEqual({
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "Hello.", annotations: [] }],
  });
  expectNoneRefused(b.emulator);
});

test("S06 an empty answer is never sent, and neither is the thought before it", async () => {
  const b = await bench({ steps: [{ output: [thought(), says("")] }, { output: [says("Now.")] }] });
  await b.ask("Hi.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "developer"]);
  expectNoneRefused(b.emulator);
});

test("S06 a refusal goes back unchanged at home, and as text abroad", async () => {
  const b = await bench({ steps: [{ output: [thought(), { refusal: "I will not." }] }] });
  await b.ask("Do it.");
  await b.ask("Please.");
  expect(lastInput(b.emulator)[2]?.["content"]).toEqual([{ type: "refusal", refusal: "I will not." }]);
  await b.session.setModel(b.model("emu-reasoner-mini"));
  await b.ask("You then.");
  expect(lastInput(b.emulator)[1]?.["content"]).toEqual([
    { type: "output_text", text: "I will not.", annotations: [] },
  ]);
  expectNoneRefused(b.emulator);
});

test('S07 a summary of "none" is not sent as a value', async () => {
  const b = await bench({ openai: { summary: "none", effort: "low" } });
  await b.ask("Hi.");
  expect(bodies(b.emulator)[0]?.["reasoning"]).toEqual({ effort: "low" });
  expectSound(b.emulator);
});

test("S08 a parameter the model is known not to accept is not sent", async () => {
  const b = await bench({ model: "gpt-5.6", openai: { parameters: { temperature: 0.2, top_p: 0.9 } } });
  await b.ask("Hi.");
  expect(Object.keys(bodies(b.emulator)[0] ?? {})).not.toEqual(expect.arrayContaining(["temperature"]));
  expectSound(b.emulator);
});

test("S08 if that is not known, one refusal teaches it", async () => {
  const b = await bench({ openai: { parameters: { temperature: 0.2 } } });
  await b.ask("Hi.");
  await b.ask("Again.");
  expect(bodies(b.emulator).map((body) => "temperature" in body)).toEqual([true, false, false]);
  expect(ofType(await b.log(), "replay_override")).toMatchObject([
    { what: { kind: "field", field: "temperature" }, action: "strip_field" },
  ]);
});

test("S09 the phase of every answer goes back, at home and abroad, and none is invented", async () => {
  const b = await bench({
    steps: [
      {
        output: [thought(), { message: { text: "Let me see.", phase: "commentary" } }, calls("a")],
      },
      { output: [thought(), { message: { text: "There.", phase: "final_answer" } }] },
    ],
    tools: [echoTool()],
  });
  const phases = (): readonly unknown[] =>
    lastInput(b.emulator).flatMap((item) => (item["role"] === "assistant" ? [item["phase"]] : []));
  await b.ask("Look.");
  await b.ask("Thanks.");
  expect(phases()).toEqual(["commentary", "final_answer"]);
  await b.session.setModel(b.model("emu-reasoner-mini"));
  await b.ask("And you?");
  expect(phases()).toEqual(["commentary", "final_answer", "final_answer"]);
  expectNoneRefused(b.emulator);
});

test("S09 an answer that arrived without a phase goes back without one", async () => {
  const b = await bench({
    steps: [{ output: [thought(), says("Hello.")] }],
    emulator: { switches: { phase: false } },
  });
  await b.ask("Hi.");
  await b.ask("Again.");
  expect(lastInput(b.emulator)[2]).not.toHaveProperty("phase");
  expectSound(b.emulator);
});

test("S11 an error whose code is a number is judged by its HTTP class and not retried", async () => {
  const b = await scriptedBench((_, request) =>
    request === 1
      ? { status: 400, json: { error: { code: 400, message: "no", type: "BadRequest", param: null } } }
      : completed([msgItem("Fine.")]),
  );
  expect(await b.say("Hi.")).toMatchObject({
    status: "failed",
    error: { code: "400", class: "OTHER", status: 400 },
  });
  expect(b.clock.slept).toEqual([]);
  await b.ask("Again.");
  expect(b.server.bodies).toHaveLength(2);
});

test("S12 too many tools are refused in the API's own text, and no thought is given up for it", async () => {
  const many = Array.from({ length: 142 }, (_, n) =>
    tool({ name: `tool_${n}`, description: "One of many", input: { type: "object" }, run: () => "" }),
  );
  const b = await bench({ steps: [{ output: [thought(), says("Hello.")] }] });
  await b.ask("Hi.");
  await b.reopen({ tools: many });
  expect(await b.say("Use one.")).toMatchObject({
    status: "failed",
    error: { class: "SCHEMA", param: "tools", message: expect.stringContaining("maximum length 128") },
  });
  expect(ofType(await b.log(), "replay_override")).toEqual([]);
  await b.reopen();
  await b.ask("Without, then.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "reasoning+", "assistant+", "user", "user"]);
});

test("S13 tools are at the top level, with name, parameters and strict", async () => {
  const b = await bench({ tools: [echoTool()] });
  await b.ask("Hi.");
  expect(bodies(b.emulator)[0]?.["tools"]).toEqual([
    {
      type: "function",
      name: "look_up",
      description: "Looks something up",
      parameters: {
        type: "object",
        properties: { q: { type: "string" } },
        required: ["q"],
        additionalProperties: false,
      },
      strict: true,
    },
  ]);
  expectSound(b.emulator);
});

test("S14 calls and results are separate items, at home and abroad", async () => {
  const b = await bench({
    steps: [{ output: [says("Let me see."), calls("a")] }, { output: [says("There.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  expect(outline(lastInput(b.emulator))).toEqual([
    "user",
    "assistant+",
    "function_call+",
    "function_call_output",
  ]);
  await b.session.setModel(b.model("emu-reasoner-mini"));
  await b.ask("And you?");
  expect(outline(lastInput(b.emulator))).toEqual([
    "user",
    "assistant",
    "function_call",
    "function_call_output",
    "assistant",
    "user",
  ]);
  const parts = lastInput(b.emulator).flatMap((item) => (item["content"] ?? []) as readonly Json[]);
  expect(new Set(parts.map((part) => part["type"]))).toEqual(new Set(["input_text", "output_text"]));
  expectNoneRefused(b.emulator);
});

test("S14 a custom tool's call goes back unchanged, with an output of its own type, and abroad as an ordinary call", async () => {
  const shell = tool({
    name: "shell",
    description: "Runs a line",
    input: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
    access: "read",
    run: (input) => `ran ${(input as { readonly input: string }).input}`,
  });
  const b = await bench({
    steps: [
      { output: [thought(), { custom_tool_call: { name: "shell", input: "ls -l" } }] },
      { output: [says("Done.")] },
    ],
    tools: [shell],
  });
  await b.ask("List.");
  const [call, output] = lastInput(b.emulator).slice(-2);
  expect(call).toEqual(issued(b.emulator)[1]);
  expect(output).toEqual({
    type: "custom_tool_call_output",
    call_id: call?.["call_id"],
    output: "ran ls -l",
  });
  await b.session.setModel(b.model("emu-reasoner-mini"));
  await b.ask("And you?");
  expect(lastInput(b.emulator)[1]).toMatchObject({ type: "function_call", arguments: '{"input":"ls -l"}' });
  expect(lastInput(b.emulator)[2]).toMatchObject({ type: "function_call_output", output: "ran ls -l" });
  expectNoneRefused(b.emulator);
});

test("S05 a field that a server refuses is also omitted from translated answers", async () => {
  const home = await bench({
    steps: [{ output: [thought(), { message: { text: "Hello.", phase: "final_answer" } }] }],
  });
  await home.ask("Hi.");
  const picky = await scriptedBench((body) => {
    const at = inputOf(body).findIndex((item) => "phase" in item);
    return at === -1
      ? completed([msgItem("Fine.")])
      : refusal(400, {
          message: `Unknown parameter: 'input[${at}].phase'.`,
          param: `input[${at}].phase`,
          code: "unknown_parameter",
        });
  });
  await home.session.setModel(picky.model());
  await home.ask("And you?");
  expect(picky.server.bodies.map((body) => inputOf(body).some((item) => "phase" in item))).toEqual([
    true,
    false,
  ]);
});
