/** Answers of the Responses API that real servers give and a client may not expect. Composed for these tests. */

type Item = Readonly<Record<string, unknown>>;

export function response(items: readonly Item[], id = "resp_odd", status = "completed"): readonly string[] {
  const head = { id, object: "response", model: "gpt-odd", output: [] };
  return [
    { type: "response.created", response: { ...head, status: "in_progress" } },
    ...items.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress" } },
      { type: "response.output_item.done", output_index, item },
    ]),
    {
      type: `response.${status}`,
      response: {
        ...head,
        status,
        output: items,
        usage: { input_tokens: 30, output_tokens: 20, total_tokens: 50 },
      },
    },
  ].map((event) => JSON.stringify(event));
}

const thought = (n = 1): Item => ({
  id: `rs_odd${n}`,
  type: "reasoning",
  summary: [],
  encrypted_content: `gAAAAABoddpayload${n}==`,
});
const said = (text: string, n = 1): Item => ({
  id: `msg_odd${n}`,
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
});
const call = (name: string, extra: object = {}): Item => ({
  id: "fc_odd1",
  type: "function_call",
  status: "completed",
  name,
  call_id: "call_odd1",
  arguments: '{"city":"Rome"}',
  ...extra,
});

const PROGRAM: Item = {
  id: "cm_odd1",
  type: "program",
  call_id: "call_program1",
  code: "text(await tools.get_weather({city:'Rome'}))",
  fingerprint: "gAAAAABfingerprint==",
};
const CALLED = { status: "in_progress", caller: { type: "program", caller_id: "call_program1" } };

export const RESPONSES_ANSWERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "tool search": [
    response([
      thought(),
      {
        id: "tsc_odd1",
        type: "tool_search_call",
        status: "completed",
        arguments: { paths: ["get_weather"] },
        call_id: null,
        execution: "server",
      },
      {
        id: "tso_odd1",
        type: "tool_search_output",
        status: "completed",
        call_id: null,
        execution: "server",
        tools: [{ type: "function", name: "get_weather", parameters: { type: "object", properties: {} } }],
      },
      call("get_weather", { namespace: "get_weather" }),
    ]),
  ],
  "a program": [
    response([thought(), PROGRAM, call("get_weather", CALLED)]),
    response([
      { id: "cmo_odd1", type: "program_output", call_id: "call_program1", result: "21", status: "completed" },
      said("21 °C."),
    ]),
  ],
  "a program that never ended": [response([thought(), PROGRAM, call("get_weather", CALLED)])],
  "a shell in a container": [
    response([
      thought(),
      {
        id: "sh_odd1",
        type: "shell_call",
        status: "completed",
        call_id: "call_shell1",
        action: { commands: ["uname"], max_output_length: null, timeout_ms: null },
        environment: { type: "container_reference", container_id: "cntr_odd" },
      },
      {
        id: "sho_odd1",
        type: "shell_call_output",
        status: "completed",
        call_id: "call_shell1",
        max_output_length: null,
        output: [{ outcome: { type: "exit", exit_code: 0 }, stderr: "", stdout: "Linux\n" }],
      },
      said("It is Linux."),
    ]),
  ],
  "a shell of the client's": [
    response([
      thought(),
      {
        id: "sh_odd2",
        type: "shell_call",
        status: "completed",
        call_id: "call_shell2",
        action: { commands: ["uname"], max_output_length: null, timeout_ms: null },
        environment: { type: "local" },
      },
    ]),
  ],
  "a local shell": [
    response([
      thought(),
      {
        id: "lsh_odd1",
        type: "local_shell_call",
        status: "completed",
        call_id: "call_local1",
        action: { type: "exec", command: ["uname"], env: {} },
      },
    ]),
  ],
  "a patch": [
    response([
      thought(),
      {
        id: "apc_odd1",
        type: "apply_patch_call",
        status: "completed",
        call_id: "call_patch1",
        operation: { type: "create_file", path: "a.txt", diff: "+a" },
      },
    ]),
  ],
  "a picture": [
    response([
      thought(),
      { id: "ig_odd1", type: "image_generation_call", status: "completed", result: "aWY=" },
      said("Here."),
    ]),
  ],
  "a picture at the end": [
    response([
      thought(),
      said("Here it comes."),
      { id: "ig_odd1", type: "image_generation_call", status: "completed", result: "aWY=" },
    ]),
  ],
  "a request for approval": [
    response([
      thought(),
      {
        id: "mcpr_odd1",
        type: "mcp_approval_request",
        name: "ask",
        arguments: "{}",
        server_label: "odd",
      },
    ]),
  ],
  "an approved call": [
    response([
      thought(1),
      { id: "mcpr_odd1", type: "mcp_approval_request", name: "ask", arguments: "{}", server_label: "odd" },
      {
        id: "mcp_odd1",
        type: "mcp_call",
        status: "completed",
        approval_request_id: "mcpr_odd1",
        name: "ask",
        arguments: "{}",
        output: "42",
        error: null,
        server_label: "odd",
      },
      thought(2),
      said("42."),
    ]),
  ],
  "a computer": [
    response([
      thought(),
      {
        id: "cu_odd1",
        type: "computer_call",
        status: "completed",
        call_id: "call_computer1",
        action: { type: "screenshot" },
        pending_safety_checks: [],
      },
    ]),
  ],
  "a compaction": [
    response([
      { id: "cmp_odd1", type: "compaction", encrypted_content: "gAAAAABcompaction==" },
      thought(),
      said("Going on."),
    ]),
  ],
  "an item of an invented type": [
    response([
      thought(),
      { id: "holo_1", type: "hologram", status: "completed", voxels: "abc" },
      said("Look."),
    ]),
  ],
  "an invented call": [
    response([thought(), { id: "hc_1", type: "hologram_call", call_id: "call_holo", action: {} }]),
  ],
  "an invented event": [
    response([thought(), said("Well.")]).toSpliced(
      2,
      0,
      JSON.stringify({ type: "response.hologram.delta", output_index: 0, delta: "x" }),
    ),
  ],
  "an undeclared custom call": [
    response([
      thought(),
      {
        id: "ctc_odd1",
        type: "custom_tool_call",
        status: "completed",
        call_id: "call_custom1",
        name: "x_keyword_search",
        input: '{"query":"odd"}',
      },
      said("Found."),
    ]),
  ],
  "a custom call by a very long name": [
    response([
      thought(),
      {
        id: "ctc_odd1",
        type: "custom_tool_call",
        status: "completed",
        call_id: "call_custom1",
        name: "w".repeat(200),
        input: "{}",
      },
    ]),
  ],
  "another answer in the middle of the first": [
    [
      ...response([thought(7), said("Dead.", 7), call("get_weather", { id: "fc_dead" })], "resp_dead").slice(
        0,
        -2,
      ),
      ...response([thought(8), said("Live.", 8)], "resp_live"),
    ],
  ],
  "the same start twice": [[response([])[0] as string, ...response([thought(), said("Once.")])]],
  "a dotted name": [response([thought(), call("functions.get_weather")])],
  "a wrapper of calls": [response([thought(), call("multi_tool_use.parallel")])],
  "a name with a leaked token": [response([thought(), call("get_weather<|channel|>commentary")])],
  "a name with a space": [response([thought(), call("get weather")])],
  "a very long name": [response([thought(), call("w".repeat(200))])],
  "a thought and nothing else": [response([thought()]), response([thought(2)])],
  "an incomplete answer": [response([thought(), said("Hal")], "resp_odd", "incomplete")],
};
