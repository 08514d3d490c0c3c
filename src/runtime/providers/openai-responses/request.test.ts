import fastCheck from "fast-check";
import { describe, expect, test } from "vitest";

import type { EventDraft, LoggedEvent, Origin, Settings } from "../../../base/events/index.ts";
import { isObject, type RawJson, sliceObject } from "../../../base/support/index.ts";
import { Fold, type Plan, planOf } from "../../fold/index.ts";
import { ITEM_ID_PREFIXES, outlineOf } from "../../rules/index.ts";
import { PROFILES } from "../profiles/index.ts";
import type { RenderedRequest } from "../provider.ts";
import { openaiResponses } from "./index.ts";
import { itemDraft } from "./item-draft.ts";
import { HOSTED_RULES, inputFields } from "./item-fields.ts";
import { renderEntry } from "./render-items.ts";

type Json = Record<string, unknown>;

const home: Origin = {
  provider: "openai",
  dialect: "openai-responses",
  model: "m",
  endpoint: "https://a.test/v1",
  credential: "abc",
};

const base: Settings = {
  target: home,
  tools: [],
  hosted: [],
  replay: "all",
  profile: PROFILES["openai"],
  capabilities: { reasoning: true, sampling: true, vision: true },
  parameters: {},
  renderer: 1,
};

/** Builds a log from drafts, with the stamps a log would add. */
function logOf(drafts: readonly EventDraft[]): readonly LoggedEvent[] {
  return drafts.map((draft, seq) => ({
    ...draft,
    v: 1,
    seq,
    id: `ev_${seq}`,
    at: "2026-01-01T00:00:00.000Z",
    epoch: 1,
  })) as readonly LoggedEvent[];
}

const user = (text: string): EventDraft => ({
  type: "user_message",
  turn: "t",
  by: "person",
  content: [{ type: "text", text }],
});

function group(
  response: string,
  items: readonly (Json | string)[],
  more: {
    readonly origin?: Origin;
    readonly status?: "completed" | "incomplete";
    readonly prefixHash?: string;
  } = {},
): readonly EventDraft[] {
  const drafts = items.map((item, index): EventDraft => {
    const text = typeof item === "string" ? item : JSON.stringify(item);
    const draft = { ...itemDraft(text, index), turn: "t", response };
    return draft.type === "reasoning" ? { ...draft, startedAt: "", durationMs: 0 } : draft;
  });
  const results = drafts.flatMap((draft): readonly EventDraft[] =>
    draft.type === "tool_call"
      ? [{ type: "tool_result", turn: "t", response, callId: draft.callId, status: "ok", text: "done" }]
      : [],
  );
  return [
    {
      type: "response_start",
      turn: "t",
      response,
      step: Number(response.slice(1)),
      attempt: 1,
      origin: more.origin ?? home,
      bodyHash: "",
      prefixHash: more.prefixHash ?? "",
    },
    ...drafts,
    { type: "response_end", turn: "t", response, status: more.status ?? "completed", durationMs: 0 },
    ...results,
  ];
}

const context = { cacheKey: "root", blob: () => undefined };

function renderLog(drafts: readonly EventDraft[], settings: Partial<Settings> = {}): RenderedRequest {
  const plan = planOf(logOf(drafts), { ...base, ...settings }) as Plan;
  return openaiResponses.createRenderer().render(plan, context);
}

const textOf = (rendered: RenderedRequest): string => Buffer.concat(rendered.body).toString("utf8");
const bodyOf = (rendered: RenderedRequest): Json => JSON.parse(textOf(rendered)) as Json;
const inputOf = (rendered: RenderedRequest): readonly Json[] => bodyOf(rendered)["input"] as readonly Json[];

const rs: Json = {
  id: "rs_1",
  type: "reasoning",
  summary: [],
  encrypted_content: "gAAA",
};
const msg: Json = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hello.", annotations: [] }],
};
const fc: Json = {
  id: "fc_1",
  type: "function_call",
  status: "completed",
  call_id: "call_1",
  name: "f",
  arguments: "{}",
};

