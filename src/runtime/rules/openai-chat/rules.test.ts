import { expect, test } from "vitest";

import { type RuleCases, rulesContract } from "../../../../test/contracts/rules-contract.ts";
import { CHAT_RULES, CHAT_VENDORS, type ChatTraits, createRequestCheck, type Violation } from "../index.ts";

type Message = Readonly<Record<string, unknown>> & { readonly $foreign?: true };
interface Request {
  readonly vendor?: keyof typeof CHAT_VENDORS;
  readonly head?: Readonly<Record<string, unknown>>;
  readonly messages: readonly Message[];
}

function check({ vendor = "openai", head, messages }: Request): readonly Violation[] {
  const traits: ChatTraits = CHAT_VENDORS[vendor];
  const run = createRequestCheck(
    "openai-chat",
    head === undefined ? { traits } : { traits, head: JSON.stringify(head) },
  );
  for (const { $foreign, ...message } of messages) {
    run.push(JSON.stringify(message), $foreign === undefined ? {} : { foreign: true });
  }
  return run.violations();
}

const user: Message = { role: "user", content: "Hi." };
const call = (n = 1, id = `call_${n}`): object => ({
  id,
  type: "function",
  function: { name: "f", arguments: "{}" },
});
const named = (name: string): object => ({
  id: "call_1",
  type: "function",
  function: { name, arguments: "{}" },
});
const says = (more: Message = {}): Message => ({ role: "assistant", content: "Hello.", ...more });
const calls = (...tool_calls: readonly object[]): Message => ({
  role: "assistant",
  content: null,
  tool_calls,
});
const thought = (message: Message, reasoning_content: string | null = "hm"): Message => ({
  ...message,
  reasoning_content,
});
const tool = (n = 1, more: Message = {}): Message => ({
  role: "tool",
  tool_call_id: `call_${n}`,
  content: "",
  ...more,
});
const of = (...messages: readonly Message[]): Request => ({ messages });
const to = (vendor: keyof typeof CHAT_VENDORS, ...messages: readonly Message[]): Request => ({
  vendor,
  messages,
});

