/**
 * Every output item type in OpenAI's types, each after an encrypted thought: decoded from a stream, logged, and sent
 * home with the thought. The shapes come from the official types (openai 7.53) and from recorded responses.
 */

import fastCheck from "fast-check";
import { describe, expect, test } from "vitest";

import type { EventDraft, LoggedEvent, Origin, Profile, Settings } from "../../../base/events/index.ts";
import { explain, Fold, type Plan } from "../../fold/index.ts";
import { PROFILES } from "../profiles/index.ts";
import type { RenderedRequest } from "../provider.ts";
import { openaiResponses } from "./index.ts";

type Json = Readonly<Record<string, unknown>>;

const home: Origin = {
  provider: "openai",
  dialect: "openai-responses",
  model: "m",
  endpoint: "https://a.test/v1",
  credential: "abc",
};

const settingsOf = (profile: Partial<Profile> = {}): Settings => ({
  target: home,
  tools: [],
  hosted: [],
  replay: "all",
  profile: { ...PROFILES["openai"], ...profile },
  capabilities: { reasoning: true, sampling: true, vision: true },
  parameters: {},
  renderer: 1,
});

/** A session built by hand from streamed responses and the runtime's results. */
class Story {
  readonly drafts: EventDraft[] = [];
  #responses = 0;

  says(text: string): this {
    this.drafts.push({ type: "user_message", turn: "t", by: "person", content: [{ type: "text", text }] });
    return this;
  }

  answers(items: readonly Json[], status: "completed" | "incomplete" = "completed"): this {
    this.#responses += 1;
    const base = { turn: "t", response: `r${this.#responses}` };
    this.drafts.push({
      type: "response_start",
      ...base,
      step: this.#responses,
      attempt: 1,
      origin: home,
      bodyHash: "",
      prefixHash: "",
    });
    const decoder = openaiResponses.createDecoder();
    const frames = items.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress" } },
      { type: "response.output_item.done", output_index, item },
    ]);
    const end = { type: `response.${status}`, response: { id: "resp_1", status, output: items } };
    for (const event of decoder.feed(
      [...frames, end].map((frame) => ({ event: "", data: JSON.stringify(frame) })),
    )) {
      if (event.type === "end")
        this.drafts.push({ type: "response_end", ...base, durationMs: 0, ...event.end });
      if (event.type !== "item_done") continue;
      const { draft } = event;
      this.drafts.push(
        draft.type === "reasoning"
          ? { ...draft, ...base, startedAt: "", durationMs: 0 }
          : { ...draft, ...base },
      );
    }
    return this;
  }

  result(callId: string, text: string, status: "ok" | "error" = "ok"): this {
    const response = `r${this.#responses}`;
    this.drafts.push({ type: "tool_result", turn: "t", response, callId, status, text });
    return this;
  }

  get events(): readonly LoggedEvent[] {
    return this.drafts.map((draft, seq) => ({
      ...draft,
      v: 1,
      seq,
      id: `ev_${seq}`,
      at: "2026-01-01T00:00:00.000Z",
      epoch: 1,
    })) as readonly LoggedEvent[];
  }

  request(settings = settingsOf()): { readonly rendered: RenderedRequest; readonly input: readonly Json[] } {
    const fold = new Fold();
    fold.add(this.events);
    const rendered = openaiResponses
      .createRenderer()
      .render(fold.plan(settings) as Plan, { cacheKey: "root", blob: () => undefined });
    const body = JSON.parse(Buffer.concat(rendered.body).toString("utf8")) as Json;
    return { rendered, input: body["input"] as readonly Json[] };
  }

  /** The input without the user's messages. Also asserts that the request breaks no rule. */
  sent(settings = settingsOf()): readonly Json[] {
    const { rendered, input } = this.request(settings);
    expect(rendered.violations).toEqual([]);
    return input.filter((item) => item["role"] !== "user");
  }

  calls(): readonly string[] {
    const fold = new Fold();
    fold.add(this.events);
    return fold.entries.flatMap((entry) =>
      entry.kind === "group" ? entry.calls.map((call) => `${call.name} ${call.callId}`) : [],
    );
  }

  why(type: string): string | undefined {
    const { rendered } = this.request();
    const event = this.events.find((one) => "itemType" in one && one.itemType === type);
    return explain(this.events, rendered.entries).find(({ seq }) => seq === event?.seq)?.why;
  }
}

