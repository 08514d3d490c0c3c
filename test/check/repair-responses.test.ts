/**
 * Broken Responses histories, one of each kind and generated ones: the strict emulator refuses them as they are and
 * accepts them once repaired; a repaired one is left alone, and so is a healthy one.
 */

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { checkHistory, repairHistory } from "../../src/diagnostics/check/index.ts";
import type { Emulator } from "../../src/emulator/index.ts";
import { RESPONSES_RULES } from "../../src/runtime/rules/index.ts";
import {
  base,
  errorOf,
  type Json,
  outputOf,
  post,
  result,
  scripted,
  user,
  without,
} from "../emulator/emulator-client.ts";
import { runs, timeoutFor } from "../support/runs.ts";

const SCRIPT = `
steps:
  - output:
      - reasoning: "**Planning**"
      - function_call: {name: look, arguments: {at: one}}
      - function_call: {name: look, arguments: {at: two}}
  - output:
      - reasoning: {summary: []}
      - message: {text: "Half way."}
      - function_call: {name: look, arguments: {at: three}}
  - output:
      - reasoning: "**Done**"
      - message: {text: "All done."}
afterwards: repeat
`;

/** user, rs, fc, fc, out, out, rs, msg, fc, out, rs, msg, user */
async function healthy(): Promise<{ readonly emulator: Emulator; readonly input: readonly Json[] }> {
  const emulator = await scripted(SCRIPT);
  const input: Json[] = [user("go")];
  for (let step = 0; step < 3; step += 1) {
    const reply = await post(emulator, { ...base, input });
    expect(reply.status).toBe(200);
    const output = outputOf(reply);
    input.push(
      ...output,
      ...output.filter(({ type }) => type === "function_call").map((call) => result(call)),
    );
  }
  return { emulator, input: [...input, user("more")] };
}

async function refusalOf(emulator: Emulator, text: string): Promise<string | undefined> {
  const body: unknown = JSON.parse(text);
  const reply = await post(emulator, Array.isArray(body) ? { ...base, input: body } : body);
  return reply.status === 200 ? undefined : String(errorOf(reply)["message"]);
}

/** The API reports what the rules cannot see; a few rounds are enough. */
async function accepted(emulator: Emulator, broken: string): Promise<string> {
  let { text } = repairHistory(broken);
  for (let round = 0; round < 20; round += 1) {
    const error = await refusalOf(emulator, text);
    if (error === undefined) return text;
    text = repairHistory(text, { error }).text;
  }
  throw new Error(`still refused: ${String(await refusalOf(emulator, text))}`);
}

type Break = (input: readonly Json[]) => readonly unknown[];
const at =
  (index: number, change: (item: Json) => Json): Break =>
  (input) =>
    input.map((item, one) => (one === index ? change(item) : item));
const gone =
  (...indexes: readonly number[]): Break =>
  (input) =>
    input.filter((_, one) => !indexes.includes(one));