describe("the request body", () => {
  test("has its keys in a fixed order, with the input last", () => {
    const body = bodyOf(
      renderLog([user("Hi.")], {
        effort: "high",
        summary: "detailed",
        reasoningContext: "all_turns",
        system: "Be brief.",
        tools: [{ name: "f", description: "d", parameters: { type: "object" }, strict: true }],
        hosted: [{ type: "web_search" }],
        maxOutputTokens: 500,
        output: { name: "output", schema: { type: "object" }, strict: true },
        parameters: { temperature: 0.5, top_p: 0.9, tool_choice: "auto", metadata: { a: "b" } },
      }),
    );
    expect(Object.keys(body)).toEqual([
      "model",
      "store",
      "stream",
      "include",
      "reasoning",
      "instructions",
      "tools",
      "parallel_tool_calls",
      "max_output_tokens",
      "text",
      "prompt_cache_key",
      "temperature",
      "top_p",
      "tool_choice",
      "metadata",
      "input",
    ]);
    expect(body).toEqual({
      model: "m",
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "high", summary: "detailed", context: "all_turns" },
      instructions: "Be brief.",
      tools: [
        { type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: true },
        { type: "web_search" },
      ],
      parallel_tool_calls: true,
      max_output_tokens: 500,
      text: { format: { type: "json_schema", name: "output", schema: { type: "object" }, strict: true } },
      prompt_cache_key: "root",
      temperature: 0.5,
      top_p: 0.9,
      tool_choice: "auto",
      metadata: { a: "b" },
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi." }] }],
    });
  });

  test("has no unset keys", () => {
    expect(Object.keys(bodyOf(renderLog([user("Hi.")])))).toEqual([
      "model",
      "store",
      "stream",
      "include",
      "reasoning",
      "prompt_cache_key",
      "input",
    ]);
  });

  test.each<[string, Partial<Settings>, Json | undefined]>([
    ['sends the effort "off" as "none"', { effort: "off" }, { effort: "none", summary: "auto" }],
    ['does not send a summary of "none"', { summary: "none" }, undefined],
    ['defaults the summary to "auto"', {}, { summary: "auto" }],
    [
      "has no reasoning parameters for a model without reasoning",
      { effort: "high", capabilities: { reasoning: false, sampling: true, vision: true } },
      undefined,
    ],
  ])("%s", (_, settings, expected) => {
    expect(bodyOf(renderLog([user("Hi.")], settings))["reasoning"]).toEqual(expected);
  });

  test("omits only the sampling parameters if the model does not accept them", () => {
    const body = bodyOf(
      renderLog([user("Hi.")], {
        capabilities: { reasoning: true, sampling: false, vision: true },
        parameters: { temperature: 0.5, top_p: 0.9, metadata: {} },
      }),
    );
    expect([body["temperature"], body["top_p"], body["metadata"]]).toEqual([undefined, undefined, {}]);
  });

  test("ignores parameters that would introduce server state", () => {
    const parameters = {
      store: true,
      previous_response_id: "r",
      conversation: "c",
      input: [],
      model: "x",
      user: "u",
    };
    const text = textOf(renderLog([user("Hi.")], { parameters }));
    expect(JSON.parse(text)).toMatchObject({ model: "m", store: false, user: "u" });
    expect(text.match(/"(?:input|store|model)":/g)).toHaveLength(3);
    expect(text).not.toMatch(/previous_response_id|conversation/);
  });

  test("has only the fields the profile allows", () => {
    const profile = { ...base.profile, sendInclude: false, sendStore: false, sendPromptCacheKey: false };
    expect(Object.keys(bodyOf(renderLog([user("Hi.")], { profile })))).toEqual([
      "model",
      "stream",
      "reasoning",
      "input",
    ]);
  });

  test("omits fields this origin has refused, at the top and inside reasoning", () => {
    const refused = ["include", "prompt_cache_key", "reasoning.summary"].map((field): EventDraft => ({
      type: "replay_override",
      what: { kind: "field", field },
      action: "strip_field",
      target: home,
      cause: { code: "c", message: "m" },
    }));
    const elsewhere: EventDraft = {
      ...(refused[0] as Extract<EventDraft, { type: "replay_override" }>),
      what: { kind: "field", field: "store" },
      target: { ...home, model: "other" },
    };
    const body = bodyOf(renderLog([user("Hi."), ...refused, elsewhere], { effort: "low" }));
    expect(Object.keys(body)).toEqual(["model", "store", "stream", "reasoning", "input"]);
    expect(body["reasoning"]).toEqual({ effort: "low" });
  });
});

