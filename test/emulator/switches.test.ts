/** Each switch changes what it says, and the documentation lists all of them. */

import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

import { describe, expect, test } from "vitest";

import { defaultSwitches, faultNames, parseSwitch, switchValues } from "../../src/emulator/index.ts";
import {
  base,
  emulatorFor,
  type Json,
  outputOf,
  post,
  result,
  scripted,
  stream,
  user,
  without,
} from "./emulator-client.ts";

const script =
  "afterwards: repeat\nsteps: [{output: [{reasoning: {summary: [a], text: hm}}, {function_call: {name: look}}]}]";
const ask = (input: unknown, more: Json = {}): Json => ({ ...base, input, ...more });

async function replayed(switches: object, change: (reasoning: Json) => Json): Promise<number> {
  const emulator = await scripted(script, { switches });
  const [reasoning, call] = outputOf(await post(emulator, ask([user("go")])));
  const input = [user("go"), change(reasoning ?? {}), call, result(call)];
  return (await post(emulator, ask(input))).status;
}

const dropped = async (model: string, prefixBinding: "off" | "silent"): Promise<number | undefined> => {
  const emulator = await scripted(script, { switches: { prefixBinding } });
  const output = outputOf(await post(emulator, ask([user("go")], { model })));
  const reply = await post(emulator, ask([user("changed"), ...output, result(output[1])], { model }));
  expect(reply.status).toBe(200);
  return emulator.report().requests.at(-1)?.dropped.length;
};

describe("switches for accepting", () => {
  test.each([
    ["reasoningStatus", { reasoningStatus: "accept" }, { status: "completed" }],
    [
      "reasoningContent",
      { reasoningContent: "accept" },
      { content: [{ type: "reasoning_text", text: "x" }] },
    ],
    ["unknownFields", { unknownFields: "accept" }, { note: "x" }],
  ])("%s", async (_name, switches, extra) => {
    expect(await replayed({}, (item) => ({ ...item, ...extra }))).toBe(400);
    expect(await replayed(switches, (item) => ({ ...item, ...extra }))).toBe(200);
  });

  test("reasoningIdUnstored: Azure's variant refuses the id and accepts the ciphertext alone", async () => {
    const switches = { reasoningIdUnstored: "refuse" };
    expect(await replayed({}, (item) => item)).toBe(200);
    expect(await replayed(switches, (item) => item)).toBe(404);
    const emulator = await scripted(script, { switches: { reasoningIdUnstored: "refuse" } });
    const output = outputOf(await post(emulator, ask([user("go")]))).map((item) => without(item, "id"));
    expect((await post(emulator, ask([user("go"), ...output, result(output[1])]))).status).toBe(200);
  });

  test("imageItems and outputWithoutCallId", async () => {
    const image =
      "steps: [{output: [{item: {type: image_generation_call, status: completed, result: aGk=}}]}]";
    const injected = { type: "function_call_output", name: "look", output: "news" };
    for (const [switches, expected] of [
      [{}, [404, 400]],
      [{ imageItems: "accept", outputWithoutCallId: "accept" }, [200, 200]],
    ] as const) {
      const emulator = await scripted(image, { switches });
      const output = outputOf(await post(emulator, ask([user("go")])));
      const replies = [
        await post(emulator, ask([user("go"), ...output, user("more")])),
        await post(emulator, ask([user("go"), injected])),
      ];
      expect(replies.map(({ status }) => status)).toEqual(expected);
    }
  });

  test("prefixBinding: off for a bound model, silent for any", async () => {
    expect(await dropped("emu-prefix-bound", "off")).toBe(0);
    expect(await dropped("emu-reasoner", "silent")).toBe(1);
  });
});

