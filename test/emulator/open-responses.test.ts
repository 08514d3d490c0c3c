/**
 * Response objects and events carry every field the Open Responses schema requires, in every state. The field list is
 * here; the schema itself is data and not part of the product. If it is available (THROUGHLINE_OPEN_RESPONSES, or
 * `../wire/openresponses.json` next to THROUGHLINE_FIXTURES), everything the emulator sends is validated against it.
 */

import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

import { type Schema, Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";

import type { Emulator } from "../../src/emulator/index.ts";
import {
  base,
  emulatorFor,
  get,
  type Json,
  outputOf,
  post,
  scripted,
  stream,
  user,
} from "./emulator-client.ts";

const fixtures = process.env["THROUGHLINE_FIXTURES"];
const file =
  process.env["THROUGHLINE_OPEN_RESPONSES"] ??
  (fixtures === undefined ? "" : resolve(fixtures, "../wire/openresponses.json"));
const document = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Json) : undefined;

/** Each field and the JSON types it may have. */
const fields: Readonly<Record<string, string>> = {
  id: "string",
  object: "string",
  created_at: "integer",
  completed_at: "integer null",
  status: "string",
  incomplete_details: "object null",
  model: "string",
  previous_response_id: "string null",
  instructions: "string null",
  output: "array",
  error: "object null",
  tools: "array",
  tool_choice: "string object",
  truncation: "string",
  parallel_tool_calls: "boolean",
  text: "object",
  top_p: "number integer",
  presence_penalty: "number integer",
  frequency_penalty: "number integer",
  top_logprobs: "integer",
  temperature: "number integer",
  reasoning: "object null",
  usage: "object null",
  max_output_tokens: "integer null",
  max_tool_calls: "integer null",
  store: "boolean",
  background: "boolean",
  service_tier: "string",
  metadata: "object",
  safety_identifier: "string null",
  prompt_cache_key: "string null",
};

function jsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function wrongFields(response: Json): readonly string[] {
  return Object.entries(fields)
    .filter(([name, types]) => !types.split(" ").includes(jsonType(response[name])))
    .map(([name]) => `${name}: ${jsonType(response[name])}`);
}

const weather = {
  type: "function",
  name: "get_weather",
  description: "Weather of a place",
  parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
};
const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" };

/** The requests of the official suite, and others that make the emulator send more. */
const requests: Readonly<Record<string, Json>> = {
  "a text": { input: [{ type: "message", ...user("Say hello in exactly 3 words.") }] },
  "a system prompt": { input: [{ role: "system", content: "Be brief." }, user("Say hello.")] },
  "a tool call": { input: [user("What's the weather like in San Francisco?")], tools: [weather] },
  "an image": { input: [{ role: "user", content: [{ type: "input_text", text: "What is it?" }, image] }] },
  "several turns": {
    input: [user("My name is Alice."), { role: "assistant", content: "Hello!" }, user("What is my name?")],
  },
  "an assistant's phase": {
    input: [user("a"), { role: "assistant", phase: "commentary", content: "Looking." }, user("b")],
  },
  "the answer to a call": {
    input: [
      user("Weather in Rome?"),
      { type: "function_call", call_id: "c", name: "get_weather", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "Sunny" },
    ],
    tools: [weather],
  },
  "a refusal": { input: [user("Please refuse this.")] },
  "a thought with a summary": { input: [user("hello")], reasoning: { effort: "high", summary: "auto" } },
  "a plain model": { input: [user("hello")], model: "emu-plain", temperature: 0.5, top_p: 0.9 },
  settings: {
    input: [user("hello")],
    instructions: "Be brief.",
    store: false,
    metadata: { a: "b" },
    tool_choice: "none",
    tools: [weather],
    parallel_tool_calls: false,
    prompt_cache_key: "key",
    safety_identifier: "who",
    service_tier: "flex",
    text: { verbosity: "low" },
    truncation: "auto",
    top_logprobs: 2,
    max_tool_calls: 3,
  },
  "a truncated answer": { input: [user("Write a long answer.")], max_output_tokens: 16 },
};

