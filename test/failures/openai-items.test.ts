/** Answers with items of OpenAI's own tools, in a session: nothing gets stuck, and the thoughts go home. */

import fastCheck from "fast-check";
import { describe, expect, test } from "vitest";

import { runs } from "../support/runs.ts";
import {
  bench,
  echoTool,
  expectNoneRefused,
  expectSound,
  type Json,
  lastInput,
  ofType,
  says,
  thought,
} from "./harness.ts";

const item = (one: Json): Json => ({ item: one });

describe("calls to tools that this program does not have are answered, and the model continues", () => {
  const action = { commands: ["ls"], max_output_length: null, timeout_ms: null };
  test.each<[string, Json, string]>([
    [
      "shell",
      { type: "shell_call", call_id: "call_1", status: "completed", action, environment: null },
      "shell_call_output",
    ],
    [
      "local_shell",
      {
        type: "local_shell_call",
        call_id: "call_1",
        status: "completed",
        action: { type: "exec", command: ["ls"], env: {} },
      },
      "local_shell_call_output",
    ],
    [
      "apply_patch",
      {
        type: "apply_patch_call",
        call_id: "call_1",
        status: "completed",
        operation: { type: "delete_file", path: "a" },
      },
      "apply_patch_call_output",
    ],
    [
      "tool_search",
      {
        type: "tool_search_call",
        call_id: "call_1",
        status: "completed",
        execution: "client",
        arguments: {},
      },
      "tool_search_output",
    ],
    [
      "mcp_approval_request",
      { type: "mcp_approval_request", name: "look_up", arguments: "{}", server_label: "s" },
      "mcp_approval_response",
    ],
  ])("%s", async (name, call, output) => {
    const look = echoTool();
    const b = await bench({
      steps: [{ output: [thought(), item(call)] }, { output: [thought(), says("Then not.")] }],
      tools: [look],
    });
    expect(await b.ask("Go.")).toBe("Then not.");
    await b.ask("And now?");
    expect(look.runs).toEqual([]);
    const [result] = ofType(await b.log(), "tool_result");
    expect(result).toMatchObject({ status: "error" });
    expect(result?.text).toContain(`there is no tool "${name}"`);
    const types = lastInput(b.emulator).map(({ type }) => type);
    expect(types).toEqual(["message", "reasoning", call["type"], output, "reasoning", "message", "message"]);
    expectSound(b.emulator);
  });
});

const callOfProgram = (n: number): Json => ({
  type: "function_call",
  call_id: `call_${n}`,
  name: "look_up",
  arguments: JSON.stringify({ q: `q${n}` }),
  status: "in_progress",
  caller: { type: "program", caller_id: "call_p" },
});

test("a program calls one of our tools over two responses, and all thoughts go home", async () => {
  const look = echoTool();
  const program = { type: "program", call_id: "call_p", code: "await look_up()", fingerprint: "gAAA==" };
  const b = await bench({
    steps: [
      { output: [thought(), item({ ...program, id: "cm_1" }), item(callOfProgram(1))] },
      { output: [item(callOfProgram(2))] },
      {
        output: [
          item({ type: "program_output", call_id: "call_p", result: "1", status: "completed" }),
          thought(),
          says("Done."),
        ],
      },
    ],
    tools: [look],
  });
  expect(await b.ask("Go.")).toBe("Done.");
  await b.ask("And now?");
  expect(look.runs).toEqual(["q1", "q2"]);
  expectSound(b.emulator);
});

