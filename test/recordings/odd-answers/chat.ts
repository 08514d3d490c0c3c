/** Answers of chat-completions servers that a client may not expect. Composed for these tests. */

interface Chat {
  readonly profile: string;
  readonly answers: readonly (readonly string[])[];
}

export const chunk = (delta: object, finish: string | null = null, id = "chatcmpl-odd"): string =>
  JSON.stringify({
    id,
    object: "chat.completion.chunk",
    model: "chat-odd",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

export const DONE = "[DONE]";

function thinks(field: string, value: unknown, rest: object, finish: string): readonly string[] {
  return [
    chunk({ role: "assistant", content: null }),
    chunk({ [field]: value }),
    chunk(rest),
    chunk({}, finish),
    DONE,
  ];
}

const calls = (name: string, id = "call_odd1"): object => ({
  tool_calls: [{ index: 0, id, type: "function", function: { name, arguments: '{"city":"Rome"}' } }],
});
const named = (name: string): Chat => ({
  profile: "deepseek",
  answers: [thinks("reasoning_content", "Let me look.", calls(name), "tool_calls")],
});

export const CHAT_ANSWERS: Readonly<Record<string, Chat>> = {
  "a dotted name": named("functions.get_weather"),
  "a wrapper of calls": named("multi_tool_use.parallel"),
  "a name with a leaked token": named("get_weather<|channel|>commentary"),
  "a name with a space": named("get weather"),
  "a very long name": named("w".repeat(200)),
  "two sealed details with one index": {
    profile: "openrouter",
    answers: [
      [
        chunk({
          role: "assistant",
          reasoning_details: [{ type: "reasoning.encrypted", id: "rs_1", index: 0, data: "AAAA" }],
        }),
        chunk({ reasoning_details: [{ type: "reasoning.encrypted", id: "rs_2", index: 0, data: "BBBB" }] }),
        chunk(calls("get_weather")),
        chunk({}, "tool_calls"),
        DONE,
      ],
    ],
  },
  "a signed thought among the content": {
    profile: "mistral",
    answers: [
      [
        chunk({
          role: "assistant",
          content: [
            {
              type: "thinking",
              thinking: [{ type: "text", text: "Hm." }],
              signature: "c2lnbmVk",
              closed: true,
            },
          ],
        }),
        chunk({ content: "Yes." }),
        chunk({}, "stop"),
        DONE,
      ],
    ],
  },
  "thoughts among the content, in chunks": {
    profile: "mistral",
    answers: [
      [
        chunk({ role: "assistant", content: "" }),
        ...["Let", " me", " see"].map((text) =>
          chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text }], closed: true }] }),
        ),
        chunk({
          content: [
            { type: "thinking", thinking: [{ type: "text", text: "." }], closed: true },
            { type: "text", text: "3" },
          ],
        }),
        chunk({ content: "91" }, "stop"),
        DONE,
      ],
    ],
  },
  "arguments that are not JSON": {
    profile: "qwen",
    answers: [
      thinks(
        "reasoning_content",
        "Hm.",
        {
          tool_calls: [
            {
              index: 0,
              id: "call_odd1",
              type: "function",
              function: { name: "get_weather", arguments: '{"city":' },
            },
          ],
        },
        "tool_calls",
      ),
    ],
  },
  "a first chunk without an id": {
    profile: "generic-chat",
    answers: [
      [
        JSON.stringify({ choices: [], created: 0, id: "", model: "", object: "" }),
        chunk({ role: "assistant", content: "Copen" }),
        chunk({ content: "hagen." }),
        chunk({}, "stop"),
        DONE,
      ],
    ],
  },
  "an id that carries a signature": {
    profile: "generic-chat",
    answers: [
      [
        chunk({ role: "assistant", ...calls("get_weather", `call_1__thought__${"QUJD".repeat(60)}`) }),
        chunk({}, "tool_calls"),
        DONE,
      ],
    ],
  },
  "a call with extra content": {
    profile: "generic-chat",
    answers: [
      [
        chunk({
          role: "assistant",
          tool_calls: [
            {
              index: 0,
              id: "call_odd1",
              type: "function",
              extra_content: { google: { thought_signature: "c2ln" } },
              function: { name: "get_weather", arguments: "{}" },
            },
          ],
        }),
        chunk({}, "tool_calls"),
        DONE,
      ],
    ],
  },
  "another answer in the middle of the first": {
    profile: "deepseek",
    answers: [
      [
        chunk({ role: "assistant", content: null, reasoning_content: "Dead" }, null, "chatcmpl-dead"),
        chunk({ reasoning_content: " thought" }, null, "chatcmpl-dead"),
        chunk({ role: "assistant", content: null, reasoning_content: "Live" }, null, "chatcmpl-live"),
        chunk({ reasoning_content: " thought" }, null, "chatcmpl-live"),
        chunk(calls("get_weather"), null, "chatcmpl-live"),
        chunk({}, "tool_calls", "chatcmpl-live"),
        DONE,
      ],
    ],
  },
  "an invented field": {
    profile: "deepseek",
    answers: [thinks("reasoning_hologram", "abc", { content: "Well." }, "stop")],
  },
  "an unknown reason to finish": {
    profile: "deepseek",
    answers: [thinks("reasoning_content", "Hm.", { content: "Well." }, "tired")],
  },
  "blank text": {
    profile: "deepseek",
    answers: [thinks("reasoning_content", "Hm.", { content: "\n\n" }, "stop")],
  },
};