const problems = (definition: string, value: unknown): readonly string[] => {
  if (document === undefined) return [];
  const schema = { ...document, $ref: `#/components/schemas/${definition}` } as Schema;
  const { errors } = new Validator(schema, "2020-12").validate(value);
  return errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`);
};

/** The schema's name for an event of this type; `undefined` if the schema does not know it. */
const definitions = new Map<string, string>();
for (const [name, schema] of Object.entries(componentsOf(document))) {
  const type = ((schema["properties"] as Json | undefined)?.["type"] ?? {}) as { enum?: readonly string[] };
  if (name.endsWith("StreamingEvent") && type.enum?.[0] !== undefined) definitions.set(type.enum[0], name);
}

function componentsOf(whole: Json | undefined): Readonly<Record<string, Json>> {
  const { schemas } = (whole?.["components"] ?? { schemas: {} }) as { schemas: Record<string, Json> };
  return schemas;
}

function expectResponse(response: Json): void {
  expect(wrongFields(response)).toEqual([]);
  expect(problems("ResponseResource", response)).toEqual([]);
}

function expectEvents(events: readonly Json[]): void {
  expect(events.map((event) => event["sequence_number"])).toEqual(events.map((_, index) => index));
  for (const event of events) {
    if (typeof event["response"] === "object") expectResponse(event["response"] as Json);
    const definition = definitions.get(String(event["type"]));
    if (definition !== undefined) expect(problems(definition, event), String(event["type"])).toEqual([]);
  }
}

if (document === undefined)
  process.stderr.write("open-responses: the schema is not available, fields only\n");
else
  test("the list of fields is that of the schema", () => {
    const required = componentsOf(document)["ResponseResource"]?.["required"] as readonly string[];
    expect(Object.keys(fields).toSorted()).toEqual(required.toSorted());
    expect(definitions.size).toBeGreaterThan(20);
    expect(problems("ResponseResource", { id: 1 })).not.toEqual([]);
  });

describe.each(Object.entries(requests))("%s", (_name, request) => {
  const body = { model: "emu-reasoner", ...request };

  test("is valid as an object", async () => {
    const reply = await post(await emulatorFor(), body);
    expect([reply.status, reply.json["error"]]).toEqual([200, null]);
    expectResponse(reply.json);
  });

  test("is valid as a stream", async () => {
    const { status, events } = await stream(await emulatorFor(), body);
    expect(status).toBe(200);
    expectEvents(events);
  });
});

test("completed_at is set when the response is completed, and null otherwise", async () => {
  const emulator = await emulatorFor();
  const { events } = await stream(emulator, { ...base, input: "hello" });
  const states = events.flatMap((event) =>
    event["response"] === undefined ? [] : [event["response"] as Json],
  );
  expect(states.map((one) => [one["status"], jsonType(one["completed_at"])])).toEqual([
    ["in_progress", "null"],
    ["in_progress", "null"],
    ["completed", "integer"],
  ]);
  const cut = await post(emulator, { ...base, input: "Write a long answer.", max_output_tokens: 16 });
  expect([cut.json["status"], cut.json["completed_at"]]).toEqual(["incomplete", null]);
});

async function inBackground(emulator: Emulator): Promise<readonly Json[]> {
  const queued = await post(emulator, { model: "emu-reasoner", input: "hello", background: true });
  const later = await get(emulator, `/responses/${String(queued.json["id"])}`);
  return [queued.json, later.json];
}

test("a background response, a failed one and a compaction are valid", async () => {
  const [queued, done] = await inBackground(await emulatorFor());
  for (const one of [queued, done]) expectResponse(one ?? {});
  const failing = await scripted("steps: [{status: failed, output: [{message: Half.}]}]");
  expectEvents((await stream(failing, { ...base, input: "go" })).events);
  const nested = await emulatorFor({ faults: [{ type: "error-event", shape: "nested" }] });
  expectEvents((await stream(nested, { ...base, input: "go" })).events);

  const emulator = await emulatorFor();
  const one = await post(emulator, { ...base, input: "Think of a number." });
  const input = [user("Think of a number."), ...outputOf(one)];
  const compacted = await post(emulator, { model: "emu-reasoner", input }, {}, "/responses/compact");
  expect(problems("CompactResource", compacted.json)).toEqual([]);
  const more = await post(emulator, {
    ...base,
    input: [...outputOf(compacted), user("Which number was it?")],
  });
  expect(more.status).toBe(200);
  expectResponse(more.json);
});
