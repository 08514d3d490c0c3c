/** What Throughline requests from chat completions vendors beyond the dialect, by endpoint and by model. */

import { describe, expect, test } from "vitest";

import type { ChatProfile, EventDraft, Profile, Settings } from "../../../src/base/events/index.ts";
import { profileFor } from "../../../src/runtime/providers/capabilities.ts";
import { PROFILES } from "../../../src/runtime/providers/index.ts";
import type { Piece } from "./speakers.ts";
import { bodyOf, messagesOf, settingsOf, SpokenLog } from "./spoken-log.ts";

/** The settings that `createModel` makes for a model of that name. */
function vendorSettings(profile: string, model: string, change: Partial<Settings> = {}): Settings {
  const settings = settingsOf(profile, change);
  return {
    ...settings,
    target: { ...settings.target, model },
    profile: profileFor(PROFILES[profile] as Profile, model),
  };
}

/** The request of a conversation with one question, minus the fields that every request has. */
function asked(profile: string, model: string, change: Partial<Settings> = {}): Record<string, unknown> {
  const rendered = new SpokenLog().user("Hi.").render(vendorSettings(profile, model, change));
  const { model: _model, stream, stream_options: _options, messages, ...rest } = bodyOf(rendered);
  expect([stream, messages]).toEqual([true, [{ role: "user", content: "Hi." }]]);
  return rest;
}

describe("a request asks to keep the thoughts of earlier turns if the vendor forgets them by default", () => {
  test.for([
    ["moonshot", "kimi-k2.6", { thinking: { type: "enabled", keep: "all" } }],
    ["moonshot", "kimi-k2.5", { thinking: { type: "enabled" } }],
    ["zai", "glm-5.1", { thinking: { type: "enabled", clear_thinking: false } }],
    ["zai", "glm-4.7", { thinking: { type: "enabled", clear_thinking: false } }],
    ["zai", "glm-4.5", { thinking: { type: "enabled" } }],
    ["qwen", "qwen3.6-plus", { enable_thinking: true, preserve_thinking: true }],
    ["qwen", "qwen3-max", { enable_thinking: true }],
    ["vllm", "Qwen/Qwen3.6-35B-A3B", { chat_template_kwargs: { preserve_thinking: true } }],
    ["vllm", "openai/gpt-oss-120b", {}],
    ["cerebras", "qwen-3.8-27b", { clear_thinking: false }],
    ["cerebras", "gpt-oss-120b", {}],
    ["fireworks", "accounts/fireworks/models/kimi-k2p6", { reasoning_history: "preserved" }],
    ["minimax", "MiniMax-M2.5", { reasoning_split: true }],
    ["together", "zai-org/GLM-5", { reasoning: { enabled: true } }],
    ["litellm", "any", {}],
  ] as const)("%s, %s", ([profile, model, expected]) => {
    expect(asked(profile, model)).toEqual(expected);
  });

  test("unless thinking is off", () => {
    const off = { effort: "off" };
    expect(asked("moonshot", "kimi-k2.6", off)).toEqual({ thinking: { type: "disabled" } });
    expect(asked("qwen", "qwen3.6-plus", off)).toEqual({ enable_thinking: false });
  });

  test("the user's own fields of the same object are merged with it, without duplicate names, and cannot unset it", () => {
    const own = { chat_template_kwargs: { enable_thinking: true, preserve_thinking: false }, seed: 1 };
    const settings = vendorSettings("vllm", "Qwen/Qwen3.6-35B-A3B", { parameters: own });
    const rendered = new SpokenLog().user("Hi.").render(settings);
    expect(bodyOf(rendered)).toMatchObject({
      chat_template_kwargs: { enable_thinking: true, preserve_thinking: true },
      seed: 1,
    });
    expect(Buffer.concat(rendered.body).toString().split('"chat_template_kwargs"')).toHaveLength(2);
  });

  test("a custom profile has another name and is used unchanged", () => {
    const own = { ...PROFILES["moonshot"], name: "my-moonshot" };
    expect(profileFor(own, "kimi-k2.6")).toBe(own);
  });
});

