/**
 * A provider whose answer changes between two attempts of one step. Only the attempt that arrived whole counts: no tool
 * runs for the other, the next request is accepted, and the turn ends once.
 */

import { describe, expect, test } from "vitest";

import { type Emulator, loadScenario, startEmulator } from "../../src/emulator/index.ts";
import { anthropic, createAgent, memoryStore, type Model, openai, openaiChat } from "../../src/index.ts";
import {
  all,
  calls,
  closeLater,
  echoTool,
  expectNoneRefused,
  impatientClock,
  inputOf,
  type Json,
  KEY,
  ofType,
  scriptedServer,
  says,
  sessionOn,
  type Step,
  thought,
} from "./harness.ts";

const DIALECTS: readonly (readonly [string, (emulator: Emulator) => Model])[] = [
  ["openai", ({ baseUrl }) => openai("emu-reasoner", { apiKey: KEY, baseUrl })],
  ["anthropic", ({ url }) => anthropic("emu-claude", { apiKey: KEY, baseUrl: url })],
  ["openaiChat", ({ baseUrl }) => openaiChat("emu-deepseek", { apiKey: KEY, baseUrl, profile: "deepseek" })],
];

const a = (q = "a"): Json => calls(q, { call_id: "call_one" });
const b = (q = "b"): Json => calls(q, { call_id: "call_two" });

/** Where the first attempt, which thinks, speaks and calls twice, breaks off. */
const BREAKS = [
  "cut=after-item:0",
  "cut=after-item:1",
  "cut=after-item:2",
  "reset=after-item:2",
  "end=after-item:2",
  "error-event=nested,code:server_error,items:3",
  "failed=server_error,items:3",
  "500",
];

interface Second {
  readonly answer: Step;
  /** The tool runs of the whole turn: the calls of the attempt that counts. */
  readonly runs: readonly string[];
  readonly status: string;
}

const done = { status: "completed" };

const SECONDS: Readonly<Record<string, Second>> = {
  "the same": { answer: { output: [thought(), says("Now."), a(), b()] }, runs: ["a", "b"], ...done },
  "other items": { answer: { output: [says("It is c."), calls("c")] }, runs: ["c"], ...done },
  "other call ids": {
    answer: { output: [thought(), calls("a", { call_id: "call_x" }), calls("b", { call_id: "call_y" })] },
    runs: ["a", "b"],
    ...done,
  },
  "the same call ids with other arguments": {
    answer: { output: [thought(), a("x"), b("y")] },
    runs: ["x", "y"],
    ...done,
  },
  "another order": { answer: { output: [b(), a()] }, runs: ["b", "a"], ...done },
  "fewer items": { answer: { output: [b()] }, runs: ["b"], ...done },
  "only text": { answer: { output: [says("Done.")] }, runs: [], ...done },
  "a refusal": { answer: { output: [{ refusal: "I will not." }] }, runs: [], status: "refused" },
  "an answer cut by a limit": {
    answer: { output: [thought(), says("Half"), a()], status: "incomplete", reason: "max_output_tokens" },
    runs: [],
    status: "incomplete",
  },
  "a refused request": {
    answer: { output: [says("x")], faults: ["http=400,code:some_code,message:No."] },
    runs: [],
    status: "failed",
  },
  "a revoked key": {
    answer: { output: [says("x")], faults: ["http=401,code:invalid_api_key,message:No."] },
    runs: [],
    status: "failed",
  },
  "a web page": { answer: { output: [says("x")], faults: ["html=200"] }, runs: [], status: "failed" },
};

async function started(steps: readonly Step[], make: (emulator: Emulator) => Model) {
  const scenario = loadScenario(JSON.stringify({ steps }), "test.json");
  const emulator = closeLater(await startEmulator({ scenario }));
  const look = echoTool();
  const agent = createAgent({
    model: make(emulator),
    tools: [look],
    permissions: "auto",
    clock: impatientClock(),
  });
  return { emulator, look, session: closeLater(await agent.open({ store: memoryStore() })) };
}

describe.each(DIALECTS)("%s", (name, make) => {
  describe.each(BREAKS)("a first attempt with %s", (fault) => {
    test.each(Object.entries(SECONDS))("and %s at the second", async (_what, { answer, runs, status }) => {
      const first = { output: [thought(), says("Now."), a(), b()], faults: [fault] };
      const { emulator, look, session } = await started([first, answer, { output: [says("Done.")] }], make);
      // Claude ends such an answer with its own stop reason, which fails the turn. In other dialects a refusal is an
      // answer.
      const refused = name === "anthropic" ? "failed" : "completed";
      const { status: ended, error } = await session.send("Look.").result();
      expect(ended, error?.message).toBe(status === "refused" ? refused : status);
      expect(look.runs).toEqual(runs);
      expect(await session.send("And now?").result()).toMatchObject({ status: "completed" });
      expect(look.runs).toEqual(runs);
      expectNoneRefused(emulator);
      const log = await all(session.events());
      expect(ofType(log, "turn_end")).toHaveLength(2);
      const attempts = ofType(log, "response_start").filter(({ step }) => step === 1);
      expect(attempts.slice(0, 2).map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(ofType(log, "tool_start")).toHaveLength(runs.length);
    });
  });
});

const item = (call_id: string, q: string): Json => ({
  id: `fc_${call_id}`,
  type: "function_call",
  status: "completed",
  call_id,
  name: "look_up",
  arguments: JSON.stringify({ q }),
});
const itemDone = (one: Json, output_index: number): readonly Json[] => [
  { type: "response.output_item.added", output_index, item: { ...one, arguments: "" } },
  { type: "response.output_item.done", output_index, item: one },
];
const created = (model: string): Json => ({
  type: "response.created",
  response: { id: "resp_1", object: "response", model, status: "in_progress", output: [] },
});
const completed = (model: string, output: readonly Json[]): Json => ({
  type: "response.completed",
  response: { id: "resp_1", object: "response", model, status: "completed", output },
});
const message = (text: string): Json => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});

test.each([
  ["another model, in a stream", true],
  ["another model, in one JSON body", false],
])("a first attempt that is cut, then the same item and call ids from %s", async (_what, streams) => {
  const look = echoTool();
  const server = await scriptedServer((_body, request) => {
    if (request === 1) return { events: [created("one"), ...itemDone(item("call_1", "a"), 0)] };
    const output = [request === 2 ? item("call_1", "b") : message("Done.")];
    const events = [created("two"), ...output.flatMap(itemDone), completed("two", output)];
    return streams ? { events } : { json: completed("two", output)["response"] };
  });
  const bench = await sessionOn(() => openai("gpt-x", { apiKey: KEY, baseUrl: server.baseUrl }), {
    tools: [look],
  });
  expect(await bench.ask("Look.")).toBe("Done.");
  expect(look.runs).toEqual(["b"]);
  const outputs = inputOf(server.bodies[2]).filter(
    ({ type }) => type === "function_call" || type === "function_call_output",
  );
  expect(outputs.map(({ type, arguments: given }) => [type, given])).toEqual([
    ["function_call", '{"q":"b"}'],
    ["function_call_output", undefined],
  ]);
  expect(ofType(await bench.log(), "turn_end")).toHaveLength(1);
});
