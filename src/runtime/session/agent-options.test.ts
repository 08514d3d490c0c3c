import { expect, test } from "vitest";

import { memoryStore } from "../log/index.ts";
import { emulator } from "../models/index.ts";
import { createAgent } from "./index.ts";

const model = emulator();

test.each([
  ["nothing", undefined],
  ["no model", {}],
  ["a model's name", { model: "openai/gpt-5.6" }],
  ["an unknown permission mode", { model, permissions: "Ask" }],
  ["a negative limit", { model, limits: { maxSteps: -1 } }],
  ["a limit that is not a number", { model, limits: { toolTimeoutMs: "1s" } }],
  ["an invalid tool", { model, tools: [{ name: "x" }] }],
])("createAgent with %s throws at once", (_what, options) => {
  expect(() => createAgent(options as never)).toThrow(expect.objectContaining({ code: "options_invalid" }));
});

test("a model's name is rejected with what to write instead", () => {
  expect(() => createAgent({ model: "openai/gpt-5.6" } as never)).toThrow('modelFrom("openai/gpt-5.6")');
});

test.each([
  ["a number", 42, "input_invalid"],
  ["an unknown part", [{ type: "video" }], "input_invalid"],
  ["a text part without text", [{ type: "text" }], "input_invalid"],
  [
    "an image that is not base64",
    [{ type: "image", mediaType: "image/png", data: "not base64 !!!" }],
    "input_invalid",
  ],
  ["an image with an invalid type", [{ type: "image", mediaType: "banana", data: "AAAA" }], "input_invalid"],
  ["a file without a name", [{ type: "file", mediaType: "text/plain", data: "AAAA" }], "input_invalid"],
  ["nothing", "  ", "input_empty"],
  ["no parts", [], "input_empty"],
])("send of %s throws at once, and nothing is logged", async (_what, input, code) => {
  const store = memoryStore();
  const session = await createAgent({ model }).open({ id: "s", store });
  expect(() => session.send(input as never)).toThrow(expect.objectContaining({ code }));
  await session.close();
  expect(await store.exists("s")).toBe(false);
});

test("pictures by url and data, and files, are accepted", async () => {
  const session = await createAgent({ model }).open({ store: memoryStore() });
  const { status } = await session
    .send([
      { type: "text", text: "Look" },
      { type: "image", url: "https://example.org/a.png" },
      { type: "image", mediaType: "image/png", data: "AAAA" },
      { type: "file", name: "a.txt", mediaType: "text/plain", data: "AAAA" },
    ])
    .result();
  expect(status).toBe("completed");
  await session.close();
});