/** The rule that sees it, and the break. */
const VISIBLE: Readonly<Record<string, readonly [rule: string, Break]>> = {
  "P01 reasoning before the next user message": ["R01", gone(11)],
  "P05 the id of the reasoning is missing": ["R02", at(1, (item) => without(item, "id"))],
  "I01 no payload": ["R03", at(1, (item) => without(item, "encrypted_content"))],
  "I02 a reference": [
    "R14",
    (input) => [...input.slice(0, -1), { type: "item_reference", id: "rs_1" }, user("x")],
  ],
  "I04 an item twice": ["R04", (input) => [...input.slice(0, 3), input[2], ...input.slice(3)]],
  "I05 an id that is too long": ["R05", at(7, (item) => ({ ...item, id: `msg_${"x".repeat(80)}` }))],
  "I06 the prefix of another type": ["R05", at(2, (item) => ({ ...item, id: "call_1" }))],
  "I07 an empty id": ["R05", at(7, (item) => ({ ...item, id: "" }))],
  "T01 a call without an output": ["R06", gone(4)],
  "T01 no outputs at all": ["R06", gone(4, 5)],
  "T02 an output without its call": ["R07", gone(2)],
  "T03 a user message in between": [
    "R08",
    (input) => [...input.slice(0, 4), user("wait"), ...input.slice(4)],
  ],
  "T05 a call id that is too long": [
    "R09",
    (input) =>
      input.map((item) =>
        item["call_id"] === input[8]?.["call_id"] ? { ...item, call_id: "c".repeat(70) } : item,
      ),
  ],
  "T06 an empty call id": [
    "R09",
    (input) =>
      input.map((item) => (item["call_id"] === input[8]?.["call_id"] ? { ...item, call_id: "" } : item)),
  ],
  "T09 no output field": ["R13", at(4, (item) => without(item, "output"))],
  "T10 two outputs": ["R07", (input) => [...input.slice(0, 5), input[4], ...input.slice(5)]],
  "S01 no summary": ["R10", at(1, (item) => without(item, "summary"))],
  "S03 a status": ["R11", at(1, (item) => ({ ...item, status: "completed" }))],
  "S05 input_text": [
    "R12",
    at(11, (item) => ({ role: "assistant", content: [{ type: "input_text", text: "x" }], id: item["id"] })),
  ],
  "S06 a message without content": ["R17", at(11, (item) => without(item, "content"))],
  "T15 a name with a dot": ["R18", at(2, (item) => ({ ...item, name: "functions.look" }))],
  "T15 a name that is a whole command": ["R18", at(3, (item) => ({ ...item, name: "ls -l ".repeat(40) }))],
  "T15 an empty name": ["R18", at(2, (item) => ({ ...item, name: "" }))],
  "T15 a name with a dot, in the output too": [
    "R18",
    (input) =>
      input.map((item) =>
        item["call_id"] === input[2]?.["call_id"] ? { ...item, name: "functions.look" } : item,
      ),
  ],
  "S06 an empty message": [
    "R12",
    (input) => [...input.slice(0, -1), { role: "assistant", content: [] }, user("x")],
  ],
};

test("I10 a request that relies on server state is made self-contained", async () => {
  const { emulator, input } = await healthy();
  const broken = JSON.stringify({ ...base, previous_response_id: "resp_1", input });
  expect(checkHistory(broken).findings).toMatchObject([{ rule: "R14", location: "the request" }]);
  expect(await refusalOf(emulator, broken)).toContain("resp_1");
  const { text, changes } = repairHistory(broken);
  expect([JSON.parse(text), changes.length]).toEqual([{ ...base, input }, 1]);
});

/** Servers other than the one the emulator imitates refuse these (T03: chat vendors, S06: vLLM). */
const LENIENT: ReadonlySet<string> = new Set(["R08", "R12"]);

/** Only the API can see these, and its error says so. */
const INVISIBLE: Readonly<Record<string, Break>> = {
  "P02 a call without its reasoning": gone(1),
  "P03 a message without its reasoning": gone(10),
  "E02 an invalid payload": at(1, (item) => ({ ...item, encrypted_content: "gAAAAnonsense" })),
  "E03 the payload of another item": (input) =>
    input.map((item, one) =>
      one === 1 ? { ...item, encrypted_content: input[6]?.["encrypted_content"] } : item,
    ),
};

test("a healthy history is left byte for byte, as an array and as a request, however it is written", async () => {
  const { emulator, input } = await healthy();
  for (const value of [input, { ...base, input }]) {
    for (const space of [undefined, 2, "\t"]) {
      const text = `${JSON.stringify(value, undefined, space)}\n`;
      expect(repairHistory(text)).toEqual({
        format: "responses",
        dialect: "openai-responses",
        text,
        changes: [],
        remaining: [],
      });
      expect(await refusalOf(emulator, text)).toBeUndefined();
    }
  }
});

test("every rule that a request alone can break is broken here", () => {
  const told = ["R15", "R16"]; // by the renderer
  const rules = RESPONSES_RULES.map(({ id }) => id).filter((id) => !told.includes(id));
  expect([...new Set(Object.values(VISIBLE).map(([rule]) => rule))].toSorted()).toEqual(rules.toSorted());
});

describe("a break that the rules see", () => {
  test.each(Object.entries(VISIBLE))("%s", async (_, [rule, make]) => {
    const { emulator, input } = await healthy();
    const broken = JSON.stringify({ ...base, input: make(input) }, undefined, 2);
    expect(checkHistory(broken).findings.map((finding) => finding.rule)).toContain(rule);
    if (!LENIENT.has(rule)) expect(await refusalOf(emulator, broken)).toBeDefined();
    const repaired = repairHistory(broken);
    expect(repaired.remaining).toEqual([]);
    expect(repaired.changes).not.toEqual([]);
    expect(await refusalOf(emulator, repaired.text)).toBeUndefined();
    expect(repairHistory(repaired.text)).toMatchObject({ text: repaired.text, changes: [] });
  });
});

