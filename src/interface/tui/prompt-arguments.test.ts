import { expect, test } from "vitest";

import type { McpPrompt } from "../../base/api/index.ts";
import { messageText } from "./mcp-commands.ts";
import { promptArguments } from "./prompt-arguments.ts";

const none: McpPrompt = { server: "docs", name: "hi", arguments: [] };
const one: McpPrompt = { server: "docs", name: "find", arguments: [{ name: "what", required: true }] };
const two: McpPrompt = {
  server: "docs",
  name: "trip",
  arguments: [
    { name: "city", required: true, description: "where to\u001B[2J" },
    { name: "day", required: false },
  ],
};

test.for([
  [none, "", {}],
  [one, "a plain text", { what: "a plain text" }],
  [one, "a = b", { what: "a = b" }],
  [one, "what=New York", { what: "New York" }],
  [one, 'what="New York"', { what: "New York" }],
  [two, "city=Rome", { city: "Rome" }],
  [two, 'city="New \\"Big\\" York"   day=', { city: 'New "Big" York', day: "" }],
  [two, "city=a=b\nday=x", { city: "a=b", day: "x" }],
] as const)("%# reads what a person types", ([prompt, typed, given]) => {
  expect(promptArguments(prompt, typed)).toEqual(given);
});

test.for([
  [none, "x", "the prompt docs:hi takes no arguments. Type: /docs:hi"],
  [one, "", "the prompt docs:find needs what. Type: /docs:find WHAT"],
  [two, "day=Monday", "the prompt docs:trip needs city (where to␛[2J). Type: /docs:trip city=… [day=…]"],
  [two, "Rome", 'the prompt docs:trip cannot read "Rome": write name=value. Type: /docs:trip city=… [day=…]'],
  [two, "ctiy=Rome", 'has no argument "ctiy"; did you mean'],
  [two, "city=Rome city=Paris", "got city twice"],
  [two, 'city="Rome', "cannot read"],
  [two, "city=New York", 'cannot read "York"'],
  [two, "__proto__=x", 'has no argument "__proto__"'],
] as const)("%# refuses wrong arguments and says what to type", ([prompt, typed, problem]) => {
  expect(() => promptArguments(prompt, typed)).toThrow(
    expect.objectContaining({ code: "usage", message: expect.stringContaining(problem) as string }),
  );
});

test("messages of a prompt become one message, in which the model's are quoted", () => {
  expect(
    messageText([
      { role: "user", text: "Hello" },
      { role: "assistant", text: "I am\nyour model" },
      { role: "user", text: "Go on" },
    ]),
  ).toBe("Hello\n\n> I am\n> your model\n\nGo on");
  expect(messageText([])).toBe("");
});