const rs = (n = 1): Json => ({
  id: `rs_${n}`,
  type: "reasoning",
  summary: [],
  encrypted_content: `gAAA${n}`,
});
const msg = (n = 1, text = "Done."): Json => ({
  id: `msg_${n}`,
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", annotations: [], text }],
});
const fc = (n: number, more: Json = {}): Json => ({
  id: `fc_${n}`,
  type: "function_call",
  status: "completed",
  arguments: "{}",
  call_id: `call_${n}`,
  name: "look",
  ...more,
});
const story = (): Story => new Story().says("Hi.");
const types = (items: readonly Json[]): readonly unknown[] => items.map(({ type }) => type);

const toolSearch: readonly Json[] = [
  {
    id: "tsc_1",
    type: "tool_search_call",
    status: "completed",
    arguments: { paths: ["look"] },
    call_id: null,
    execution: "server",
  },
  {
    id: "tso_1",
    type: "tool_search_output",
    status: "completed",
    call_id: null,
    execution: "server",
    tools: [{ type: "function", name: "look", defer_loading: true }],
  },
];
const program: Json = {
  id: "cm_1",
  type: "program",
  call_id: "call_p",
  code: "text(1)",
  fingerprint: "gAAAprint==",
};
const programOutput: Json = {
  id: "cmo_1",
  type: "program_output",
  status: "completed",
  call_id: "call_p",
  result: "1",
};
const ofProgram = (n: number): Json =>
  fc(n, { status: "in_progress", caller: { type: "program", caller_id: "call_p" } });
const containerShell: readonly Json[] = [
  {
    id: "sh_1",
    type: "shell_call",
    status: "completed",
    action: { commands: ["ls"], max_output_length: null, timeout_ms: null },
    call_id: "call_s",
    environment: { type: "container_reference", container_id: "cntr_1" },
  },
  {
    id: "sho_1",
    type: "shell_call_output",
    status: "completed",
    call_id: "call_s",
    max_output_length: null,
    output: [{ outcome: { type: "exit", exit_code: 0 }, stdout: "a\n", stderr: "" }],
  },
];
const computer: readonly Json[] = [
  {
    id: "cu_1",
    type: "computer_call",
    status: "completed",
    call_id: "call_c",
    action: { type: "screenshot" },
    pending_safety_checks: [],
  },
  {
    id: "cuo_1",
    type: "computer_call_output",
    status: "completed",
    call_id: "call_c",
    output: { type: "computer_screenshot", image_url: "data:image/png;base64,AAAA" },
  },
];
const image: Json = { id: "ig_1", type: "image_generation_call", status: "completed", result: "AAAA" };

describe("provider-run items are sent home whole, together with their reasoning", () => {
  test.each<[string, readonly Json[]]>([
    ["a tool search", toolSearch],
    [
      "two tool searches",
      [...toolSearch, ...toolSearch.map((one) => ({ ...one, id: `${String(one["id"])}2` }))],
    ],
    ["a finished program", [program, programOutput]],
    ["a shell in a container", containerShell],
    ["a screenshot", computer],
    [
      "a function run by the provider",
      [
        fc(1),
        { id: "fco_1", type: "function_call_output", status: "completed", call_id: "call_1", output: "x" },
      ],
    ],
    [
      "a custom tool run by the provider",
      [
        {
          id: "ctc_1",
          type: "custom_tool_call",
          status: "completed",
          call_id: "call_1",
          name: "x",
          input: "y",
        },
        { id: "ctco_1", type: "custom_tool_call_output", call_id: "call_1", output: "z" },
      ],
    ],
    [
      "an approved MCP call",
      [
        { id: "mcpr_1", type: "mcp_approval_request", arguments: "{}", name: "look", server_label: "s" },
        {
          id: "mcp_1",
          type: "mcp_call",
          status: "completed",
          approval_request_id: "mcpr_1",
          arguments: "{}",
          error: null,
          name: "look",
          output: "x",
          server_label: "s",
        },
      ],
    ],
    ["added tools", [{ id: "at_1", type: "additional_tools", role: "developer", tools: [] }]],
  ])("%s", (_, items) => {
    const said = [rs(), ...items, msg()];
    const told = story().answers(said).says("And?");
    expect(told.sent()).toEqual(said);
    expect(told.calls()).toEqual([]);
  });

  test("except half of a pair, which is left out together with the thought before it", () => {
    const [call, output] = containerShell as [Json, Json];
    expect(
      story()
        .answers([rs(), msg(), rs(2), call])
        .says("And?")
        .sent(),
    ).toEqual([rs(), msg()]);
    expect(story().answers([rs(), msg(), output]).says("And?").sent()).toEqual([rs(), msg()]);
    const [search, found] = toolSearch as [Json, Json];
    const again = { ...search, id: "tsc_2" };
    expect(story().answers([rs(), search, found, again, msg()]).says("And?").sent()).toEqual([
      rs(),
      search,
      found,
      msg(),
    ]);
  });
});