const withIds = (items: readonly Json[]): readonly unknown[] =>
  inputOf(renderLog([user("Hi."), ...group("r1", items)]))
    .slice(1)
    .map((item) => item["id"]);

describe("items at home", () => {
  test("keep the exact text of each field the input accepts, in their original order", () => {
    const item =
      '{"type":"message","status":"completed","id":"msg_1","x":{"new":1}, "content":[{"type":"output_text","text":"\\u2014 \\/","n":12345678901234567890}] ,"phase":"final_answer","role":"assistant"}';
    expect(textOf(renderLog([user("Hi."), ...group("r1", [item])]))).toContain(
      '{"type":"message","status":"completed","id":"msg_1","content":[{"type":"output_text","text":"\\u2014 \\/","n":12345678901234567890}],"phase":"final_answer","role":"assistant"}',
    );
  });

  test.each<[string, Json, readonly string[]]>([
    [
      "reasoning",
      { ...rs, status: "completed", content: [{ type: "reasoning_text", text: "x" }], new: 1 },
      ["id", "type", "summary", "encrypted_content"],
    ],
    ["message", { ...msg, phase: null, new: 1 }, ["id", "type", "role", "status", "content", "phase"]],
    [
      "function_call",
      { ...fc, namespace: "n", caller: { type: "direct" }, async: false, parsed_arguments: {} },
      ["id", "type", "status", "call_id", "name", "arguments", "namespace", "caller", "async"],
    ],
    [
      "custom_tool_call",
      { id: "ctc_1", type: "custom_tool_call", call_id: "c", name: "f", input: "x", new: 1 },
      ["id", "type", "call_id", "name", "input"],
    ],
    [
      "web_search_call",
      { id: "ws_1", type: "web_search_call", status: "completed", action: {}, new: 1 },
      ["id", "type", "status", "action"],
    ],
  ])("of type %s are sent with their listed fields", (type, item, fields) => {
    const sent = inputOf(
      renderLog([user("Hi."), ...group("r1", [item, ...(type === "reasoning" ? [msg] : [])])]),
    )[1];
    expect(Object.keys(sent ?? {})).toEqual(fields);
  });

  test("all have a rule: hosted types are replayed with listed fields or left out", () => {
    const environment = { type: "container_reference", container_id: "cntr_1" };
    for (const [type, { home: action, fields, why }] of Object.entries(HOSTED_RULES)) {
      expect(why).not.toBe("");
      expect(inputFields(type, "empty")).toBe(fields);
      const rendered = renderLog([user("Hi."), ...group("r1", [{ id: "x_1", type, environment }])]);
      const sent = inputOf(rendered).some((item) => item["type"] === type);
      // An id with another type's prefix is never sent, and a hosted item is not sent without its id.
      const prefixed = ITEM_ID_PREFIXES[type] === undefined;
      expect([type, sent]).toEqual([type, action === "replay" && prefixed]);
    }
    expect(inputFields("brand_new", "empty")).toBeUndefined();
  });

  test("always have a summary, as a list", () => {
    for (const summary of [undefined, null, "x"]) {
      const sent = inputOf(renderLog([user("Hi."), ...group("r1", [{ ...rs, summary }, msg])]))[1];
      expect(sent).toEqual({ id: "rs_1", type: "reasoning", encrypted_content: "gAAA", summary: [] });
    }
  });

  test("include readable reasoning if the profile says so", () => {
    const item = { ...rs, encrypted_content: null, content: [{ type: "reasoning_text", text: "x" }] };
    const profile = PROFILES["open-responses"];
    expect(inputOf(renderLog([user("Hi."), ...group("r1", [item, msg])], { profile }))[1]).toEqual({
      type: "reasoning",
      summary: [],
      content: [{ type: "reasoning_text", text: "x" }],
    });
  });

  test("are sent either all with ids or all without", () => {
    expect(withIds([rs, fc])).toEqual(["rs_1", "fc_1", undefined]);
    expect(withIds([rs, { ...fc, id: undefined }])).toEqual([undefined, undefined]);
    expect(withIds([{ ...rs, encrypted_content: null }, fc])).toEqual([undefined, undefined]);
    expect(withIds([rs, { ...fc, id: "call_1" }])).toEqual([undefined, undefined]);
    expect(withIds([{ ...rs, id: `rs_${"x".repeat(62)}` }, fc])).toEqual([undefined, undefined]);
  });

  test("are followed by their outputs, in call order", () => {
    const second = { ...fc, id: "fc_2", call_id: "call_2" };
    expect(inputOf(renderLog([user("Hi."), ...group("r1", [fc, second])])).slice(3)).toEqual([
      { type: "function_call_output", call_id: "call_1", output: "done" },
      { type: "function_call_output", call_id: "call_2", output: "done" },
    ]);
  });

  test("omit a refused field from items of its type", () => {
    const override: EventDraft = {
      type: "replay_override",
      what: { kind: "field", itemType: "function_call", field: "status" },
      action: "strip_field",
      target: home,
      cause: { code: "c", message: "m" },
    };
    const [, sent, call] = inputOf(renderLog([user("Hi."), ...group("r1", [msg, fc]), override]));
    expect(sent).toHaveProperty("status");
    expect(call).not.toHaveProperty("status");
  });
});