describe("Kimi's request depends on the model's generation", () => {
  const limit = { maxOutputTokens: 100 };
  test.for([
    ["kimi-k2.5", undefined, { thinking: { type: "enabled" }, max_tokens: 100 }],
    ["kimi-k2.5", "off", { thinking: { type: "disabled" }, max_tokens: 100 }],
    ["kimi-k2.7", "off", { thinking: { type: "enabled" }, max_tokens: 100 }],
    ["kimi-k3", undefined, { max_completion_tokens: 100 }],
    ["kimi-k3", "medium", { reasoning_effort: "high", max_completion_tokens: 100 }],
    ["kimi-k3", "xhigh", { reasoning_effort: "max", max_completion_tokens: 100 }],
    ["kimi-k3", "off", { reasoning_effort: "low", max_completion_tokens: 100 }],
  ] as const)("%s with effort %s", ([model, effort, expected]) => {
    expect(asked("moonshot", model, { effort, ...limit })).toEqual(expected);
  });

  test("a model that always thinks gets another model's calls unchanged, and as text once it has refused them", () => {
    const k3 = vendorSettings("moonshot", "kimi-k3");
    const log = foreignRound("calls").user("So?");
    const first = log.render(k3);
    expect(messagesOf(first).map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    expect([first.violations, first.remarks]).toEqual([[], []]);
    const second = log.add(thoughtsRefused(k3)).render(k3);
    expect(messagesOf(second)).toEqual([
      { role: "user", content: "Hi." },
      { role: "assistant", content: "I look." },
      {
        role: "user",
        content:
          "Note: tools were called here, by another model or without its thoughts:\n\nget_weather {}\nanswered: result of call_a",
      },
      { role: "user", content: "So?" },
    ]);
    expect(second.violations).toEqual([]);
  });
});

const thought: Piece = { kind: "thought", text: "Hm.", payload: "sig" };
const said: Piece = { kind: "text", text: "I look." };
const call: Piece = { kind: "call", id: "call_a", name: "get_weather", arguments: "{}" };
const tool = { name: "get_weather", description: "", parameters: {}, strict: false };

/** An answer by a model that shows no thoughts. */
function foreignRound(ending: "stop" | "calls"): SpokenLog {
  const pieces = ending === "stop" ? [said] : [said, call];
  return new SpokenLog().user("Hi.").answer(settingsOf("openai-chat"), { pieces, ending });
}

/** The override that healing logs (class ECHO). */
function thoughtsRefused({ target }: Settings): EventDraft {
  const message = "The `reasoning_content` in the thinking mode must be passed back to the API.";
  return {
    type: "replay_override",
    what: { kind: "field", field: "thinking.type.enabled" },
    action: "strip_field",
    target,
    cause: { code: "invalid_request_error", message, class: "ECHO" },
  };
}

const deepseek = (change: Partial<Settings> = {}): Settings =>
  vendorSettings("deepseek", "deepseek-v4-pro", change);

describe("DeepSeek needs the thoughts of every answer when the request carries tools", () => {
  test("another model's text alone switches thinking off if the request carries tools, with a remark", () => {
    const log = foreignRound("stop").user("So?");
    const carried = log.render(deepseek({ tools: [tool] }));
    expect(bodyOf(carried)["thinking"]).toEqual({ type: "disabled" });
    expect([carried.violations, carried.remarks.map(({ code }) => code)]).toEqual([[], ["thinking_off"]]);
    const without = log.render(deepseek());
    expect(bodyOf(without)["thinking"]).toEqual({ type: "enabled" });
    expect(without.violations).toEqual([]);
  });

  test("its own thoughts keep thinking on, with and without tools", () => {
    const own = deepseek({ tools: [tool] });
    const log = new SpokenLog()
      .user("Hi.")
      .answer(own, { pieces: [thought, said], ending: "stop" })
      .user("So?");
    expect(bodyOf(log.render(own))["thinking"]).toEqual({ type: "enabled" });
  });

  test('an endpoint that accepts an empty string as "no thoughts" keeps thinking', () => {
    const own = deepseek({ tools: [tool] });
    const chat = own.profile.chat as ChatProfile;
    const settings = { ...own, profile: { ...own.profile, chat: { ...chat, whenNone: "empty" as const } } };
    const rendered = foreignRound("stop").user("So?").render(settings);
    expect(bodyOf(rendered)["thinking"]).toEqual({ type: "enabled" });
    expect(messagesOf(rendered)[1]).toEqual({ role: "assistant", content: "I look.", reasoning_content: "" });
    expect(rendered.violations).toEqual([]);
  });

  test("if the vendor misses thoughts, the request keeps those it has and switches thinking off", () => {
    const own = deepseek();
    const log = new SpokenLog()
      .user("Hi.")
      .answer(own, { pieces: [thought, said], ending: "stop" })
      .user("So?")
      .add(thoughtsRefused(own));
    const rendered = log.render(own);
    expect(bodyOf(rendered)["thinking"]).toEqual({ type: "disabled" });
    expect(messagesOf(rendered)[1]).toMatchObject({ reasoning_content: "Hm." });
    const generic = vendorSettings("generic-chat", "deepseek-v4-pro");
    const elsewhere = foreignRound("calls").user("So?").add(thoughtsRefused(generic)).render(generic);
    expect(bodyOf(elsewhere)["thinking"]).toEqual({ type: "disabled" });
  });

  test("the names of the non-thinking mode and of the old reasoner request no thinking and send no thoughts back", () => {
    for (const model of ["deepseek-chat", "deepseek-reasoner"]) {
      const settings = vendorSettings("deepseek", model, { tools: [tool] });
      const log = new SpokenLog()
        .user("Hi.")
        .answer(settings, { pieces: [thought, said], ending: "stop" })
        .user("So?");
      const body = bodyOf(log.render(settings));
      expect([body["thinking"], body["reasoning_effort"]]).toEqual([undefined, undefined]);
      expect(JSON.stringify(body)).not.toContain("reasoning_content");
    }
  });
});

/** The effort that is sent, and the codes of the remarks to the user. */
const told = (profile: string, model: string, effort: string): readonly unknown[] => {
  const rendered = new SpokenLog().user("Hi.").render(vendorSettings(profile, model, { effort }));
  return [bodyOf(rendered)["reasoning_effort"], rendered.remarks.map(({ code }) => code)];
};

describe("an effort is sent in the vendor's terms, or a remark says that it has no effect", () => {
  test.for([
    ["openai-chat", "gpt-5.6", "high", "high"],
    ["deepseek", "deepseek-v4-pro", "medium", "high"],
    ["deepseek", "deepseek-v4-pro", "xhigh", "max"],
    ["mistral", "mistral-medium-latest", "high", "high"],
    ["mistral", "mistral-medium-latest", "off", "none"],
    ["groq", "openai/gpt-oss-120b", "high", "high"],
    ["groq", "qwen/qwen3-32b", "high", "default"],
    ["vllm", "openai/gpt-oss-120b", "low", "low"],
  ] as const)("%s, %s: %s is sent as %s", ([profile, model, effort, word]) => {
    expect(told(profile, model, effort)).toEqual([word, []]);
  });

  test.for([
    ["deepseek", "deepseek-chat", "high"],
    ["moonshot", "kimi-k2.6", "high"],
    ["moonshot", "kimi-k2.7", "off"],
    ["zai", "glm-4.7", "high"],
    ["qwen", "qwen3.6-plus", "high"],
    ["groq", "llama-3.3-70b", "high"],
    ["mistral", "mistral-medium-latest", "minimal"],
    ["local", "qwen3:8b", "high"],
    ["generic-chat", "any", "off"],
  ] as const)("%s, %s: %s is ignored, with a remark", ([profile, model, effort]) => {
    expect(told(profile, model, effort)).toEqual([undefined, ["effort_ignored"]]);
  });

  test("a Claude model that does not think gives the remark too", () => {
    const plain = settingsOf("anthropic", { effort: "high" });
    const capabilities = { ...plain.capabilities, thinking: "none" as const };
    const { remarks } = new SpokenLog().user("Hi.").render({ ...plain, capabilities });
    expect(remarks.map(({ code }) => code)).toEqual(["effort_ignored"]);
  });

  test("gives no remark where the effort takes effect", () => {
    for (const [profile, model, effort] of [
      ["deepseek", "deepseek-v4-pro", "off"],
      ["openrouter", "any/any", "high"],
      ["qwen", "qwen3.6-plus", "off"],
    ] as const) {
      expect(told(profile, model, effort)).toEqual([undefined, []]);
    }
  });
});

const idsIn = (text: string): readonly string[] => [
  ...new Set(
    [...text.matchAll(/"(?:tool_call_id|id|call_id|tool_use_id)":"([^"]+)"/g)].map(([, one]) => one ?? ""),
  ),
];

describe("a call id stays the vendor's own at home", () => {
  const id = `call_7f${"a".repeat(20)}__thought__${"QUJD".repeat(40)}`;
  const signed: Piece = { kind: "call", id, name: "get_weather", arguments: "{}" };
  const sent = (home: string, target: Settings): string => {
    const settings = vendorSettings(home, "gemini-3-pro");
    const spoken = { pieces: [said, signed], ending: "calls" } as const;
    const log = new SpokenLog().user("Hi.").answer(settings, spoken, { results: false });
    const rendered = log.render(target.profile.name === home ? settings : target);
    expect(rendered.violations).toEqual([]);
    return Buffer.concat(rendered.body).toString();
  };

  test.for(["litellm", "generic-chat", "local", "vllm"])(
    "for %s, however long it is and with the signature in it",
    (home) => {
      expect(idsIn(sent(home, settingsOf(home)))).toEqual([id]);
    },
  );

  test.for(["deepseek", "generic-chat", "mistral", "openai-chat", "openai", "anthropic"])(
    "and %s never sees another vendor's signature",
    (target) => {
      const text = sent("litellm", settingsOf(target));
      expect(text).not.toContain("__thought__");
      expect(idsIn(text)).toHaveLength(1);
    },
  );
});

/** The part of one answer that is sent back, in every field for thoughts that its message has. */
function goesBack(profile: string, delta: object): object {
  const settings = vendorSettings(profile, "any");
  const log = new SpokenLog()
    .user("Hi.")
    .stream(settings, [delta, { content: "Yes." }])
    .user("So?");
  const { role: _role, ...rest } = messagesOf(log.render(settings))[1] ?? {};
  return rest;
}

describe("thoughts are sent back in the fields that the vendor accepts", () => {
  const words = { reasoning: "Hm.", reasoning_content: "Hm." };
  const blocks = [{ type: "thinking", thinking: "Hm.", signature: "sig" }];
  const part = {
    type: "thinking",
    thinking: [{ type: "text", text: "Hm." }],
    signature: "sig",
    closed: true,
  };
  test.for([
    ["vllm", words, { content: "Yes.", reasoning: "Hm." }],
    ["fireworks", words, { content: "Yes.", reasoning_content: "Hm." }],
    ["together", words, { content: "Yes.", ...words }],
    ["generic-chat", words, { content: "Yes." }],
    [
      "litellm",
      { reasoning_content: "Hm.", thinking_blocks: blocks },
      { content: "Yes.", reasoning_content: "Hm.", thinking_blocks: blocks },
    ],
    [
      "copilot-chat",
      { reasoning_text: "Hm.", reasoning_opaque: "AAAA" },
      { content: "Yes.", reasoning_text: "Hm.", reasoning_opaque: "AAAA" },
    ],
    ["mistral", { content: [part] }, { content: [part, { type: "text", text: "Yes." }] }],
  ] as const)("%s", ([profile, delta, expected]) => {
    expect(goesBack(profile, delta)).toEqual(expected);
  });
});

test.each(["qwen", "openai-chat"])("%s gets arguments that are not JSON as marked text", (profile) => {
  const expected = '{"invalid_json":"{\\"city\\": Paris"}';
  const settings = vendorSettings(profile, "any");
  const wrong: Piece = { kind: "call", id: "call_a", name: "get_weather", arguments: '{"city": Paris' };
  const log = new SpokenLog().user("Hi.").answer(settings, { pieces: [said, wrong], ending: "calls" });
  const [, message] = messagesOf(log.render(settings));
  expect(message?.["tool_calls"]).toEqual([
    { id: "call_a", type: "function", function: { name: "get_weather", arguments: expected } },
  ]);
});