test("items that the server ran itself go home in pairs, and are not answered", async () => {
  const environment = { type: "container_reference", container_id: "cntr_1" };
  const b = await bench({
    steps: [
      {
        output: [
          thought(),
          item({
            type: "tool_search_call",
            call_id: null,
            status: "completed",
            execution: "server",
            arguments: {},
          }),
          item({
            type: "tool_search_output",
            call_id: null,
            status: "completed",
            execution: "server",
            tools: [],
          }),
          thought(),
          item({
            type: "shell_call",
            call_id: "call_s",
            status: "completed",
            action: { commands: ["ls"] },
            environment,
          }),
          item({
            type: "shell_call_output",
            call_id: "call_s",
            status: "completed",
            output: [],
            max_output_length: null,
          }),
          thought(),
          says("Done."),
        ],
      },
    ],
  });
  expect(await b.ask("Go.")).toBe("Done.");
  await b.ask("And now?");
  expect(lastInput(b.emulator)).toHaveLength(10);
  expectSound(b.emulator);
});

test("an image at the end costs no thought before it", async () => {
  const b = await bench({
    steps: [
      {
        output: [
          thought(),
          says("Here it is."),
          item({ type: "image_generation_call", status: "completed", result: "AAAA" }),
        ],
      },
    ],
  });
  await b.ask("Draw.");
  await b.ask("And now?");
  expect(lastInput(b.emulator).map(({ type }) => type)).toEqual([
    "message",
    "reasoning",
    "message",
    "message",
  ]);
  expectSound(b.emulator);
});

describe("any items in any order", () => {
  const done = { status: "completed" };
  const called: readonly Json[] = [
    { type: "function_call", arguments: '{"q":"a"}', name: "look_up", ...done },
    {
      type: "function_call",
      arguments: '{"q":"a"}',
      name: "look_up",
      status: "in_progress",
      caller: { type: "program", caller_id: "call_0" },
    },
    { type: "program", code: "x", fingerprint: "f" },
    { type: "program_output", result: "x", ...done },
    { type: "shell_call", action: { commands: [] }, ...done },
    { type: "shell_call", action: { commands: [] }, environment: { type: "container_reference" }, ...done },
    { type: "shell_call_output", output: [], ...done },
    { type: "local_shell_call", action: { type: "exec", command: [] }, ...done },
    { type: "apply_patch_call", operation: { type: "delete_file", path: "a" }, ...done },
    { type: "tool_search_call", execution: "client", arguments: {}, ...done },
    { type: "computer_call", pending_safety_checks: [], actions: [], ...done },
    { type: "computer_call_output", output: { type: "computer_screenshot", file_id: "f" }, ...done },
  ];
  const other: readonly Json[] = [
    thought(),
    thought(),
    says("Hello."),
    item({ type: "tool_search_call", call_id: null, execution: "server", arguments: {}, ...done }),
    item({ type: "tool_search_output", call_id: null, execution: "server", tools: [], ...done }),
    item({ type: "mcp_approval_request", arguments: "{}", name: "look_up", server_label: "s" }),
    item({ type: "mcp_call", arguments: "{}", name: "look_up", server_label: "s", output: "x", ...done }),
    item({ type: "image_generation_call", result: "x", ...done }),
    item({ type: "web_search_call", ...done }),
    item({ type: "brand_new" }),
  ];
  const output = fastCheck.oneof(
    fastCheck.constantFrom(...other),
    fastCheck
      .tuple(fastCheck.constantFrom(...called), fastCheck.nat(1))
      .map(([one, call]) => item({ ...one, call_id: `call_${call}` })),
  );
  const step = fastCheck.record({
    output: fastCheck.array(output, { minLength: 1, maxLength: 6 }),
    status: fastCheck.constantFrom("completed" as const, "completed" as const, "incomplete" as const),
  });

  test("are never refused when they go back, and no turn fails", async () => {
    await fastCheck.assert(
      fastCheck.asyncProperty(fastCheck.array(step, { minLength: 1, maxLength: 3 }), async (steps) => {
        const b = await bench({ steps, tools: [echoTool()], agent: { limits: { maxSteps: 6 } } });
        for (const words of ["One.", "Two.", "Three."])
          expect((await b.say(words)).status).toMatch(/^(?:completed|incomplete)$/);
        expectNoneRefused(b.emulator);
        await b.session.close();
        await b.emulator.close();
      }),
      runs(30),
    );
  });
});