describe("items abroad", () => {
  const abroad = { ...home, credential: "other" };

  test("are sent as plain meaning: no ids, nothing opaque", () => {
    const custom = { id: "ctc_1", type: "custom_tool_call", call_id: "c2", name: "sh", input: "ls" };
    const refused = {
      id: "msg_2",
      type: "message",
      role: "assistant",
      content: [{ type: "refusal", refusal: "no" }],
    };
    const items = [
      rs,
      { ...msg, phase: "commentary" },
      fc,
      custom,
      { id: "ws_1", type: "web_search_call" },
      refused,
    ];
    expect(inputOf(renderLog([user("Hi."), ...group("r1", items, { origin: abroad })])).slice(1)).toEqual([
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Hello.", annotations: [] }],
        phase: "commentary",
      },
      { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
      { type: "function_call", call_id: "c2", name: "sh", arguments: '{"input":"ls"}' },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "no", annotations: [] }] },
      { type: "function_call_output", call_id: "call_1", output: "done" },
      { type: "function_call_output", call_id: "c2", output: "done" },
    ]);
  });

  test("are treated like the finished items of an incomplete response at home", () => {
    const sent = inputOf(renderLog([user("Hi."), ...group("r1", [rs, msg], { status: "incomplete" })]));
    expect(sent.slice(1)).toEqual([
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Hello.", annotations: [] }],
      },
    ]);
  });
});

const head = (settings: Partial<Settings>): Json => {
  const { include, reasoning, store } = bodyOf(renderLog([user("Hi.")], settings));
  return { include, reasoning, store };
};

describe("the user's parameters and our reasoning parameters", () => {
  const parameters = {
    include: ["message.output_text.logprobs", "reasoning.encrypted_content"],
    reasoning: { mode: "pro", summary: "detailed" },
    store: true,
  };
  test("are merged: lists are united, objects combined", () => {
    expect(head({ parameters, effort: "high", reasoningContext: "all_turns" })).toEqual({
      include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
      reasoning: { effort: "high", summary: "detailed", context: "all_turns", mode: "pro" },
      store: false,
    });
  });

  test.each([{ include: [], reasoning: {} }, { include: null, reasoning: null }, {}])(
    "are not unset by %j",
    (unset) => {
      expect(head({ parameters: unset, effort: "low" })).toEqual({
        include: ["reasoning.encrypted_content"],
        reasoning: { effort: "low", summary: "auto" },
        store: false,
      });
    },
  );

  test("are the user's alone if ciphertext is not requested and the model has no reasoning", () => {
    const profile = { ...PROFILES["openai"], sendInclude: false };
    const capabilities = { ...base.capabilities, reasoning: false };
    expect(head({ parameters, profile, capabilities })).toEqual({
      include: parameters.include,
      reasoning: parameters.reasoning,
      store: false,
    });
  });

  test("are the user's alone under settings from an earlier version, as before", () => {
    const profile = { ...PROFILES["openai"], unitesParameters: undefined };
    expect(head({ parameters, profile })).toEqual({
      include: parameters.include,
      reasoning: parameters.reasoning,
      store: false,
    });
  });
});

