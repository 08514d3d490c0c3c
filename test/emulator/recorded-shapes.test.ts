/**
 * The wire matches real recordings field by field, compared by shape: the keys of each event type, and the JSON types
 * of their values. The comparison runs if THROUGHLINE_FIXTURES points to the recordings. What it confirmed is pinned in
 * `shapes/`, so that no shape changes unnoticed where the recordings are missing.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { base, type Json, scripted, stream, user } from "./emulator-client.ts";

const folder = process.env["THROUGHLINE_FIXTURES"];

/** Streams of OpenAI itself; the others in the folder come from servers that depart from it. */
const recordings = [
  "openai-reasoning-encrypted-content.1.chunks.txt",
  "openai-web-search-tool.1.chunks.txt",
  "openai-phase.1.chunks.txt",
  "openai-error.1.chunks.txt",
  "openai-custom-tool.1.chunks.txt",
];

/** Echo of the request, or free content: not the server's shape. */
const opaque = /\.(tools|metadata|format|schema|action|tool_choice|arguments|annotation)$/;

/** Where the emulator has more fields, and why. */
const explained = new Set([
  // That recording was written by hand: it has no sequence numbers at all.
  "response.custom_tool_call_input.delta .obfuscation",
  "response.custom_tool_call_input.delta .sequence_number",
  "response.output_item.added .item(custom_tool_call).status",
]);

/** Newer than those recordings; Copilot's has them, and the Open Responses schema requires them in every state. */
const newer = /\.response\.(completed_at|frequency_penalty|presence_penalty)$/;

function shapeOf(value: unknown, path: string, into: Set<string>): void {
  if (Array.isArray(value)) {
    into.add(`${path}: array`);
    if (!opaque.test(path)) for (const one of value) shapeOf(one, `${path}[]`, into);
  } else if (typeof value === "object" && value !== null) {
    const { type } = value as Json;
    const here = /\.(item|part)$|\[\]$/.test(path) && typeof type === "string" ? `${path}(${type})` : path;
    into.add(`${here}: object`);
    if (!opaque.test(path))
      for (const [key, one] of Object.entries(value)) shapeOf(one, `${here}.${key}`, into);
  } else {
    into.add(`${path}: ${value === null ? "null" : typeof value}`);
  }
}

function shapes(events: readonly Json[]): Map<string, Set<string>> {
  const all = new Map<string, Set<string>>();
  for (const event of events) {
    const type = String(event["type"]);
    const set = all.get(type) ?? new Set<string>();
    shapeOf(event, "", set);
    all.set(type, set);
  }
  return all;
}

/** Keys without their types: what exists at all. */
const keys = (set: ReadonlySet<string> | undefined): Set<string> =>
  new Set([...(set ?? [])].map((line) => line.replace(/: \w+$/, "")));

async function ours(): Promise<Json[]> {
  const script = `
steps:
  - output:
      - reasoning: ["**Calculating**\\n\\nStep by step.", "**Again**\\n\\nMore."]
      - function_call: {name: calculator, arguments: {a: 1}}
  - output:
      - reasoning: {summary: []}
      - web_search_call: {type: search, query: news, sources: [{type: url, url: "https://example.com"}]}
      - reasoning: {summary: [], ciphertext: false}
      - message:
          text: Found it.
          annotations: [{type: url_citation, start_index: 0, end_index: 5, title: t, url: "https://example.com"}]
      - message: {text: Looking., phase: commentary}
  - output: [{custom_tool_call: {name: sql, input: SELECT 1}}]
  - output: []
    faults: [error-event=nested]
`;
  const emulator = await scripted(script);
  const events: Json[] = [];
  for (let request = 0; request < 4; request += 1) {
    const reasoning = request === 3 ? { effort: "medium" } : base.reasoning;
    const { events: some } = await stream(emulator, { ...base, reasoning, input: [user("go")] });
    events.push(...some);
  }
  return events;
}

function recorded(): Json[] {
  return recordings.flatMap((name) => {
    const path = join(folder ?? "", "openai-responses", name);
    expect(existsSync(path), path).toBe(true);
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line) as Json);
  });
}

if (folder === undefined) {
  process.stderr.write(
    `recorded-shapes: skipped ${recordings.length} recordings, THROUGHLINE_FIXTURES is not set\n`,
  );
}

test("the shapes are the ones that were compared with the recordings", async () => {
  const lines = [...shapes(await ours())].flatMap(([type, set]) => [...set].map((line) => `${type} ${line}`));
  await expect(`${lines.toSorted().join("\n")}\n`).toMatchFileSnapshot("shapes/openai-responses.txt");
});

test.skipIf(folder === undefined)(
  "every field of the recordings is there, with a recorded type",
  async () => {
    const real = shapes(recorded());
    const mine = shapes(await ours());
    const missing: string[] = [];
    const strange: string[] = [];
    for (const [type, set] of real) {
      const here = mine.get(type);
      if (here === undefined) {
        missing.push(type);
        continue;
      }
      for (const key of keys(set)) if (!keys(here).has(key)) missing.push(`${type} ${key}`);
      for (const line of here) {
        const known = keys(set).has(line.replace(/: \w+$/, ""));
        if (!set.has(line)) strange.push(`${type} ${known ? line : line.replace(/: \w+$/, "")}`);
      }
    }
    expect(missing).toEqual([]);
    const unexplained = [...new Set(strange)].filter((line) => !explained.has(line) && !newer.test(line));
    expect(unexplained).toEqual([]);
  },
);

test.skipIf(folder === undefined)("reasoning_text has the keys that LM Studio sends", async () => {
  const path = join(folder ?? "", "openai-responses", "lmstudio-tool-call.1.chunks.txt");
  const lines = readFileSync(path, "utf8").split("\n");
  const real = shapes(lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as Json));
  const emulator = await scripted("steps: [{output: [{reasoning: {text: hm hm}}, {message: Done.}]}]", {
    switches: { reasoningText: true, ciphertextWithoutInclude: "include", phase: false },
  });
  const { events } = await stream(emulator, {
    model: "emu-reasoner",
    store: false,
    input: [user("go")],
    stream_options: { include_obfuscation: false },
  });
  const mine = shapes(events);
  for (const type of ["response.reasoning_text.delta", "response.reasoning_text.done"]) {
    expect([...(mine.get(type) ?? [])].toSorted(), type).toEqual([...(real.get(type) ?? [])].toSorted());
  }
  const item = (all: ReturnType<typeof shapes>): string[] =>
    [...(all.get("response.output_item.done") ?? [])]
      .filter((line) => line.includes("(reasoning)"))
      .toSorted();
  expect(item(mine)).toEqual(item(real));
});