const CASES: Readonly<Record<string, RuleCases<Request>>> = {
  Q01: {
    breaks: {
      "a call and nothing": of(user, calls(call())),
      "a call and the user": of(user, calls(call()), user),
      "one of two": of(user, calls(call(1), call(2)), tool(2), user),
      "a user message in between": of(user, calls(call()), user, tool()),
    },
    keeps: { "both of two": of(user, calls(call(1), call(2)), tool(2), tool(1), user) },
  },
  Q02: {
    breaks: {
      "no call": of(user, tool()),
      "two answers": of(user, calls(call()), tool(), tool()),
      "a call of an earlier message": of(user, calls(call()), tool(), says(), tool()),
    },
    keeps: { "its call before it": of(user, calls(call()), tool()) },
  },
  Q03: {
    breaks: {
      "a call without reasoning, to Kimi": to("kimi", user, calls(call()), tool()),
      "empty reasoning, to Kimi": to("kimi", user, thought(calls(call()), ""), tool()),
      "a call without reasoning, to DeepSeek": to("deepseek", user, calls(call()), tool()),
      "an answer without reasoning after a call": to(
        "deepseek",
        user,
        thought(calls(call())),
        tool(),
        says(),
        user,
      ),
      "an earlier turn with a call": to(
        "deepseek",
        user,
        calls(call()),
        tool(),
        thought(says()),
        user,
        says(),
        user,
      ),
      "reasoning that is null": to("deepseek", user, thought(calls(call()), null), tool()),
    },
    keeps: {
      "a turn without calls, to DeepSeek": to("deepseek", user, says(), user),
      "empty reasoning, to DeepSeek": to("deepseek", user, thought(calls(call()), ""), tool()),
      "an answer without reasoning, to Kimi": to("kimi", user, thought(calls(call())), tool(), says(), user),
      "thinking switched off": {
        vendor: "kimi",
        head: { model: "m", thinking: { type: "disabled" } },
        messages: [user, calls(call()), tool()],
      },
    },
  },
  Q04: {
    breaks: {
      "reasoning_content to OpenAI": of(user, thought(says()), user),
      "reasoning_content to Mistral": to("mistral", user, thought(says()), user),
      "reasoning_content to Groq": to("groq", user, thought(says()), user),
      "reasoning_content to the old reasoner": to("deepseek-old", user, thought(says()), user),
      "content parts to Groq": to(
        "groq",
        user,
        says({ content: [{ type: "thinking", thinking: [] }] }),
        user,
      ),
    },
    keeps: {
      "Groq's own": to("groq", user, says({ reasoning: "hm" }), user),
      "Mistral's own": to(
        "mistral",
        user,
        says({
          content: [
            { type: "thinking", thinking: [] },
            { type: "text", text: "a" },
          ],
        }),
        user,
      ),
      "a vendor that ignores it": to("openrouter", user, thought(says()), user),
      null: of(user, thought(says(), null), user),
    },
  },
  Q05: {
    breaks: {
      "a thought of another origin": to("deepseek", user, { ...thought(says()), $foreign: true }, user),
    },
    keeps: { "text of another origin": to("deepseek", user, { ...says(), $foreign: true }, user) },
  },
  Q06: {
    breaks: {
      "a signed text twice": to(
        "openrouter",
        user,
        says({ reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "sig" }] }),
        user,
        says({ reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "sig" }] }),
        user,
      ),
      "an entry twice": to(
        "openrouter",
        user,
        says({ reasoning_details: [{ type: "reasoning.encrypted", id: "rs_1", data: "x" }] }),
        user,
        says({ reasoning_details: [{ type: "reasoning.encrypted", id: "rs_1", data: "x" }] }),
        user,
      ),
      "data twice": to(
        "openrouter",
        user,
        says({
          reasoning_details: [
            { type: "reasoning.encrypted", data: "x" },
            { type: "reasoning.encrypted", data: "x" },
          ],
        }),
        user,
      ),
    },
    keeps: {
      "the same text twice": to(
        "openrouter",
        user,
        says({ reasoning_details: [{ type: "reasoning.text", text: "hm", id: "reasoning-text-1" }] }),
        user,
        says({ reasoning_details: [{ type: "reasoning.text", text: "hm", id: "reasoning-text-1" }] }),
        user,
      ),
    },
  },
  Q07: {
    breaks: {
      "the user after a tool": to(
        "mistral",
        user,
        calls(call(1, "abcdefgh1")),
        tool(1, { tool_call_id: "abcdefgh1" }),
        user,
      ),
    },
    keeps: {
      "an answer in between": to(
        "mistral",
        user,
        calls(call(1, "abcdefgh1")),
        tool(1, { tool_call_id: "abcdefgh1" }),
        says(),
        user,
      ),
      "the user after a tool, elsewhere": of(user, calls(call()), tool(), user),
    },
  },
  Q08: {
    breaks: {
      "41 characters": of(user, calls(call(1, "x".repeat(41))), tool(1, { tool_call_id: "x".repeat(41) })),
      "no characters": of(user, calls(call(1, "")), tool(1, { tool_call_id: "" })),
      "no id": of(user, calls(call()), { role: "tool", content: "" }),
      "a long one to Mistral": to("mistral", user, calls(call()), tool(), says(), user),
    },
    keeps: {
      "40 characters": of(user, calls(call(1, "x".repeat(40))), tool(1, { tool_call_id: "x".repeat(40) })),
      "41 characters to DeepSeek": to(
        "deepseek",
        user,
        thought(calls(call(1, "x".repeat(41)))),
        tool(1, { tool_call_id: "x".repeat(41) }),
      ),
    },
  },
  Q09: {
    breaks: {
      "no calls in the list": of(user, says({ tool_calls: [] }), user),
      nothing: of(user, { role: "assistant", content: null }, user),
      "no content": of(user, calls(call()), { role: "tool", tool_call_id: "call_1" }),
      "no parts": of({ role: "user", content: [] }),
    },
    keeps: { "calls and no content": of(user, { role: "assistant", tool_calls: [call()] }, tool()) },
  },
  Q10: {
    breaks: { "a bot": of({ role: "bot", content: "x" }), "no role": of({ content: "x" }) },
    keeps: { "a developer": of({ role: "developer", content: "x" }, user) },
  },
  Q11: {
    breaks: {
      "arguments as an object": of(
        user,
        calls({ id: "call_1", type: "function", function: { name: "f", arguments: {} } }),
        tool(),
      ),
      "no arguments": of(user, calls({ id: "call_1", type: "function", function: { name: "f" } }), tool()),
      "no name": of(user, calls({ id: "call_1", type: "function", function: { arguments: "{}" } }), tool()),
      "129 calls": of(
        user,
        calls(...Array.from({ length: 129 }, (_, n) => call(n))),
        ...Array.from({ length: 129 }, (_, n) => tool(n)),
      ),
    },
    keeps: {
      "a call to a custom tool": of(
        user,
        calls({ id: "call_1", type: "custom", custom: { name: "f", input: "as it is" } }),
        tool(),
      ),
      "arguments that are not JSON": of(
        user,
        calls({ id: "call_1", type: "function", function: { name: "f", arguments: "{" } }),
        tool(),
      ),
    },
  },
  Q12: {
    breaks: {
      "a dot": of(user, calls(named("functions.f")), tool()),
      "a space": of(user, calls(named("f f")), tool()),
      nothing: of(user, calls(named("")), tool()),
      "65 characters": of(user, calls(named("f".repeat(65))), tool()),
      "the name in a tool message": of(user, calls(named("f")), { ...tool(), name: "functions.f" }),
      "the name of a custom tool": of(
        user,
        calls({ id: "call_1", type: "custom", custom: { name: "functions.f", input: "" } }),
        tool(),
      ),
    },
    keeps: {
      "64 characters": of(user, calls(named("f".repeat(64))), tool()),
      "the same name in the tool message": of(user, calls(named("f")), { ...tool(), name: "f" }),
    },
  },
};

rulesContract(CHAT_RULES, CASES, check);

test.each([
  ["kimi", "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"],
  ["deepseek", "The `reasoning_content` in the thinking mode must be passed back to the API."],
] as const)("missing reasoning is reported with %s's own message", (vendor, message) => {
  expect(check(to(vendor, user, calls(call()), tool()))).toEqual([{ rule: "Q03", index: 1, message }]);
});