describe("messages from people and from the runtime", () => {
  test("carry texts, images and files, inline, by URL and from blobs", () => {
    const content = [
      { type: "text", text: "Look:" },
      { type: "image", mediaType: "image/png", data: "AAAA" },
      { type: "image", url: "https://a.test/x.png" },
      { type: "image", mediaType: "image/png", blob: "b1" },
      { type: "file", name: "a.pdf", mediaType: "application/pdf", data: "BBBB" },
      { type: "file", name: "b.pdf", mediaType: "application/pdf", blob: "lost" },
    ] as const;
    const plan = planOf(logOf([{ type: "user_message", turn: "t", by: "person", content }]), base) as Plan;
    const rendered = openaiResponses.createRenderer().render(plan, {
      cacheKey: "root",
      blob: (name) => (name === "b1" ? Buffer.from("hello") : undefined),
    });
    expect(inputOf(rendered)[0]?.["content"]).toEqual([
      { type: "input_text", text: "Look:" },
      { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
      { type: "input_image", image_url: "https://a.test/x.png", detail: "auto" },
      { type: "input_image", image_url: "data:image/png;base64,aGVsbG8=", detail: "auto" },
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,BBBB" },
      { type: "input_text", text: "[file no longer available]" },
    ]);
  });

  test("use the developer role for the runtime and for a summary", () => {
    const nudge: EventDraft = {
      type: "user_message",
      turn: "t",
      by: "runtime",
      content: [{ type: "text", text: "Now." }],
    };
    const roles = (drafts: readonly EventDraft[]): readonly unknown[] =>
      inputOf(renderLog(drafts)).map((item) => item["role"]);
    expect(roles([user("Hi."), nudge])).toEqual(["user", "developer"]);
    const cut: EventDraft = { type: "compaction", before: 1, summary: "They greeted." };
    expect(inputOf(renderLog([user("Hi."), user("Again."), cut]))[0]).toEqual({
      type: "message",
      role: "developer",
      content: [{ type: "input_text", text: "Summary of the conversation so far:\n\nThey greeted." }],
    });
  });
});

describe("a reused renderer", () => {
  const settings: EventDraft = { type: "settings", settings: base };
  const drafts = [
    settings,
    user("One."),
    ...group("r1", [rs, fc]),
    ...group("r2", [{ ...rs, id: "rs_2" }, msg]),
    user("Two."),
  ];

  test("gives the same bytes and hashes as a new one at every step, and each body starts with the previous one", () => {
    const events = logOf(drafts);
    const fold = new Fold();
    const renderer = openaiResponses.createRenderer();
    let before = "";
    for (const event of events) {
      fold.add([event]);
      const plan = fold.plan();
      if (plan === undefined) continue;
      const kept = renderer.render(plan, context);
      const fresh = openaiResponses.createRenderer().render(plan, context);
      expect(textOf(kept)).toBe(textOf(fresh));
      expect([kept.bodyHash, kept.prefixHash]).toEqual([fresh.bodyHash, fresh.prefixHash]);
      expect(kept.sources).toEqual(fresh.sources);
      if (event.type === "user_message") {
        expect(textOf(kept).startsWith(before.slice(0, -2))).toBe(true);
        before = textOf(kept);
      }
    }
    expect(before).toContain("Two.");
  });

  test("hashes exactly the bytes it returns", async () => {
    const { createHash } = await import("node:crypto");
    const rendered = renderLog([user("Hi."), ...group("r1", [rs, fc])]);
    expect(rendered.bodyHash).toBe(createHash("sha256").update(textOf(rendered)).digest("hex"));
  });

  test("reports the source of each item", () => {
    expect(renderLog([user("Hi."), ...group("r1", [rs, fc])]).sources).toEqual([
      { path: "input[0]", itemType: "message" },
      { path: "input[1]", response: "r1", itemType: "reasoning", itemId: "rs_1" },
      { path: "input[2]", response: "r1", itemType: "function_call", itemId: "fc_1", callId: "call_1" },
      { path: "input[3]", itemType: "function_call_output", callId: "call_1" },
    ]);
  });
});

const thoughts = (rendered: RenderedRequest): number =>
  inputOf(rendered).filter((item) => isObject(item) && item["type"] === "reasoning").length;

describe("a prefix-bound target", () => {
  const profile = PROFILES["prefix-bound"];
  const hashBefore = renderLog([user("Hi.")], { profile }).prefixHash;
  test("gets the thought while its prefix is unchanged", () => {
    const log = [user("Hi."), ...group("r1", [rs, msg], { prefixHash: hashBefore })];
    expect(thoughts(renderLog(log, { profile }))).toBe(1);
  });

  test.each<[string, readonly EventDraft[], Partial<Settings>]>([
    ["another first message", [user("Ho.")], {}],
    ["another system prompt", [user("Hi.")], { system: "Be long." }],
    ["other tools", [user("Hi.")], { hosted: [{ type: "web_search" }] }],
  ])("gets neither the thought nor any later one after %s", (_, first, settings) => {
    const before = [...first, ...group("r1", [rs, msg], { prefixHash: hashBefore }), user("And?")];
    // This thought's own prefix matches the request, but an earlier thought is missing, so it is left out too.
    const { prefixHash } = renderLog(before, { profile, ...settings });
    const log = [
      ...before,
      ...group(
        "r2",
        [
          { ...rs, id: "rs_2" },
          { ...msg, id: "msg_2" },
        ],
        { prefixHash },
      ),
    ];
    const rendered = renderLog(log, { profile, ...settings });
    expect(thoughts(rendered)).toBe(0);
    expect(inputOf(rendered).filter((item) => "id" in item)).toEqual([]);
    expect(rendered.violations).toEqual([]);
  });
});

test("an item's payload is never parsed or rewritten", () => {
  const payload = "gAAA\\u002b\\/==";
  const item = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"${payload}"}` as RawJson;
  expect(textOf(renderLog([user("Hi."), ...group("r1", [item, msg])]))).toContain(
    `"encrypted_content":"${payload}"`,
  );
});

test("the members passed to the rules match the text that is sent, however an item is written", () => {
  const CALL = [
    ["type", '"function_call"'],
    ["name", '"n"'],
  ] as const;
  const space = fastCheck.constantFrom("", " ", "\t");
  const member = fastCheck.tuple(
    fastCheck.constantFrom(
      "id",
      "type",
      "call_id",
      "c\\u0061ll_id",
      "name",
      "arguments",
      "status",
      "summary",
      "new",
    ),
    fastCheck.constantFrom(
      '"function_call"',
      '"reasoning"',
      '"fc_1"',
      '"c"',
      '""',
      "null",
      "[]",
      "[1]",
      "{}",
      "1",
    ),
  );
  const item = fastCheck
    .tuple(fastCheck.array(member, { maxLength: 8 }), space)
    .map(
      ([members, gap]) =>
        `{${gap}${[...CALL, ...members].map(([key, value]) => `"${key}"${gap}:${gap}${value}`).join(`${gap},`)}${gap}}`,
    );
  let shown = 0;
  fastCheck.assert(
    fastCheck.property(fastCheck.array(item, { minLength: 1, maxLength: 3 }), (items) => {
      const log = [
        { type: "settings", turn: "t", settings: base } as const,
        user("Hi."),
        ...group("r1", items),
      ];
      const plan = planOf(logOf(log)) as Plan;
      for (const entry of plan.entries)
        for (const { text, outline } of renderEntry(entry, plan, context)) {
          if (outline === undefined) continue;
          shown += 1;
          expect(outline).toEqual(outlineOf(sliceObject(text)));
        }
    }),
    { numRuns: 500 },
  );
  expect(shown).toBeGreaterThan(100);
});
