/** Answers of Claude that real servers give and a client may not expect. Composed for these tests. */

type Block = Readonly<Record<string, unknown>>;

interface Ending {
  readonly stop?: string;
  readonly container?: object;
  readonly usage?: object;
  readonly started?: object;
  readonly id?: string;
}

const SIGNATURE = "EqQBCkYIBxgCKkBvZGQtYW5zd2Vycy1zaWduYXR1cmU=payload";

/** A stream of the blocks, each as the API streams its type. */
export function message(blocks: readonly Block[], ending: Ending = {}): readonly string[] {
  const { stop = "end_turn", container, usage = { output_tokens: 20 }, started, id = "msg_odd" } = ending;
  return [
    {
      type: "message_start",
      message: {
        id,
        type: "message",
        role: "assistant",
        model: "claude-odd",
        content: [],
        stop_reason: null,
        usage: started ?? { input_tokens: 40, output_tokens: 1 },
      },
    },
    ...blocks.flatMap(streamed),
    { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null, container }, usage },
    { type: "message_stop" },
  ].map((event) => JSON.stringify(event));
}

function streamed(block: Block, index: number): readonly object[] {
  const delta = (value: object): object => ({ type: "content_block_delta", index, delta: value });
  const around = (start: object, ...deltas: readonly object[]): readonly object[] => [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map(delta),
    { type: "content_block_stop", index },
  ];
  const { deltas, ...plain } = block;
  if (Array.isArray(deltas)) return around(plain, ...(deltas as object[]));
  switch (block["type"]) {
    case "text":
      return around({ ...block, text: "" }, { type: "text_delta", text: block["text"] });
    case "thinking":
      return around(
        { type: "thinking", thinking: "", signature: "" },
        { type: "thinking_delta", thinking: block["thinking"] },
        { type: "signature_delta", signature: block["signature"] },
      );
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return around(
        { ...block, input: {} },
        { type: "input_json_delta", partial_json: "" },
        { type: "input_json_delta", partial_json: JSON.stringify(block["input"]) },
      );
    default:
      return around(block);
  }
}

const thinking = (n = 1): Block => ({
  type: "thinking",
  thinking: `Thought ${n}.`,
  signature: `${SIGNATURE}${n}`,
});
const words = (text: string): Block => ({ type: "text", text });
const serverCall = (id: string, name = "web_search", input: object = { query: "odd" }): Block => ({
  type: "server_tool_use",
  id,
  name,
  input,
});
const found = (id: string, type = "web_search_tool_result"): Block => ({
  type,
  tool_use_id: id,
  content: [
    {
      type: "web_search_result",
      title: "Odd",
      url: "https://odd.test/",
      encrypted_content: "EoYCCkYIodd",
      page_age: null,
    },
  ],
});
const call = (name: string, extra: object = {}): Block => ({
  type: "tool_use",
  id: "toolu_odd1",
  name,
  input: { city: "Rome" },
  ...extra,
});

const CODE = "srvtoolu_code1";
const CALLER = { type: "code_execution_20260120", tool_id: CODE };
const CONTAINER = { id: "container_odd1", expires_at: "2026-06-01T00:00:00Z" };
const ran = (id: string): Block => ({
  type: "code_execution_tool_result",
  tool_use_id: id,
  content: { type: "code_execution_result", stdout: "4\n", stderr: "", return_code: 0, content: [] },
});