test.each([
  ["shell_call", { action: { commands: ["ls"] } }],
  ["local_shell_call", { id: "lsh_1", action: { type: "exec", command: ["ls"] }, status: "completed" }],
  ["apply_patch_call", { operation: { type: "delete_file", path: "a" }, status: "completed" }],
])("T01 a %s without its output gets one of its own type", async (type, more) => {
  const { emulator } = await healthy();
  const broken = JSON.stringify([user("go"), { type, call_id: "call_1", ...more }, user("more")]);
  expect(checkHistory(broken).findings.map(({ rule }) => rule)).toContain("R06");
  const repaired = repairHistory(broken);
  expect(repaired.remaining).toEqual([]);
  expect((JSON.parse(repaired.text) as readonly Json[])[2]).toMatchObject({
    type: `${type}_output`,
    call_id: "call_1",
  });
  // An id that the emulator never issued is refused for that reason.
  if (!("id" in more)) expect(await refusalOf(emulator, repaired.text)).toBeUndefined();
});

describe("a break that only the API sees", () => {
  test.each(Object.entries(INVISIBLE))("%s", async (_, make) => {
    const { emulator, input } = await healthy();
    const broken = JSON.stringify(make(input));
    const error = await refusalOf(emulator, broken);
    expect(error).toBeDefined();
    const repaired = repairHistory(broken, { error: error ?? "" });
    expect(repaired.changes.length).toBeGreaterThan(0);
    expect(await refusalOf(emulator, repaired.text)).toBeUndefined();
    expect(repairHistory(repaired.text).text).toBe(repaired.text);
  });
});

test("without its reasoning a history is accepted by another model", async () => {
  const { emulator, input } = await healthy();
  const { text, changes } = repairHistory(JSON.stringify({ ...base, input }), { dropReasoning: true });
  expect(changes.filter(({ lost }) => lost === "reasoning")).toHaveLength(3);
  expect(text).not.toContain('encrypted_content":');
  expect(await refusalOf(emulator, text.replace("emu-reasoner", "emu-reasoner-mini"))).toBeUndefined();
});

/** Anything may happen to a history that tools keep, but the rest must be worth repairing. */
const mishap = fc.oneof(
  fc.record({ kind: fc.constant("drop" as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant("double" as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant("swap" as const), at: fc.nat(20), to: fc.nat(20) }),
  fc.record({ kind: fc.constant("cut" as const), at: fc.nat(20) }),
  fc.record({
    kind: fc.constant("strip" as const),
    at: fc.nat(20),
    field: fc.constantFrom("id", "call_id", "summary", "encrypted_content", "output", "content", "status"),
  }),
);
type Mishap = typeof mishap extends fc.Arbitrary<infer T> ? T : never;

function suffer(input: readonly Json[], mishaps: readonly Mishap[]): readonly Json[] {
  const items = [...input];
  for (const one of mishaps) {
    const index = one.at % Math.max(items.length, 1);
    const item = items[index];
    if (item === undefined) continue;
    if (one.kind === "drop") items.splice(index, 1);
    else if (one.kind === "double") items.splice(index, 0, item);
    else if (one.kind === "cut") items.splice(index + 1);
    else if (one.kind === "strip") items[index] = without(item, one.field);
    else {
      const other = one.to % items.length;
      [items[index], items[other]] = [items[other] ?? item, item];
    }
  }
  return items;
}

test(
  "whatever happened to it, a repaired history is accepted and stays unchanged",
  async () => {
    const { emulator, input } = await healthy();
    await fc.assert(
      fc.asyncProperty(fc.array(mishap, { minLength: 1, maxLength: 6 }), async (mishaps) => {
        const broken = suffer(input, mishaps);
        if (broken.length === 0) return;
        const text = await accepted(emulator, JSON.stringify([...broken, user("last")]));
        expect(repairHistory(text)).toMatchObject({ text, changes: [], remaining: [] });
      }),
      runs(60),
    );
  },
  timeoutFor(60),
);

test("a name that only the call carries is reported as one change", () => {
  const { changes } = repairHistory(
    JSON.stringify([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Look." }] },
      { type: "function_call", call_id: "call_1", name: "functions.look", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "Done." },
    ]),
  );
  expect(changes.map(({ rule }) => rule)).toEqual(["R18"]);
});