const begunProgram = (): Story =>
  story()
    .answers([rs(), program, ofProgram(1)])
    .result("call_1", "5");
const outputOfProgram = (n: number): Json => ({
  type: "function_call_output",
  call_id: `call_${n}`,
  output: "5",
  caller: { type: "program", caller_id: "call_p" },
});
const plainCall = (n: number): readonly Json[] => [
  { type: "function_call", call_id: `call_${n}`, name: "look", arguments: "{}" },
  { type: "function_call_output", call_id: `call_${n}`, output: "5" },
];

describe("a program and the calls it makes", () => {
  test("continue over several responses, with an unchanged fingerprint", () => {
    const told = begunProgram()
      .answers([ofProgram(2)])
      .result("call_2", "5")
      .answers([programOutput, rs(2), msg()]);
    expect(told.sent()).toEqual([
      rs(),
      program,
      ofProgram(1),
      outputOfProgram(1),
      ofProgram(2),
      outputOfProgram(2),
      programOutput,
      rs(2),
      msg(),
    ]);
  });

  test("become plain calls if the program is not sent; its output is left out, but later thoughts are not", () => {
    const told = story()
      .answers([rs(), program, ofProgram(1)], "incomplete")
      .result("call_1", "5")
      .answers([ofProgram(2)])
      .result("call_2", "5")
      .answers([programOutput, rs(2), msg()]);
    expect(told.sent()).toEqual([...plainCall(1), ...plainCall(2), rs(2), msg()]);
  });

  test("lose the calls' callers if the program's response is sent without ids", () => {
    const told = story()
      .answers([rs(), { ...program, id: `cm_${"x".repeat(90)}` }, ofProgram(1)])
      .result("call_1", "5")
      .answers([programOutput, rs(2), msg()]);
    expect(types(told.sent())).toEqual(["function_call", "function_call_output", "reasoning", "message"]);
    expect(JSON.stringify(told.sent())).not.toContain("caller");
  });

  test("become plain calls if a changed prefix removes the program", () => {
    const told = begunProgram().says("Go on.");
    const sent = told.sent(settingsOf({ prefixBound: true }));
    expect(types(sent)).toEqual(["function_call", "function_call_output"]);
    expect(JSON.stringify(sent)).not.toContain("caller");
  });
});

