/** Group D: tool calls and their outputs. */

import { expect, test } from "vitest";

import { tool, type Tool } from "../../src/index.ts";
import {
  appendToLog,
  bench,
  calls,
  echoTool,
  expectNoneRefused,
  expectSound,
  gate,
  issued,
  type Json,
  lastInput,
  ofType,
  outline,
  says,
  thought,
  until,
} from "./harness.ts";

const outputs = (input: readonly Json[]): readonly unknown[] =>
  input.flatMap((item) => (item["type"] === "function_call_output" ? [item["output"]] : []));

function toolOf(run: Tool["run"], more: Partial<Parameters<typeof tool>[0]> = {}): Tool {
  return tool({
    name: "look_up",
    description: "Looks something up",
    input: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
    access: "read",
    ...more,
    run,
  });
}

test("T01 a call whose turn was cancelled has an output in the next request", async () => {
  const never = toolOf(
    (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      }),
  );
  const b = await bench({ steps: [{ output: [thought(), calls("a"), calls("b")] }], tools: [never] });
  const turn = b.session.send("Look.");
  await until(turn, (event) => event.type === "tool_start");
  turn.cancel();
  expect((await turn.result()).status).toBe("cancelled");
  await b.ask("What happened?");
  const text =
    "cancelled: the user stopped the turn while this tool was running; it may have taken effect in part";
  expect(outputs(lastInput(b.emulator))).toEqual([text, text]);
  expectSound(b.emulator);
});

test("T01 a tool that throws or times out has an output the model can read", async () => {
  const b = await bench({
    steps: [{ output: [thought(), calls("throw"), calls("hang")] }, { output: [says("I see.")] }],
    tools: [
      toolOf(
        (input, { signal }) => {
          if ((input as { q: string }).q === "throw") throw new Error("no such shelf");
          return new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
          });
        },
        { timeoutMs: 20 },
      ),
    ],
  });
  await b.ask("Look.");
  expect(outputs(lastInput(b.emulator))).toEqual([
    'the tool "look_up" failed: no such shelf',
    'the tool "look_up" was stopped after 20 ms',
  ]);
  expectSound(b.emulator);
});

