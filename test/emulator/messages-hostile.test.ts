/** Whatever is anywhere in a Messages request: an answer or a refusal, never a crash of the emulator itself. */

import { expect, test } from "vitest";

import { emulatorFor, type Json } from "./emulator-client.ts";
import { ask, assistant, contentOf, expectTaken, resultsFor } from "./messages-client.ts";

const request = {
  model: "emu-claude-bound",
  max_tokens: 4000,
  thinking: { type: "adaptive", display: "summarized" },
  system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
  tool_choice: { type: "auto" },
  stop_sequences: ["zz"],
  output_config: { effort: "high" },
  tools: [{ name: "look", input_schema: { type: "object", properties: { a: { type: "string" } } } }],
};

const junk = [null, -1.5, "", [null], { type: "thinking" }];

type Path = readonly (string | number)[];

function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, one]) =>
    pathsIn(one, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return path.length === 0 ? inner : [path, ...inner];
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.map((one, at) => (at === key ? replaced(one, rest, by) : one));
  return { ...(value as Json), [key]: replaced((value as Json)[key], rest, by) };
}

test.each(["strict", "lenient"] as const)("%s", async (mode) => {
  const emulator = await emulatorFor({ mode });
  const first = { role: "user", content: "Please look at it." };
  const content = contentOf({ json: await expectTaken(emulator, { ...request, messages: [first] }) });
  expect(content.map((block) => block["type"])).toEqual(["thinking", "tool_use"]);
  const whole = { ...request, messages: [first, assistant(content), resultsFor(content)] };
  await expectTaken(emulator, whole);
  const statuses = new Set<number>();
  for (const path of pathsIn(whole)) {
    const replies = await Promise.all(junk.map((value) => ask(emulator, replaced(whole, path, value))));
    for (const reply of replies) {
      statuses.add(reply.status);
      expect(reply.text, path.join(".")).not.toContain("failed internally");
    }
  }
  expect(statuses).toEqual(new Set([200, 400, 404]));
});

test("count_tokens accepts the fields that are counted and nothing else", async () => {
  const emulator = await emulatorFor();
  const body = { model: "emu-claude", messages: [{ role: "user", content: "hello" }] };
  const count = await ask(emulator, body, {}, "/messages/count_tokens");
  expect([count.status, count.json]).toEqual([200, { input_tokens: expect.any(Number) }]);
  const refusals: readonly (readonly [Json, string])[] = [
    [{ ...body, max_tokens: 5 }, "max_tokens: Extra inputs are not permitted"],
    [{ ...body, messages: [] }, "messages: at least one message is required"],
    [{ messages: [] }, "model: Field required"],
  ];
  for (const [wrong, message] of refusals) {
    const reply = await ask(emulator, wrong, {}, "/messages/count_tokens");
    expect([reply.status, (reply.json["error"] as Json)["message"]]).toEqual([400, message]);
  }
  expect(emulator.report().requests).toEqual([]);
});

test("other paths and methods are refused in the shape of this API", async () => {
  const emulator = await emulatorFor();
  const reply = await ask(emulator, {}, {}, "/messages/batches");
  expect([reply.status, reply.json]).toEqual([
    404,
    {
      type: "error",
      error: { type: "not_found_error", message: "Invalid URL (POST /v1/messages/batches)" },
      request_id: reply.headers.get("request-id"),
    },
  ]);
});
