/**
 * Items beyond messages and function calls: they go back with the fields of the official types, in their group and in
 * pairs, and are refused if the pair, the program or the fingerprint is missing.
 */

import { describe, expect, test } from "vitest";

import { base, emulatorFor, errorOf, type Json, outputOf, post, scripted, user } from "./emulator-client.ts";

const ask = (input: unknown, more: Json = {}): Json => ({ ...base, input, ...more });

/** One answer: a thought, then these items; afterwards the model chats. */
async function answered(...items: readonly Json[]) {
  const output = [{ reasoning: "**Thinking**" }, ...items.map((item) => ({ item }))];
  const emulator = await scripted(JSON.stringify({ steps: [{ output }] }));
  const reply = await post(emulator, ask([user("go")]));
  expect(reply.status).toBe(200);
  return { emulator, output: outputOf(reply) };
}

async function verdict(emulator: Parameters<typeof post>[0], input: readonly unknown[]): Promise<unknown> {
  const reply = await post(emulator, ask([user("go"), ...input]));
  return reply.status === 200 ? "accepted" : errorOf(reply)["message"];
}

const patch = { type: "create_file", path: "a.txt", diff: "+a" };
const ran = [{ stdout: "ok", stderr: "", outcome: { type: "exit", exit_code: 0 } }];

/** The call of each type, the output that answers it, and the API's name for it. */
const pairs: readonly (readonly [name: string, call: Json, output: Json])[] = [
  [
    "shell call",
    { type: "shell_call", call_id: "c1", status: "completed", action: { commands: ["ls"] } },
    { type: "shell_call_output", call_id: "c1", output: ran, max_output_length: 4096, status: "completed" },
  ],
  [
    "local shell call",
    {
      type: "local_shell_call",
      call_id: "c1",
      status: "completed",
      action: { type: "exec", command: ["ls"] },
    },
    { type: "local_shell_call_output", id: "c1", output: "{}" },
  ],
  [
    "apply patch call",
    { type: "apply_patch_call", call_id: "c1", status: "completed", operation: patch },
    { type: "apply_patch_call_output", call_id: "c1", status: "completed", output: "done" },
  ],
  [
    "computer call",
    { type: "computer_call", call_id: "c1", status: "completed", actions: [], pending_safety_checks: [] },
    { type: "computer_call_output", call_id: "c1", output: { type: "computer_screenshot", file_id: "f" } },
  ],
  [
    "tool search call",
    { type: "tool_search_call", call_id: "c1", status: "completed", execution: "client", arguments: {} },
    { type: "tool_search_output", call_id: "c1", status: "completed", execution: "client", tools: [] },
  ],
];

describe.each(pairs)("a %s", (noun, call, output) => {
  test("goes back with its output, by its id, or without one if the type has none", async () => {
    const { emulator, output: issued } = await answered(call);
    expect(await verdict(emulator, [...issued, output, user("more")])).toBe("accepted");
    const { emulator: own, output: scriptedId } = await answered({ ...call, id: "x_given" });
    expect(scriptedId[1]?.["id"]).toBe("x_given");
    expect(await verdict(own, [...scriptedId, output, user("more")])).toBe("accepted");
  });

  test("is refused without its output, and the output without it", async () => {
    const { emulator, output: issued } = await answered(call);
    expect(await verdict(emulator, [...issued, user("more")])).toBe(`No tool output found for ${noun} c1.`);
    expect(await verdict(emulator, [output, user("more")])).toBe(
      `No tool call found for ${noun} output with call_id c1.`,
    );
  });
});

test("a local shell call may be answered like a function call, and its output may name the call by call_id", async () => {
  const { emulator, output } = await answered(pairs[1]?.[1] ?? {});
  for (const type of ["function_call_output", "local_shell_call_output"]) {
    expect(await verdict(emulator, [...output, { type, call_id: "c1", output: "x" }, user("more")])).toBe(
      "accepted",
    );
  }
});

test("a call without an id follows its reasoning by its call id", async () => {
  const { emulator, output } = await answered(pairs[0]?.[1] ?? {});
  const [reasoning, call] = output;
  const bare = { ...call };
  delete bare["id"];
  expect(await verdict(emulator, [reasoning, bare, pairs[0]?.[2], user("more")])).toBe("accepted");
});