describe("switches for sending", () => {
  test("ciphertextWithoutInclude", async () => {
    const plain = { model: "emu-reasoner", store: false, input: "go" };
    const sent = outputOf(await post(await scripted(script), plain));
    expect(sent[0]).toHaveProperty("encrypted_content");
    const older = await scripted(script, { switches: { ciphertextWithoutInclude: "include" } });
    expect(outputOf(await post(older, plain))[0]).not.toHaveProperty("encrypted_content");
    expect(outputOf(await post(older, ask("go")))[0]).toHaveProperty("encrypted_content");
  });

  test("reasoningText", async () => {
    const emulator = await scripted(script, { switches: { reasoningText: true } });
    const { events } = await stream(emulator, ask("go"));
    const types = events.map((event) => event["type"]);
    expect(types).toContain("response.reasoning_text.delta");
    expect(types).not.toContain("response.reasoning_summary_text.delta");
    const output = (events.at(-1)?.["response"] ?? {}) as Json;
    expect(outputOf({ json: output })[0]).toMatchObject({
      status: "completed",
      summary: [],
      content: [{ type: "reasoning_text", text: "hm" }],
    });
  });

  test("phase and doneMarker", async () => {
    const emulator = await emulatorFor({ switches: { phase: false, doneMarker: true } });
    const { events, raw } = await stream(emulator, ask("hello"));
    expect(JSON.stringify(events)).not.toContain("final_answer");
    expect(raw.endsWith("data: [DONE]\n\n")).toBe(true);
    const usual = await stream(await emulatorFor(), ask("hello"));
    expect(JSON.stringify(usual.events)).toContain("final_answer");
    expect(usual.raw).not.toContain("[DONE]");
  });

  test("obfuscation, unless the request switches it off", async () => {
    const emulator = await emulatorFor();
    const { events } = await stream(emulator, ask("hello"));
    const deltas = events.filter((event) => String(event["type"]).endsWith(".delta"));
    expect(deltas.length).toBeGreaterThan(5);
    for (const { delta, obfuscation } of deltas) {
      expect((String(delta).length + String(obfuscation).length) % 16).toBe(0);
    }
    const bare = await stream(emulator, ask("hello", { stream_options: { include_obfuscation: false } }));
    expect(bare.raw).not.toContain("obfuscation");
  });
});

test("reading switches from text", () => {
  expect(parseSwitch("phase", "false")).toEqual({ phase: false });
  expect(parseSwitch("cacheMinimumTokens", "0")).toEqual({ cacheMinimumTokens: 0 });
  expect(parseSwitch("modelBinding", "family")).toEqual({ modelBinding: "family" });
  for (const [name, value] of [
    ["nothing", "1"],
    ["phase", "maybe"],
    ["cacheMinimumTokens", "-1"],
    ["cacheMinimumTokens", ""],
  ]) {
    expect(parseSwitch(name ?? "", value)).toHaveProperty("problem");
  }
});

describe("docs/emulator.md is complete", () => {
  const root = resolve(import.meta.dirname, "../..");
  const document = readFileSync(resolve(root, "docs/emulator.md"), "utf8");
  const tests = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(resolve(import.meta.dirname, name), "utf8"))
    .join("\n");
  const refusals = document.slice(document.indexOf("### Refusals"), document.indexOf("### Switches"));
  const documented = [...refusals.matchAll(/^- \*\*([A-Z][\w-]*(?:, [A-Z][\w-]*)*)\*\*: /gm)].flatMap(
    (match) => match[1]?.split(", ") ?? [],
  );

  test("every rule of the code has an entry, every entry a rule", () => {
    const folder = resolve(root, "src/emulator");
    const source = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
      .map((name) => readFileSync(resolve(folder, name), "utf8"))
      .join("\n");
    const rules = new Set(
      [...source.matchAll(/"([CPIETSHV]\d\d|X-[a-z-]+)"/g)].map((match) => match[1] ?? ""),
    );
    // Inside the stream, or about the emulator itself: not refusals of a request.
    for (const name of ["E12", "X-internal", "X-fault", "X-scenario"]) rules.delete(name);
    expect(documented.length).toBeGreaterThan(50);
    expect([...rules].filter((rule) => !documented.includes(rule))).toEqual([]);
    expect(documented.filter((rule) => !rules.has(rule))).toEqual([]);
  });

  test("every entry has a test", () => {
    const untested = documented.filter((rule) => !new RegExp(`["( ]${rule}[":,]`).test(tests));
    expect(untested).toEqual([]);
  });

  test("every switch and every fault is described", () => {
    expect(Object.keys(switchValues).toSorted()).toEqual(Object.keys(defaultSwitches).toSorted());
    for (const name of Object.keys(switchValues)) expect(document).toContain(`| \`${name}\``);
    for (const name of faultNames) expect(document, name).toMatch(new RegExp(`\`${name}[\`=]`));
  });
});
