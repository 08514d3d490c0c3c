import { expect, test } from "vitest";

import { type RuleCases, rulesContract } from "../../../../test/contracts/rules-contract.ts";
import { createRequestCheck, MESSAGES_RULES, type PieceContext, type Violation } from "../index.ts";

type Block = Readonly<Record<string, unknown>>;
type Message = Readonly<Record<string, unknown>> & { readonly $?: PieceContext };
interface Request {
  readonly head?: Readonly<Record<string, unknown>>;
  readonly messages: readonly Message[];
}

/** `$` holds what we know about a message besides its text. */
function check({ head, messages }: Request): readonly Violation[] {
  const run = createRequestCheck(
    "anthropic-messages",
    head === undefined ? {} : { head: JSON.stringify(head) },
  );
  for (const { $, ...message } of messages) run.push(JSON.stringify(message), $);
  return run.violations();
}

const adaptive = { model: "m", max_tokens: 4096, thinking: { type: "adaptive" } };
const enabled = { ...adaptive, thinking: { type: "enabled", budget_tokens: 1024 } };
const disabled = { ...adaptive, thinking: { type: "disabled" } };

const user = (...content: readonly Block[]): Message => ({
  role: "user",
  content: content.length === 0 ? "Hi." : content,
});
const answer = (...content: readonly Block[]): Message => ({ role: "assistant", content });
const known = (message: Message, $: PieceContext): Message => ({ ...message, $ });
const think = (more: Block = {}): Block => ({ type: "thinking", thinking: "hm", signature: "sig", ...more });
const redacted: Block = { type: "redacted_thinking", data: "gAAA" };
const text = (value = "Hello."): Block => ({ type: "text", text: value });
const use = (n = 1, more: Block = {}): Block => ({
  type: "tool_use",
  id: `toolu_${n}`,
  name: "f",
  input: {},
  ...more,
});
const result = (n = 1, more: Block = {}): Block => ({
  type: "tool_result",
  tool_use_id: `toolu_${n}`,
  content: "",
  ...more,
});
const search = (more: Block = {}): Block => ({
  type: "server_tool_use",
  id: "srvtoolu_1",
  name: "web_search",
  input: {},
  ...more,
});
const found = (type = "web_search_tool_result"): Block => ({ type, tool_use_id: "srvtoolu_1", content: [] });
const mark = { cache_control: { type: "ephemeral" } };
const without = (block: Block, key: string): Block =>
  Object.fromEntries(Object.entries(block).filter(([name]) => name !== key));
const of = (...messages: readonly Message[]): Request => ({ head: adaptive, messages });