describe("programs", () => {
  const program = { type: "program", call_id: "p1", code: "await look()", fingerprint: "fp-1" };
  const call = {
    type: "function_call",
    call_id: "c1",
    name: "look",
    arguments: "{}",
    status: "in_progress",
    caller: { type: "program", caller_id: "p1" },
  };
  const result = { type: "function_call_output", call_id: "c1", output: "ok", caller: call.caller };
  const done = { type: "program_output", call_id: "p1", result: "ok", status: "completed" };

  test("go back with the calls they made and their output", async () => {
    const { emulator, output } = await answered(program, call);
    expect(output[1]?.["id"]).toMatch(/^cm_/);
    expect(await verdict(emulator, [...output, result, user("more")])).toBe("accepted");
    const { emulator: other, output: whole } = await answered({ ...program, id: "cm_1" }, done);
    expect(await verdict(other, [...whole, user("more")])).toBe("accepted");
  });

  test("X-fingerprint: a program with another fingerprint is refused", async () => {
    const { emulator, output } = await answered({ ...program, id: "cm_1" }, done);
    const [reasoning, issued, end] = output;
    const changed = { ...issued, fingerprint: "fp-2" };
    expect(await verdict(emulator, [reasoning, changed, end, user("more")])).toBe(
      "Invalid 'input[2].fingerprint': the fingerprint of program cm_1 could not be verified. It must be sent back unchanged.",
    );
  });

  test("X-caller: a call of a program without its program is refused", async () => {
    const { emulator, output } = await answered(program, call);
    const [, , made] = output;
    const bare = { ...made };
    delete bare["id"];
    expect(await verdict(emulator, [bare, result, user("more")])).toBe(
      "No program found for function call c1 with caller_id p1.",
    );
  });
});

describe("other items", () => {
  test("are accepted back unchanged", async () => {
    const search = { type: "tool_search_call", status: "completed", execution: "server", arguments: {} };
    const items = [
      { ...search, call_id: null },
      { type: "tool_search_output", call_id: null, execution: "server", status: "completed", tools: [] },
      { type: "mcp_list_tools", server_label: "s", tools: [] },
      { type: "mcp_approval_request", name: "n", arguments: "{}", server_label: "s" },
    ];
    const { emulator, output } = await answered(...items);
    const approval = { type: "mcp_approval_response", approval_request_id: output[4]?.["id"], approve: true };
    expect(await verdict(emulator, [...output, approval, user("more")])).toBe("accepted");
  });

  test("include images, which go back to a server that stored them, but not to one that stores nothing", async () => {
    const image = { type: "image_generation_call", status: "completed", result: "aGk=" };
    const { emulator, output } = await answered(image);
    expect(await verdict(emulator, [...output, user("more")])).toMatch(/^Item with id 'ig_.* not found/);
    const stored = await post(emulator, ask([user("go"), ...output, user("more")], { store: true }));
    expect(stored.status).toBe(200);
  });

  test("are refused with a field that only the server writes", async () => {
    const { emulator, output } = await answered({ ...pairs[0]?.[1], created_by: "model" });
    expect(await verdict(emulator, [...output, pairs[0]?.[2], user("more")])).toBe(
      "Unknown parameter: 'input[2].created_by'.",
    );
  });
});

describe("items that change the request", () => {
  const exec = { type: "custom", name: "exec", description: "Runs a script" };
  const look = { type: "function", name: "look_up", parameters: { type: "object" } };

  test("add tools, which are used under the name of their group", async () => {
    const emulator = await emulatorFor();
    const tools = [{ type: "namespace", name: "functions", description: "", tools: [exec, look] }];
    const added = { type: "additional_tools", role: "developer", tools };
    const [, script] = outputOf(await post(emulator, ask([added, user("Use exec with `text(1)`")])));
    expect(script).toMatchObject({ type: "custom_tool_call", namespace: "functions", input: "text(1)" });
    const [, call] = outputOf(await post(emulator, ask([added, user("Use look_up")])));
    expect(call).toMatchObject({ type: "function_call", name: "look_up", namespace: "functions" });
  });

  test("add deferred tools, which are used only after a search has found them", async () => {
    const emulator = await emulatorFor();
    const tools = [{ ...look, defer_loading: true }, { type: "tool_search" }];
    const types = async (input: readonly unknown[]): Promise<unknown> =>
      outputOf(await post(emulator, ask(input, { tools }))).map(({ type }) => type);
    expect(await types([user("Use look_up")])).toEqual(["reasoning", "message"]);
    const search = { type: "tool_search_call", arguments: {}, execution: "server" };
    const found = { type: "tool_search_output", execution: "server", tools: [look] };
    expect(await types([user("Use look_up"), search, found])).toEqual(["reasoning", "function_call"]);
  });

  test("set an effort or a format, which applies from there on", async () => {
    const emulator = await emulatorFor();
    const off = { type: "configuration_update", reasoning: { effort: "none" } };
    expect(outputOf(await post(emulator, ask([off, user("hello")]))).map(({ type }) => type)).toEqual([
      "message",
    ]);
    const json = {
      type: "configuration_update",
      text: { format: { type: "json_schema", schema: { type: "object" } } },
    };
    const [, said] = outputOf(await post(emulator, ask([json, user("hello")])));
    expect(said).toMatchObject({ content: [{ text: "{}" }] });
  });
});
