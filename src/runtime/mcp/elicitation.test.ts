import { expect, test } from "vitest";

import { type ToolContext, withElicit } from "../tools/index.ts";
import { elicit, readElicitation } from "./elicitation.ts";

const form = (properties: object, required: readonly string[] = []): object => ({
  message: "Who are you?",
  requestedSchema: { type: "object", properties, required },
});

const context: ToolContext = {
  signal: new AbortController().signal,
  callId: "call",
  idempotencyKey: "key",
  progress: () => undefined,
};

test("every kind of field that the protocol has is read", () => {
  const read = readElicitation("docs", {
    ...form(
      {
        name: { type: "string", title: "Name", minLength: 1, default: "Ada" },
        mail: { type: "string", format: "email", description: "Where to write" },
        odd: { type: "string", format: "phone" },
        age: { type: "integer", minimum: 0, maximum: 150 },
        sure: { type: "boolean", default: false },
        old: { type: "string", enum: ["a", "b"], enumNames: ["A", "B"], default: "a" },
        one: { type: "string", oneOf: [{ const: "x", title: "X" }, { const: "y" }] },
        many: { type: "array", minItems: 1, items: { anyOf: [{ const: "p", title: "P" }] }, default: ["p"] },
        plain: { type: "array", items: { type: "string", enum: ["q"] } },
      },
      ["name"],
    ),
  });
  expect(read).toEqual({
    server: "docs",
    message: "Who are you?",
    mode: "form",
    fields: [
      { name: "name", required: true, title: "Name", type: "string", minLength: 1, default: "Ada" },
      { name: "mail", required: false, description: "Where to write", type: "string", format: "email" },
      { name: "odd", required: false, type: "string" },
      { name: "age", required: false, type: "integer", minimum: 0, maximum: 150 },
      { name: "sure", required: false, type: "boolean", default: false },
      {
        name: "old",
        required: false,
        type: "choice",
        options: [
          { value: "a", title: "A" },
          { value: "b", title: "B" },
        ],
        default: "a",
      },
      {
        name: "one",
        required: false,
        type: "choice",
        options: [
          { value: "x", title: "X" },
          { value: "y", title: "y" },
        ],
      },
      {
        name: "many",
        required: false,
        type: "choices",
        options: [{ value: "p", title: "P" }],
        minItems: 1,
        default: ["p"],
      },
      { name: "plain", required: false, type: "choices", options: [{ value: "q", title: "q" }] },
    ],
  });
});

test.each([
  [{ message: "?" }],
  [form({ deep: { type: "object", properties: {} } })],
  [form({ odd: 5 })],
  [form({ list: { type: "array", items: { type: "string" } } })],
  [{ mode: "url", message: "?" }],
])("what cannot be asked is declined: %j", async (params) => {
  const asked = withElicit(context, () => Promise.reject(new Error("asked")));
  expect(await elicit("docs", { ...params }, asked)).toEqual({ action: "decline" });
});

test("without a call that runs, nobody is asked", async () => {
  expect(await elicit("docs", { ...form({}) }, undefined)).toEqual({ action: "decline" });
  expect(await elicit("docs", { ...form({}) }, context)).toEqual({ action: "decline" });
});

test("the answer goes back in the form of the protocol", async () => {
  const answering = withElicit(context, async ({ mode }) => ({
    action: "accept",
    content: mode === "form" ? { name: "Ada" } : {},
  }));
  const asked = form({ name: { type: "string" } });
  expect(await elicit("docs", { ...asked }, answering)).toEqual({
    action: "accept",
    content: { name: "Ada" },
  });
  const address = { mode: "url", url: "https://example.com/login", message: "Open this", elicitationId: "1" };
  expect(await elicit("docs", address, answering)).toEqual({ action: "accept" });
  const refusing = withElicit(context, async () => ({ action: "cancel" }));
  expect(await elicit("docs", { ...asked }, refusing)).toEqual({ action: "cancel" });
});