describe("calls of OpenAI-defined tools that the client answers", () => {
  const action = { commands: ["ls"], max_output_length: null, timeout_ms: null };
  const shell: Json = { id: "sh_1", type: "shell_call", status: "completed", action, call_id: "call_1" };
  const local: Json = {
    id: "lsh_1",
    type: "local_shell_call",
    status: "completed",
    action: { type: "exec", command: ["ls"], env: {} },
    call_id: "call_1",
  };
  const patch: Json = {
    id: "apc_1",
    type: "apply_patch_call",
    status: "completed",
    call_id: "call_1",
    operation: { type: "delete_file", path: "a" },
  };
  const search: Json = {
    id: "tsc_1",
    type: "tool_search_call",
    status: "completed",
    arguments: { goal: "weather" },
    call_id: "call_1",
    execution: "client",
  };
  const approval: Json = {
    id: "mcpr_1",
    type: "mcp_approval_request",
    arguments: "{}",
    name: "look",
    server_label: "s",
  };

  test.each<[string, Json, string, Json, Json]>([
    [
      "shell",
      shell,
      "shell call_1",
      {
        type: "shell_call_output",
        call_id: "call_1",
        output: [{ stdout: "", stderr: "no", outcome: { type: "exit", exit_code: 1 } }],
      },
      {
        type: "shell_call_output",
        call_id: "call_1",
        output: [{ stdout: "true", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
      },
    ],
    [
      "shell in the client's environment",
      { ...shell, environment: { type: "local" } },
      "shell call_1",
      {
        type: "shell_call_output",
        call_id: "call_1",
        output: [{ stdout: "", stderr: "no", outcome: { type: "exit", exit_code: 1 } }],
      },
      {
        type: "shell_call_output",
        call_id: "call_1",
        output: [{ stdout: "true", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
      },
    ],
    [
      "local shell",
      local,
      "local_shell call_1",
      { type: "local_shell_call_output", call_id: "call_1", output: "no" },
      { type: "local_shell_call_output", call_id: "call_1", output: "true" },
    ],
    [
      "apply_patch",
      patch,
      "apply_patch call_1",
      { type: "apply_patch_call_output", call_id: "call_1", status: "failed", output: "no" },
      { type: "apply_patch_call_output", call_id: "call_1", status: "completed", output: "true" },
    ],
    [
      "a tool search run by the client",
      search,
      "tool_search call_1",
      { type: "tool_search_output", call_id: "call_1", execution: "client", status: "completed", tools: [] },
      { type: "tool_search_output", call_id: "call_1", execution: "client", status: "completed", tools: [] },
    ],
    [
      "the approval of an MCP call",
      approval,
      "mcp_approval_request mcpr_1",
      { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: false, reason: "no" },
      { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true, reason: "true" },
    ],
  ])("%s", (_, item, call, refused, granted) => {
    const [, callId = ""] = call.split(" ");
    const asked = story().answers([rs(), item]);
    expect(asked.calls()).toEqual([call]);
    expect(story().answers([rs(), item]).result(callId, "no", "error").sent()).toEqual([rs(), item, refused]);
    expect(story().answers([rs(), item]).result(callId, "true").sent()).toEqual([rs(), item, granted]);
  });

  test("a tool search returns the tools it found", () => {
    const tools = [{ type: "function", name: "look" }];
    const told = story().answers([rs(), search]).result("call_1", JSON.stringify(tools));
    expect(told.sent()[2]).toEqual({
      type: "tool_search_output",
      call_id: "call_1",
      execution: "client",
      status: "completed",
      tools,
    });
  });

  test("a call that needs its id becomes a plain call if ids are not sent", () => {
    for (const item of [local, approval]) {
      const callId = String(item["call_id"] ?? item["id"]);
      const told = story()
        .answers([{ ...rs(), encrypted_content: null }, item])
        .result(callId, "x");
      expect(types(told.sent())).toEqual(["function_call", "function_call_output"]);
    }
    const told = story()
      .answers([{ ...rs(), encrypted_content: null }, shell])
      .result("call_1", "x");
    expect(types(told.sent())).toEqual(["shell_call", "shell_call_output"]);
  });

  test("become plain calls abroad", () => {
    const abroad = { ...settingsOf(), target: { ...home, model: "other" } };
    const sent = story().answers([rs(), shell]).result("call_1", "x").sent(abroad);
    expect(sent).toEqual([
      { type: "function_call", call_id: "call_1", name: "shell", arguments: JSON.stringify(action) },
      { type: "function_call_output", call_id: "call_1", output: "x" },
    ]);
  });
});

describe("leaving out an item", () => {
  test.each<[string, readonly Json[], readonly Json[]]>([
    ["after a message costs nothing", [rs(), msg(), image], [rs(), msg()]],
    ["between a message and a call costs nothing", [rs(), msg(), image, fc(1)], [rs(), msg(), fc(1)]],
    ["at the end costs the thought before it", [rs(), msg(), rs(2), image], [rs(), msg()]],
    ["at the end costs both thoughts before it", [rs(), msg(), rs(2), rs(3), image], [rs(), msg()]],
    ["that is the whole answer costs its thought", [rs(), image], []],
    [
      "such as an unanswered computer call costs the thought before it",
      [rs(), msg(), rs(2), computer[0] as Json],
      [rs(), msg()],
    ],
    [
      "of an unknown type after a message costs nothing",
      [rs(), msg(), { id: "x_1", type: "brand_new" }],
      [rs(), msg()],
    ],
    ["of an unknown type without an id costs nothing", [rs(), msg(), { type: "brand_new" }], [rs(), msg()]],
  ])("%s", (_, items, sent) => {
    const told = story().answers(items);
    if (items.some(({ type }) => type === "function_call")) told.result("call_1", "x");
    const left = told.says("And?").sent();
    expect(left.filter(({ type }) => type !== "function_call_output")).toEqual(sent);
  });

  test("before items with ids costs all reasoning of the response, and explain names the item", () => {
    const told = story()
      .answers([rs(), image, rs(2), msg()])
      .says("And?");
    expect(told.sent()).toEqual([
      { type: "message", status: "completed", role: "assistant", content: msg()["content"] },
    ]);
    expect(told.why("reasoning")).toBe(
      "the image_generation_call that followed it is not sent: image_generation_call cannot be sent back without server state; so all reasoning of the response is omitted",
    );
  });

  test("costs only the thought before it if no ids are sent", () => {
    const told = story()
      .answers([rs(), image, rs(2), msg()])
      .says("And?");
    const { id, ...second } = rs(2);
    expect(told.sent(settingsOf({ itemIds: "omit" }))[0]).toEqual(second);
    expect(id).toBe("rs_2");
  });

  test("costs all reasoning under settings from an earlier version, as before", () => {
    const told = story().answers([rs(), msg(), image]).says("And?");
    expect(types(told.sent(settingsOf({ omitsAlone: undefined })))).toEqual(["message"]);
  });
});

describe("any items in any order can be sent back", () => {
  const pool: readonly Json[] = [
    { type: "reasoning", summary: [], encrypted_content: "gAAA" },
    { type: "reasoning", summary: [], encrypted_content: null },
    {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "x" }],
    },
    { type: "message", role: "assistant", status: "completed", content: [] },
    { type: "function_call", arguments: "{}", name: "look" },
    {
      type: "function_call",
      arguments: "{}",
      name: "look",
      caller: { type: "program", caller_id: "call_0" },
    },
    { type: "function_call_output", status: "completed", output: "x" },
    { type: "custom_tool_call", name: "x", input: "y" },
    { type: "custom_tool_call_output", output: "x" },
    { type: "shell_call", action: { commands: [] } },
    { type: "shell_call", action: { commands: [] }, environment: { type: "container_reference" } },
    { type: "shell_call_output", output: [] },
    { type: "local_shell_call", action: { type: "exec" } },
    { type: "apply_patch_call", operation: { type: "delete_file" } },
    { type: "tool_search_call", execution: "server", arguments: {} },
    { type: "tool_search_call", execution: "client", arguments: {} },
    { type: "tool_search_output", execution: "server", tools: [] },
    { type: "program", code: "x", fingerprint: "f" },
    { type: "program_output", status: "completed", result: "x" },
    { type: "computer_call", pending_safety_checks: [] },
    { type: "computer_call_output", output: { type: "computer_screenshot" } },
    { type: "mcp_approval_request", arguments: "{}", name: "look", server_label: "s" },
    { type: "mcp_call", arguments: "{}", name: "look", server_label: "s" },
    { type: "image_generation_call", result: "x" },
    { type: "web_search_call" },
    { type: "brand_new" },
  ];
  const prefixes: Readonly<Record<string, string>> = {
    reasoning: "rs",
    message: "msg",
    function_call: "fc",
    function_call_output: "fco",
    custom_tool_call: "ctc",
    custom_tool_call_output: "ctco",
    web_search_call: "ws",
    tool_search_call: "tsc",
    tool_search_output: "tso",
    local_shell_call: "lsh",
    program: "cm",
  };
  let made = 0;
  /** Unique ids, some of them not replayable, and call ids that sometimes collide. */
  const item = fastCheck
    .record({ one: fastCheck.constantFrom(...pool), call: fastCheck.nat(2), odd: fastCheck.nat(30) })
    .map(({ one, call, odd }): Json => {
      const type = String(one["type"]);
      const id = odd === 0 ? `x_${"y".repeat(90)}` : `${prefixes[type] ?? "it"}_${(made += 1)}`;
      const callId = one["execution"] === "server" ? null : `call_${call}`;
      return { id, ...one, ...(["reasoning", "message"].includes(type) ? {} : { call_id: callId }) };
    });
  const response = fastCheck.record({
    items: fastCheck.array(item, { maxLength: 6 }),
    status: fastCheck.constantFrom("completed" as const, "completed" as const, "incomplete" as const),
  });

  test.each(["openai", "no-item-ids", "open-responses", "prefix-bound", "xai"])("%s", (name) => {
    fastCheck.assert(
      fastCheck.property(fastCheck.array(response, { minLength: 1, maxLength: 3 }), (responses) => {
        const told = story();
        for (const { items, status } of responses) told.answers(items, status);
        told.says("And?");
        const sent = told.sent(settingsOf(PROFILES[name]));
        told.sent({ ...settingsOf(), target: { ...home, model: "other" } });
        const programs = new Set(sent.flatMap((one) => (one["type"] === "program" ? [one["call_id"]] : [])));
        for (const one of sent) {
          const caller = one["caller"] as Json | undefined;
          if (caller !== undefined) expect(programs).toContain(caller["caller_id"]);
        }
        for (const [call, output] of [
          ["computer_call", "computer_call_output"],
          ["tool_search_call", "tool_search_output"],
          ["program", "program_output"],
        ] as const) {
          const count = (type: string): number => sent.filter((one) => one["type"] === type).length;
          if (call === "program") expect(count(output) === 0 || count(call) > 0).toBe(true);
          else expect([call, count(output)]).toEqual([call, count(call)]);
        }
      }),
      { numRuns: 100 },
    );
  });
});