test("T02 cutting history never leaves an output without its call", async () => {
  const b = await bench({
    steps: [
      { output: [thought(), calls("a")] },
      { output: [thought(), says("One.")] },
      { output: [thought(), calls("b")] },
      { output: [thought(), says("Two.")] },
    ],
    tools: [echoTool()],
  });
  await b.ask("First.");
  await b.ask("Second.");
  // A cut requested from a result on removes the whole group of that result.
  await b.session.truncateFrom(ofType(await b.log(), "tool_result").at(-1)?.seq ?? -1);
  await b.ask("Third.");
  expect(outline(lastInput(b.emulator))).toEqual([
    "user",
    "reasoning+",
    "function_call+",
    "function_call_output",
    "reasoning+",
    "assistant+",
    "user",
    "user",
  ]);
  await b.session.keepLastTurns(2);
  await b.ask("Fourth.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "user", "reasoning+", "assistant+", "user"]);
  expectNoneRefused(b.emulator);
});

test("T03 T04 in a parallel batch all calls come first, then all outputs in call order", async () => {
  const ends = new Map<string, () => void>();
  const allRunning = gate();
  const b = await bench({
    steps: [{ output: [thought(), calls("a"), calls("b"), calls("c")] }, { output: [says("All.")] }],
    tools: [
      toolOf((input) => {
        const { q } = input as { readonly q: string };
        return new Promise((resolve) => {
          ends.set(q, () => resolve(`found ${q}`));
          if (ends.size === 3) allRunning.open();
        });
      }),
    ],
  });
  const turn = b.session.send("Look three times.");
  await allRunning.opened;
  for (const q of ["c", "b", "a"]) {
    ends.get(q)?.();
    await until(turn, (event) => event.type === "tool_result" && event.text === `found ${q}`);
  }
  expect((await turn.result()).status).toBe("completed");
  const input = lastInput(b.emulator);
  expect(outline(input)).toEqual([
    "user",
    "reasoning+",
    "function_call+",
    "function_call+",
    "function_call+",
    "function_call_output",
    "function_call_output",
    "function_call_output",
  ]);
  expect(outputs(input)).toEqual(["found a", "found b", "found c"]);
  expect(ofType(await b.log(), "tool_result").map(({ text }) => text)).toEqual([
    "found c",
    "found b",
    "found a",
  ]);
  expectSound(b.emulator);
});

const long = `call_${"x".repeat(111)}`;

test("T05 a call id that is too long is mapped for call and output alike, the same way in every request", async () => {
  const b = await bench({
    steps: [{ output: [thought(), calls("a", { call_id: long })] }, { output: [says("Done.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  const [call, output] = lastInput(b.emulator).slice(-2);
  expect(call?.["call_id"]).toBe(output?.["call_id"]);
  expect(String(call?.["call_id"]).length).toBeLessThanOrEqual(64);
  await b.ask("Thanks.");
  expectNoneRefused(b.emulator);
  expect(b.emulator.report().totals.prefixBreaks).toBe(0);
});

test("T05 a call id that only its own provider accepts is mapped when the call goes abroad", async () => {
  const b = await bench({
    steps: [{ output: [thought(), calls("a", { call_id: long })] }, { output: [says("Done.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  await b.session.setModel(b.model("emu-reasoner-mini"));
  await b.ask("And you?");
  const [, call, output] = lastInput(b.emulator);
  expect(call?.["call_id"]).toBe(output?.["call_id"]);
  expect(String(call?.["call_id"]).length).toBeLessThanOrEqual(64);
  expectNoneRefused(b.emulator);
});

test("T06 a call without a call id gets one, and its output gets the same", async () => {
  const call = { type: "function_call", call_id: "", name: "look_up", arguments: '{"q":"a"}' };
  const b = await bench({
    steps: [{ output: [thought(), { item: call }] }, { output: [says("Done.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  const [sent, output] = lastInput(b.emulator).slice(-2);
  expect(sent?.["call_id"]).toMatch(/^call_/);
  expect(output).toMatchObject({ call_id: sent?.["call_id"], output: "found a" });
  expectNoneRefused(b.emulator);
});

const SAME = { call_id: "call_0" };

test("T07 call ids that repeat in every response keep their own results", async () => {
  const look = echoTool();
  const b = await bench({
    steps: [
      { output: [thought(), calls("a", SAME)] },
      { output: [thought(), calls("b", SAME)] },
      { output: [thought(), says("Both.")] },
    ],
    tools: [look],
  });
  await b.ask("Look.");
  await b.ask("Thanks.");
  expect(look.runs).toEqual(["a", "b"]);
  expect(outputs(lastInput(b.emulator))).toEqual(["found a", "found b"]);
  expectNoneRefused(b.emulator);
});

test("T07 two calls of one response with the same call id are both run and both answered", async () => {
  const look = echoTool();
  const b = await bench({
    steps: [{ output: [thought(), calls("a", SAME), calls("b", SAME)] }, { output: [says("Both.")] }],
    tools: [look],
  });
  await b.ask("Look.");
  expect(look.runs).toEqual(["a", "b"]);
  expect(outputs(lastInput(b.emulator))).toEqual(["found a", "found b"]);
  expectNoneRefused(b.emulator);
});

test("T08 in a batch in which one call waits for approval, every call has its own result", async () => {
  const free = echoTool();
  const gated = toolOf(() => "written", { name: "write_down", access: "write" });
  const b = await bench({
    steps: [
      {
        output: [thought(), { function_call: { name: "write_down", arguments: { q: "x" } } }, calls("a")],
      },
      { output: [says("Both.")] },
    ],
    tools: [free, gated],
    agent: { permissions: "ask" },
  });
  const turn = b.session.send("Write and look.");
  for await (const event of turn) {
    if (event.type === "permission_request") await b.session.approve(event.requestId);
  }
  expect((await turn.result()).status).toBe("completed");
  expect(outputs(lastInput(b.emulator))).toEqual(["written", "found a"]);
  expect(free.runs).toEqual(["a"]);
  expectSound(b.emulator);
});

test.each([
  ["an empty text", ""],
  ["nothing", undefined],
])("T09 a tool that returns %s still has an output field", async (_, value) => {
  const b = await bench({
    steps: [{ output: [thought(), calls("a")] }, { output: [says("Done.")] }],
    tools: [toolOf(() => value)],
  });
  await b.ask("Look.");
  expect(typeof lastInput(b.emulator).at(-1)?.["output"]).toBe("string");
  expectSound(b.emulator);
});

test("T10 a second result for a call is not sent, because the first one may have been", async () => {
  const b = await bench({
    steps: [{ output: [thought(), calls("a")] }, { output: [says("Done.")] }],
    tools: [echoTool()],
  });
  await b.ask("Look.");
  await appendToLog(b, (events) =>
    ofType(events, "tool_result").map(({ turn, response, callId }) => ({
      type: "tool_result",
      turn,
      response,
      callId,
      status: "ok",
      text: "found something else",
    })),
  );
  await b.reopen();
  await b.ask("Sure?");
  expect(outputs(lastInput(b.emulator))).toEqual(["found a"]);
  expect(ofType(await b.log(), "tool_result")).toHaveLength(2);
  expectSound(b.emulator);
});

test("T11 a call that was cut off is neither run nor sent", async () => {
  const look = echoTool();
  const b = await bench({
    steps: [
      {
        output: [{ reasoning: [] }, calls("a long question, so that it takes many deltas")],
        faults: ["cut=after-event:6"],
      },
    ],
    tools: [look],
    agent: { limits: { maxRetries: 0 } },
  });
  expect((await b.say("Look.")).status).toBe("failed");
  expect(ofType(await b.log(), "partial").map(({ kind }) => kind)).toContain("tool_call");
  await b.ask("Again.");
  expect(look.runs).toEqual([]);
  expect(outline(lastInput(b.emulator))).toEqual(["user", "user"]);
  expectSound(b.emulator);
});

test("T11 a finished call of an incomplete response is not run and says why", async () => {
  const look = echoTool();
  const b = await bench({
    steps: [{ output: [thought(), calls("a")], status: "incomplete", reason: "max_output_tokens" }],
    tools: [look],
  });
  expect(await b.say("Look.")).toMatchObject({ status: "incomplete", reason: "max_output_tokens" });
  await b.ask("Go on.");
  expect(look.runs).toEqual([]);
  expect(outline(lastInput(b.emulator))).toEqual(["user", "function_call", "function_call_output", "user"]);
  expect(outputs(lastInput(b.emulator))).toEqual(["not executed: the response was cut off"]);
  expectSound(b.emulator);
});

test("T12 a denied call is reported as not executed, with the reason", async () => {
  const look = echoTool();
  const b = await bench({
    steps: [{ output: [thought(), calls("a")] }, { output: [says("I could not.")] }],
    tools: [look],
    agent: { permissions: async () => ({ decision: "deny", reason: "not on a Sunday" }) },
  });
  await b.ask("Look.");
  expect(outputs(lastInput(b.emulator))).toEqual(["not executed: denied by the user: not on a Sunday"]);
  expect(look.runs).toEqual([]);
  expectSound(b.emulator);
});

test("T12 arguments that are not JSON or do not match are reported to the model, and the call goes back unchanged", async () => {
  const look = echoTool();
  const b = await bench({
    steps: [
      {
        output: [
          thought(),
          { function_call: { name: "look_up", arguments: '{"q": "a' } },
          { function_call: { name: "look_up", arguments: { wrong: 1 } } },
          { function_call: { name: "no_such_tool", arguments: {} } },
        ],
      },
      { output: [says("Sorry.")] },
    ],
    tools: [look],
  });
  await b.ask("Look.");
  const input = lastInput(b.emulator);
  expect(input.filter((item) => item["type"] === "function_call").map((item) => item["arguments"])).toEqual([
    '{"q": "a',
    '{"wrong":1}',
    "{}",
  ]);
  expect(outputs(input)).toEqual([
    expect.stringMatching(/^not executed: .*JSON/),
    expect.stringMatching(/^not executed: the arguments do not fit "look_up": /),
    'not executed: there is no tool "no_such_tool"; available are: look_up',
  ]);
  expect(look.runs).toEqual([]);
  expectSound(b.emulator);
});

test("T13 a call that wraps several is run as several and answered as one", async () => {
  const look = echoTool();
  const wrapped = {
    tool_uses: [
      { recipient_name: "functions.look_up", parameters: { q: "a" } },
      { recipient_name: "functions.look_up", parameters: { q: "b" } },
    ],
  };
  const b = await bench({
    steps: [
      { output: [thought(), { function_call: { name: "parallel", arguments: wrapped } }] },
      { output: [says("Both.")] },
    ],
    tools: [look],
  });
  await b.ask("Look twice.");
  expect(look.runs.toSorted()).toEqual(["a", "b"]);
  const [call, output] = lastInput(b.emulator).slice(-2);
  expect(call).toEqual(issued(b.emulator)[1]);
  expect(String(output?.["output"])).toMatch(/found a[\s\S]*found b/);
  expectSound(b.emulator);
});

test("T14 an item that cannot go back without server state is omitted, with the ids of its group", async () => {
  const image = { type: "image_generation_call", status: "completed", result: "aGVsbG8=" };
  const b = await bench({ steps: [{ output: [thought(), { item: image }, says("Drawn.")] }] });
  await b.ask("Draw.");
  await b.ask("Nice.");
  expect(outline(lastInput(b.emulator))).toEqual(["user", "assistant", "user"]);
  expectNoneRefused(b.emulator);
});

test("T14 fields that only an output has are not sent back", async () => {
  const search = {
    type: "web_search_call",
    status: "completed",
    action: { type: "search", query: "x" },
    tomorrow: { new: true },
  };
  const b = await bench({ steps: [{ output: [thought(), { item: search }, says("Found.")] }] });
  await b.ask("Search.");
  await b.ask("Thanks.");
  expect(Object.keys(lastInput(b.emulator)[2] ?? {}).toSorted()).toEqual(["action", "id", "status", "type"]);
  expectNoneRefused(b.emulator);
});

test("T14 an output too long to send is sent in part, and kept whole", async () => {
  const b = await bench({
    steps: [{ output: [thought(), calls("a")] }, { output: [says("Long.")] }],
    tools: [toolOf(() => "x".repeat(3_000_000))],
  });
  await b.ask("Look.");
  const [result] = ofType(await b.log(), "tool_result");
  expect(String(lastInput(b.emulator).at(-1)?.["output"]).length).toBeLessThan(200_000);
  expect(result?.blob).toMatch(/^[0-9a-f]{64}$/);
  expectSound(b.emulator);
});
