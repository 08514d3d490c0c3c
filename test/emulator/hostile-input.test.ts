/** Whatever request arrives, the answer has the API's own shape: never 500, never a stack trace, never a hang. */

import { connect } from "node:net";

import fc from "fast-check";
import { expect, test } from "vitest";

import type { Emulator } from "../../src/emulator/index.ts";
import {
  base,
  emulatorFor,
  errorOf,
  type Json,
  outputOf,
  post,
  result,
  scripted,
  user,
} from "./emulator-client.ts";

async function expectSane(emulator: Emulator, body: unknown, headers = {}): Promise<number> {
  const reply = await post(emulator, body, headers);
  expect(reply.status, reply.text).toBeLessThan(500);
  if (reply.status !== 200) {
    const error = errorOf(reply);
    expect(Object.keys(error)).toEqual(["message", "type", "param", "code"]);
    expect(String(error["message"])).not.toMatch(/at .*\.ts:|TypeError|undefined is not/);
  }
  return reply.status;
}

test("random JSON as the body never breaks the emulator", async () => {
  const emulator = await emulatorFor();
  const named = fc.record(
    {
      model: fc.oneof(fc.constant("emu-reasoner"), fc.jsonValue()),
      input: fc.jsonValue(),
      tools: fc.jsonValue(),
      reasoning: fc.jsonValue(),
      include: fc.jsonValue(),
      text: fc.jsonValue(),
      tool_choice: fc.jsonValue(),
      stream_options: fc.jsonValue(),
      previous_response_id: fc.jsonValue(),
      max_output_tokens: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(named, fc.jsonValue()), async (body) => {
      await expectSane(emulator, JSON.stringify(body));
    }),
    { numRuns: 150 },
  );
});

test("random items with the right type names never break the emulator", async () => {
  const emulator = await emulatorFor();
  const type = fc.constantFrom(
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "item_reference",
    "compaction",
    "web_search_call",
    "compaction_trigger",
  );
  const field = fc.constantFrom(
    "id",
    "role",
    "content",
    "summary",
    "call_id",
    "output",
    "name",
    "arguments",
    "encrypted_content",
    "status",
    "phase",
  );
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom("assistant", "user", "rs_1", "call_1", ""),
    fc.jsonValue(),
  );
  const item = fc
    .tuple(type, fc.dictionary(field, value))
    .map(([kind, fields]) => ({ type: kind, ...fields }));
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 6 }), fc.boolean(), async (input, store) => {
      await expectSane(emulator, { model: "emu-reasoner", input, store });
    }),
    { numRuns: 150 },
  );
});

/** Whatever is done to a good history, it is accepted or refused, and an accepted one is accepted again. */
test("random damage to a good history is accepted or refused consistently", async () => {
  const emulator = await scripted(`
afterwards: repeat
steps:
  - output: [{reasoning: a}, {function_call: {name: look}}, {reasoning: b}, {function_call: {name: look}}]
  - output: [{reasoning: c}, {message: Fine.}]
`);
  const first = outputOf(await post(emulator, { ...base, input: [user("go")] }));
  const results = [first[1], first[3]].map((call) => result(call));
  const second = outputOf(await post(emulator, { ...base, input: [user("go"), ...first, ...results] }));
  const good: readonly Json[] = [user("go"), ...first, ...results, ...second, user("more")];
  expect(await expectSane(emulator, { ...base, input: good })).toBe(200);
  const damage = fc.oneof(
    fc.record({ kind: fc.constant("drop"), at: fc.nat(9) }),
    fc.record({ kind: fc.constant("double"), at: fc.nat(9) }),
    fc.record({ kind: fc.constant("no-id"), at: fc.nat(9) }),
    fc.record({ kind: fc.constant("swap"), at: fc.nat(8) }),
    fc.record({ kind: fc.constant("no-blob"), at: fc.nat(9) }),
  );
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 4 }), async (all) => {
      const input = [...good];
      for (const { kind, at } of all) {
        const item = input[at];
        if (item === undefined) continue;
        if (kind === "drop") input.splice(at, 1);
        if (kind === "double") input.splice(at, 0, item);
        if (kind === "no-id") input[at] = omit(item, "id");
        if (kind === "no-blob") input[at] = omit(item, "encrypted_content");
        if (kind === "swap" && input[at + 1] !== undefined) input.splice(at, 2, input[at + 1] ?? {}, item);
      }
      const status = await expectSane(emulator, { ...base, input });
      if (status === 200) accepted += 1;
      const report = emulator.report().requests.at(-1);
      expect(report?.verdict).toBe(status === 200 ? "accepted" : "refused");
      // The follower rule, checked independently: every reasoning item that was used precedes an item of its response.
      if (status === 200) expect(followersStand(input)).toBe(true);
    }),
    { numRuns: 150 },
  );
  expect(accepted).toBeGreaterThan(5);
});

function followersStand(input: readonly Json[]): boolean {
  return input.every((item, index) => {
    if (item["type"] !== "reasoning") return true;
    const next = input.slice(index + 1).find((one) => one["type"] !== "reasoning");
    return next !== undefined && next["role"] !== "user" && !String(next["type"]).endsWith("_output");
  });
}

function omit(item: Json, key: string): Json {
  return Object.fromEntries(Object.entries(item).filter(([name]) => name !== key));
}

test("odd paths, methods and headers get an answer in the API's shape", async () => {
  const emulator = await emulatorFor();
  for (const path of [
    "//",
    "/%",
    "/responses/%E0%A4%A/input_items",
    "/models/%",
    "/responses/",
    "/../../etc/passwd",
  ]) {
    for (const method of ["GET", "POST", "DELETE", "PUT"]) {
      const response = await fetch(emulator.baseUrl + path, {
        method,
        headers: { authorization: "Bearer a" },
      });
      expect(response.status, `${method} ${path}`).toBeLessThan(500);
      expect(await response.json()).toBeTypeOf("object");
    }
  }
  for (const fault of ["429=bad header:1", "cut=after-byte:-1", ";;;", "=", "http", "all", "split=0"]) {
    expect(await expectSane(emulator, { ...base, input: "a" }, { "x-emulator-fault": fault })).toBeLessThan(
      500,
    );
  }
});

test("bytes that are not HTTP, and a client that disconnects while sending, harm nothing", async () => {
  const emulator = await emulatorFor();
  const { hostname, port } = new URL(emulator.url);
  const talk = (bytes: string): Promise<string> =>
    new Promise((resolve) => {
      let answer = "";
      const socket = connect(Number(port), hostname, () => socket.end(bytes));
      socket.on("data", (chunk) => (answer += chunk.toString()));
      socket.on("close", () => resolve(answer));
      socket.on("error", () => resolve(answer));
    });
  expect(await talk("nonsense\r\n\r\n")).toContain("400");
  await talk("POST /v1/responses HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf");
  expect(await expectSane(emulator, { ...base, input: "still here" })).toBe(200);
});