/** Each entry: the answers to one message, in order. */
export const CLAUDE_ANSWERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "blank text next to a search": [
    message([
      thinking(),
      words("\n\n"),
      serverCall("srvtoolu_1"),
      found("srvtoolu_1"),
      words("\n\n"),
      words("Found it."),
    ]),
  ],
  "blank text before a call": [
    message([thinking(), words("\n\n"), call("get_weather")], { stop: "tool_use" }),
    message([words("\n")]),
  ],
  "nothing but blank text": [message([thinking(), words(" \n")]), message([words("   ")])],
  "a search that paused": [
    message([thinking(), serverCall("srvtoolu_1")], { stop: "pause_turn" }),
    message([found("srvtoolu_1"), thinking(2), words("Found it.")]),
  ],
  "a search that paused twice and failed": [
    message([thinking(), serverCall("srvtoolu_1")], { stop: "pause_turn" }),
    message([found("srvtoolu_1"), thinking(2), serverCall("srvtoolu_2")], { stop: "pause_turn" }),
    message([found("srvtoolu_2")]).slice(0, 2),
  ],
  "a pause with only text": [
    message([thinking(), words("Let me see.")], { stop: "pause_turn" }),
    message([thinking(2), words("Seen.")]),
  ],
  "a pause after an unrequested result": [
    message([thinking(), found("srvtoolu_never_seen"), words("Let me see.")], { stop: "pause_turn" }),
    message([thinking(2), words("Seen.")]),
  ],
  "a search next to a call": [
    message([thinking(), serverCall("srvtoolu_1"), found("srvtoolu_1"), call("get_weather")], {
      stop: "tool_use",
    }),
  ],
  "a call before a thought without a follower, then a thought after a search": [
    message([call("get_weather"), thinking()], { stop: "tool_use" }),
    message(
      [serverCall("srvtoolu_1"), found("srvtoolu_1"), thinking(2), call("get_weather", { id: "toolu_odd2" })],
      { stop: "tool_use" },
    ),
  ],
  "a server call without any result": [message([thinking(), serverCall("srvtoolu_1"), words("Well.")])],
  "an advisor": [
    message([
      thinking(),
      serverCall("srvtoolu_a", "advisor", {}),
      {
        type: "advisor_tool_result",
        tool_use_id: "srvtoolu_a",
        content: { type: "advisor_redacted_result", encrypted_content: "opaque", stop_reason: "end_turn" },
      },
      words("Advised."),
    ]),
  ],
  "a result of an invented type": [
    message([
      thinking(),
      serverCall("srvtoolu_z", "zeta", {}),
      { type: "zeta_tool_result", tool_use_id: "srvtoolu_z", content: { type: "zeta_result", seal: "x" } },
      words("Zeta."),
    ]),
  ],
  "a server call answered by an invented block": [
    message([
      thinking(),
      serverCall("srvtoolu_y", "yota", {}),
      { type: "yota_outcome", call_id: "srvtoolu_y", value: 1 },
      words("Yota."),
    ]),
  ],
  "an invented block with an invented delta": [
    message([
      thinking(),
      { type: "hologram", image: null, deltas: [{ type: "hologram_delta", voxels: "abc" }] },
      words("Look."),
    ]),
  ],
  "an invented delta of a known block": [
    message([
      thinking(),
      {
        type: "text",
        text: "",
        deltas: [
          { type: "text_delta", text: "Sure" },
          { type: "tone_delta", tone: "calm" },
        ],
      },
    ]),
  ],
  "tools of an MCP server": [
    message([
      thinking(),
      { type: "mcp_tool_listing", mcp_server_name: "odd", tools: [] },
      { type: "mcp_tool_use", id: "mcptoolu_1", name: "ask", server_name: "odd", input: { a: 1 } },
      { type: "mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false, content: [words("42")] },
      words("It is 42."),
    ]),
  ],
  "a compaction": [
    message([
      {
        type: "compaction",
        content: null,
        deltas: [{ type: "compaction_delta", content: "So far: odd.", encrypted_content: "c2VhbA==" }],
      },
      thinking(),
      words("Going on."),
    ]),
  ],
  "a fallback between thoughts": [
    message(
      [
        thinking(1),
        { type: "fallback", from: { model: "claude-odd" }, to: { model: "claude-even" } },
        thinking(2),
        call("get_weather"),
      ],
      { stop: "tool_use" },
    ),
  ],
  "a file for the container": [
    message([thinking(), { type: "container_upload", file_id: "file_odd" }, words("Uploaded.")]),
  ],
  "code that waits for a client's tool": [
    message(
      [
        thinking(),
        serverCall(CODE, "code_execution", { code: "await get_weather()" }),
        call("get_weather", { caller: { type: "code_execution_20250825", tool_id: CODE } }),
      ],
      { stop: "tool_use", container: CONTAINER },
    ),
    message([ran(CODE), words("21 °C.")], { container: CONTAINER }),
  ],
  "code that calls tools round after round": [
    message(
      [
        thinking(),
        serverCall(CODE, "code_execution", { code: "for (;;) await get_weather()" }),
        call("get_weather", { caller: CALLER }),
      ],
      { stop: "tool_use", container: CONTAINER },
    ),
    message([call("get_weather", { id: "toolu_odd2", caller: CALLER })], {
      stop: "tool_use",
      container: CONTAINER,
      usage: { input_tokens: 0, output_tokens: 0 },
    }),
    message([call("get_weather", { id: "toolu_odd3", caller: CALLER })], {
      stop: "tool_use",
      container: CONTAINER,
    }),
    message([ran(CODE), words("All the same.")]),
  ],
  "searches inside of code": [
    message(
      [
        thinking(),
        serverCall(CODE, "code_execution", { code: "await web_search()" }),
        { ...serverCall("srvtoolu_1"), caller: CALLER },
        { ...found("srvtoolu_1"), caller: CALLER },
        ran(CODE),
        words("Found."),
      ],
      { container: CONTAINER },
    ),
  ],
  "searches inside of code that never ended": [
    message(
      [
        thinking(),
        serverCall(CODE, "code_execution", { code: "await web_search()" }),
        { ...serverCall("srvtoolu_1"), caller: CALLER },
        { ...found("srvtoolu_1"), caller: CALLER },
        words("Well."),
      ],
      { container: CONTAINER },
    ),
  ],
  "a search for tools that waits next to a call": [
    message(
      [thinking(), serverCall("srvtoolu_t", "tool_search_tool_regex", { pattern: "[" }), call("get_weather")],
      { stop: "tool_use" },
    ),
    message([
      {
        type: "tool_search_tool_result",
        tool_use_id: "srvtoolu_t",
        content: { type: "tool_search_tool_result_error", error_code: "invalid_pattern" },
      },
      words("No such tool."),
    ]),
  ],
  "code that waits, and no container is named": [
    message(
      [
        thinking(),
        serverCall(CODE, "code_execution", { code: "await get_weather()" }),
        call("get_weather", { caller: { type: "code_execution_20250825", tool_id: CODE } }),
      ],
      { stop: "tool_use" },
    ),
  ],
  "content in the first event": [
    message([serverCall(CODE, "code_execution", { code: "1" })], {
      stop: "pause_turn",
      container: CONTAINER,
    }),
    [
      JSON.stringify({
        type: "message_start",
        message: {
          id: "msg_pre",
          type: "message",
          role: "assistant",
          model: "claude-odd",
          content: [ran(CODE), words("All done.")],
          container: CONTAINER,
          stop_reason: "end_turn",
          stop_sequence: null,
          usage: { input_tokens: 0, output_tokens: 0 },
        },
      }),
      JSON.stringify({ type: "message_stop" }),
    ],
  ],
  "a call in the first event": [
    [
      JSON.stringify({
        type: "message_start",
        message: {
          id: "msg_pre",
          type: "message",
          role: "assistant",
          model: "claude-odd",
          content: [ran("srvtoolu_never_seen"), call("get_weather", { caller: CALLER })],
          container: CONTAINER,
          stop_reason: "tool_use",
          usage: { input_tokens: 0, output_tokens: 0 },
        },
      }),
      JSON.stringify({ type: "message_stop" }),
    ],
  ],
  "another answer in the middle of the first": [
    [
      ...message([thinking(7), words("Dead"), call("get_weather")], { id: "msg_dead" }).slice(0, -3),
      ...message([thinking(8), words("Live.")], { id: "msg_live" }),
    ],
  ],
  "the same start twice": [
    [message([thinking(), words("Once.")])[0] as string, ...message([thinking(), words("Once.")])],
  ],
  "usage that was summed over many searches": [
    message([thinking(), serverCall("srvtoolu_1"), found("srvtoolu_1"), words("Found.")], {
      started: { input_tokens: 900, output_tokens: 1 },
      usage: {
        input_tokens: 950_648,
        output_tokens: 900,
        server_tool_use: { web_search_requests: 30 },
      },
    }),
  ],
  "a dotted name": [message([thinking(), call("functions.get_weather")], { stop: "tool_use" })],
  "a wrapper of calls": [message([thinking(), call("multi_tool_use.parallel")], { stop: "tool_use" })],
  "a name with a leaked token": [
    message([thinking(), call("get_weather<|channel|>commentary")], { stop: "tool_use" }),
  ],
  "a name with a space": [message([thinking(), call("get weather")], { stop: "tool_use" })],
  "a very long name": [message([thinking(), call("w".repeat(200))], { stop: "tool_use" })],
  "a name in another script": [message([thinking(), call("погода")], { stop: "tool_use" })],
  "a refusal": [message([thinking(), words("I")], { stop: "refusal" })],
  "an unknown reason to stop": [message([thinking(), words("Hm.")], { stop: "tired" })],
  "a reason to stop that is a compaction": [
    message([{ type: "compaction", content: "So far: odd." }], { stop: "compaction" }),
  ],
};