const CASES: Readonly<Record<string, RuleCases<Request>>> = {
  M01: {
    breaks: {
      "thinking alone": of(user(), answer(think()), user()),
      "thinking after the text": of(user(), answer(think(), text(), think()), user()),
      "redacted thinking": of(user(), answer(text(), redacted), user()),
    },
    keeps: { "thinking before the text": of(user(), answer(think(), redacted, text()), user()) },
  },
  M02: {
    breaks: {
      "an open loop without thinking": {
        head: enabled,
        messages: [user(), answer(use()), user(result())],
      },
      "a text before the thinking": {
        head: enabled,
        messages: [user(), answer(text(), think(), use()), user(result())],
      },
      "the first of two steps without thinking": {
        head: enabled,
        messages: [user(), answer(use(1)), user(result(1)), answer(think(), use(2)), user(result(2))],
      },
    },
    keeps: {
      "an earlier turn without thinking": {
        head: enabled,
        messages: [user(), answer(use()), user(result()), answer(text()), user()],
      },
      "a later step of the loop without thinking": {
        head: enabled,
        messages: [user(), answer(think(), use(1)), user(result(1)), answer(use(2)), user(result(2))],
      },
      "adaptive thinking": of(user(), answer(use()), user(result())),
      "redacted thinking": { head: enabled, messages: [user(), answer(redacted, use()), user(result())] },
      "no head": { messages: [user(), answer(use()), user(result())] },
    },
  },
  M03: {
    breaks: {
      "no signature": of(user(), answer(without(think(), "signature"), text()), user()),
      "an empty one": of(user(), answer(think({ signature: "" }), text()), user()),
      "one of another origin": of(user(), known(answer(think(), text()), { foreign: true }), user()),
      "redacted thinking of another origin": of(
        user(),
        known(answer(redacted, text()), { foreign: true }),
        user(),
      ),
      "redacted thinking without data": of(user(), answer({ type: "redacted_thinking" }, text()), user()),
    },
    keeps: {
      "an empty thought with a signature": of(user(), answer(think({ thinking: "" }), text()), user()),
      "text of another origin": of(user(), known(answer(text()), { foreign: true }), user()),
    },
  },
  M04: {
    breaks: {
      "a changed prefix": of(user(), known(answer(think(), text()), { prefixChanged: true }), user()),
    },
    keeps: {
      "a changed prefix and no thinking": of(user(), known(answer(text()), { prefixChanged: true }), user()),
    },
  },
  M05: {
    breaks: { "one of two": of(user(), known(answer(think(), text()), { reasoningMade: 2 }), user()) },
    keeps: {
      all: of(user(), known(answer(think(), redacted, text()), { reasoningMade: 2 }), user()),
      none: of(user(), known(answer(text()), { reasoningMade: 2 }), user()),
    },
  },
  M06: {
    breaks: {
      "thinking in an open loop": {
        head: disabled,
        messages: [user(), answer(think(), use()), user(result())],
      },
      "redacted thinking": { head: disabled, messages: [user(), answer(redacted, use()), user(result())] },
    },
    keeps: {
      "thinking of an earlier turn": { head: disabled, messages: [user(), answer(think(), text()), user()] },
      "an open loop that has none": { head: disabled, messages: [user(), answer(use()), user(result())] },
    },
  },
  M07: {
    breaks: {
      "a call and the next prompt": of(user(), answer(use()), user()),
      "one of two": of(user(), answer(use(1), use(2)), user(result(2))),
      "a call at the end": { head: adaptive, messages: [user(), answer(use())] },
      "a result one message later": of(user(), answer(use()), user(), user(result())),
    },
    keeps: { "both of two in any order": of(user(), answer(use(1), use(2)), user(result(2), result(1))) },
  },
  M08: {
    breaks: { "a text first": of(user(), answer(use()), user(text(), result())) },
    keeps: { "a text behind": of(user(), answer(use()), user(result(), text())) },
  },
  M09: {
    breaks: {
      "no call": of(user(), answer(text()), user(result())),
      "at the beginning": of(user(result())),
      "a call two messages before": of(user(), answer(use()), user(result()), answer(text()), user(result())),
    },
    keeps: { "its call before it": of(user(), answer(use()), user(result())) },
  },
  M10: {
    breaks: { "an assistant message last": of(user(), answer(text())) },
    keeps: {
      "a paused turn": of(
        user(),
        answer({ type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
      ),
    },
  },
  M11: {
    breaks: {
      "other characters": of(
        user(),
        answer(use(1, { id: "functions.f:0" })),
        user(result(1, { tool_use_id: "functions.f:0" })),
      ),
      "no id": of(user(), answer(without(use(), "id")), user(without(result(), "tool_use_id"))),
    },
    keeps: {
      "letters, digits, _ and -": of(
        user(),
        answer(use(1, { id: "a-B_9" })),
        user(result(1, { tool_use_id: "a-B_9" })),
      ),
    },
  },
  M12: {
    breaks: {
      "twice in one message": of(user(), answer(use(), use()), user(result())),
      "in two messages": of(user(), answer(use()), user(result()), answer(use()), user(result())),
    },
    keeps: { "two ids": of(user(), answer(use(1), use(2)), user(result(1), result(2))) },
  },
  M13: {
    breaks: { "two results": of(user(), answer(use()), user(result(), result())) },
    keeps: { "one result": of(user(), answer(use()), user(result())) },
  },
  M14: {
    breaks: {
      "an empty text": of(user(), answer(text("")), user()),
      blanks: of(user(), answer(text(" \n")), user()),
      "nothing but blanks": of(user(), answer(text(" "), use(), text("\n")), user(result())),
      "a person's blanks": of(user(text(" "))),
      "an empty string": of({ role: "user", content: "" }),
      "no text": of(user(), answer({ type: "text" }), user()),
    },
    keeps: {
      "a letter": of(user(text("a"))),
      "blanks next to text": of(user(), answer(text("\n\n"), text("a"), text(" ")), user()),
    },
  },
  M15: {
    breaks: {
      "no blocks": of(user(), answer(), user()),
      "no content": of({ role: "user" }),
    },
    keeps: { "a string": of({ role: "user", content: "a" }) },
  },
  M16: {
    breaks: { "an assistant message first": of(answer(text()), user()) },
    keeps: { "a user message first": of(user(), answer(text()), user()) },
  },
  M17: {
    breaks: {
      "a tool": of(user(), { role: "tool", content: "x" }, user()),
      "no role": of(user(), { content: "x" }, user()),
    },
    keeps: { "a system message": of(user(), { role: "system", content: "x" }, user()) },
  },
  M18: {
    breaks: {
      "a call of the user": of(user(use())),
      "thinking of the user": of(user(think(), text())),
      "a result of the assistant": of(user(), answer(result(), text()), user()),
    },
    keeps: { "an image of the user": of(user({ type: "image", source: {} })) },
  },
  M19: {
    breaks: {
      "no max_tokens": { head: { model: "m" }, messages: [user()] },
      "no budget": { head: { ...enabled, thinking: { type: "enabled" } }, messages: [user()] },
      "a small budget": {
        head: { ...enabled, thinking: { type: "enabled", budget_tokens: 1023 } },
        messages: [user()],
      },
      "a budget of everything": { head: { ...enabled, max_tokens: 1024 }, messages: [user()] },
    },
    keeps: { "a budget below": { head: enabled, messages: [user()] }, "no head": { messages: [user()] } },
  },
  M20: {
    breaks: {
      any: { head: { ...enabled, tool_choice: { type: "any" } }, messages: [user()] },
      "one tool": { head: { ...enabled, tool_choice: { type: "tool", name: "f" } }, messages: [user()] },
    },
    keeps: {
      auto: { head: { ...enabled, tool_choice: { type: "auto" } }, messages: [user()] },
      "adaptive thinking": { head: { ...adaptive, tool_choice: { type: "any" } }, messages: [user()] },
    },
  },
  M21: {
    breaks: {
      five: {
        head: {
          ...adaptive,
          system: [{ ...text(), ...mark }],
          tools: [{ name: "f", input_schema: {}, ...mark }],
        },
        messages: [user({ ...text(), ...mark }, { ...text(), ...mark }, { ...text(), ...mark })],
      },
    },
    keeps: { four: of(user(...[1, 2, 3, 4].map(() => ({ ...text(), ...mark })))) },
  },
  M22: {
    breaks: {
      "an id on a message": of({ ...user(), id: "msg_1" }),
      "a mark on thinking": of(user(), answer(think(mark), text()), user()),
      "an index on a call": of(user(), answer(use(1, { index: 0 })), user(result())),
    },
    keeps: { "fields of a block of an unknown type": of(user({ type: "new_block", whatever: 1 })) },
  },
  M23: {
    breaks: {
      "a text": of(user(), answer(use(1, { input: "{}" })), user(result())),
      nothing: of(user(), answer(without(use(), "input")), user(result())),
    },
    keeps: { "an object": of(user(), answer(use(1, { input: { a: 1 } })), user(result())) },
  },
  M24: {
    breaks: {
      "an unfinished search": of(user(), answer(text(), search()), user()),
      "a result after the next message": of(
        user(),
        answer(search()),
        user(),
        answer(found(), text()),
        user(),
      ),
      "a result alone, of an unknown type": of(user(), answer(found("tomorrow_tool_result"), text()), user()),
      "a result before its call": of(user(), answer(found(), search(), text()), user()),
      "an MCP call alone": of(user(), answer(text(), search({ type: "mcp_tool_use" })), user()),
    },
    keeps: {
      "both in one message": of(user(), answer(search(), found(), text()), user()),
      "a result of an unknown type": of(
        user(),
        answer(search(), found("tomorrow_tool_result"), text()),
        user(),
      ),
      "a pause between them": of(user(), answer(search()), answer(found(), text()), user()),
      "a tool of ours between them": of(
        user(),
        answer(search(), use()),
        user(result()),
        answer(found(), text()),
        user(),
      ),
      "a call that waits at the end": of(user(), answer(search(), use()), user(result())),
      "a call that waits at a pause": of(user(), answer(search())),
    },
  },
  M25: {
    breaks: {
      "a dot": of(user(), answer(use(1, { name: "functions.f" })), user(result())),
      "a space": of(user(), answer(use(1, { name: "f f" })), user(result())),
      nothing: of(user(), answer(use(1, { name: "" })), user(result())),
      "129 characters": of(user(), answer(use(1, { name: "f".repeat(129) })), user(result())),
      "a whole command": of(user(), answer(use(1, { name: "ls ".repeat(100) })), user(result())),
    },
    keeps: {
      "128 characters": of(user(), answer(use(1, { name: "f".repeat(128) })), user(result())),
    },
  },
};

rulesContract(MESSAGES_RULES, CASES, check);

test("a violation names the message and the block, with the API's own message", () => {
  expect(check(of(user(), answer(think(), use(7)), user()))).toEqual([
    {
      rule: "M07",
      index: 1,
      part: 1,
      message:
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_7. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    },
  ]);
});

test("an open call can still be answered by the next message", () => {
  const run = createRequestCheck("anthropic-messages", { head: JSON.stringify(adaptive) });
  run.push(JSON.stringify(user()));
  run.push(JSON.stringify(answer(use())));
  expect(run.violations().map(({ rule }) => rule)).toEqual(["M07", "M10"]);
  run.push(JSON.stringify(user(result())));
  expect(run.violations()).toEqual([]);
});

test("a model that accepts a prefill has no violation for one", () => {
  const run = createRequestCheck("anthropic-messages", { prefill: true });
  run.push(JSON.stringify(user()));
  run.push(JSON.stringify(answer(text())));
  expect(run.violations()).toEqual([]);
});

test("half of a server pair is reported with the API's own message", () => {
  const told = (...messages: readonly Message[]): readonly string[] =>
    check(of(user(), ...messages)).map(({ message }) => message);
  expect(told(answer(text(), search()), user())).toEqual([
    "messages.1.content.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block",
  ]);
  expect(told(answer(text(), search({ name: "tool_search_tool_bm25" })), user())).toEqual([
    "messages.1.content.1: `tool_search_tool_bm25` tool use with id `srvtoolu_1` was found without a corresponding `tool_search_tool_result` block",
  ]);
  expect(told(answer(text(), found("advisor_tool_result")), user())).toEqual([
    "messages.1.content.1: unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_1. Each `advisor_tool_result` block must have a corresponding `server_tool_use` block before it.",
  ]);
});
