/**
 * Every refusal: status, code, param and the exact message; and next to it the correct request, which passes. An entry
 * of docs/emulator.md without a test here is a bug in this file.
 */

import { describe, expect, test } from "vitest";

import type { Emulator, EmulatorOptions } from "../../src/emulator/index.ts";
import {
  base,
  emulatorFor,
  errorOf,
  type Json,
  outputOf,
  post,
  result,
  scripted,
  stream,
  user,
  without,
} from "./emulator-client.ts";

const calls = `
steps:
  - output:
      - reasoning: "**Planning**\\n\\nI call two tools."
      - function_call: {name: look, arguments: {at: one}}
      - function_call: {name: look, arguments: {at: two}}
  - output:
      - reasoning: {summary: []}
      - message: {text: "All done.", phase: final_answer}
afterwards: repeat
`;

interface Expected {
  readonly rule: string;
  readonly status?: number;
  readonly message: string;
  readonly param: string | null;
  readonly code: string | null;
  readonly type?: string;
}

async function expectRefusal(
  emulator: Emulator,
  body: unknown,
  expected: Expected,
  headers = {},
): Promise<void> {
  const reply = await post(emulator, body, headers);
  expect({ status: reply.status, error: errorOf(reply) }).toEqual({
    status: expected.status ?? 400,
    error: {
      message: expected.message,
      type: expected.type ?? "invalid_request_error",
      param: expected.param,
      code: expected.code,
    },
  });
  const report = emulator.report().requests.at(-1);
  expect([report?.verdict, report?.rule]).toEqual(["refused", expected.rule]);
}

async function expectAccepted(emulator: Emulator, body: unknown, headers = {}): Promise<Json> {
  const reply = await post(emulator, body, headers);
  expect([reply.status, reply.json["error"] ?? null]).toEqual([200, null]);
  return reply.json;
}

const refusal = (
  rule: string,
  message: string,
  param: string | null = "input",
  code: string | null = null,
): Expected => ({ rule, message, param, code });

const unverified = (rule: string, message: string): Expected =>
  refusal(rule, message, null, "invalid_encrypted_content");

const missingAt = (rule: string, param: string): Expected =>
  refusal(rule, `Missing required parameter: '${param}'.`, param, "missing_required_parameter");

const unknownAt = (rule: string, param: string): Expected =>
  refusal(rule, `Unknown parameter: '${param}'.`, param, "unknown_parameter");

const noFollower = (rule: string, reasoning: Json | undefined): Expected =>
  refusal(
    rule,
    `Item '${idOf(reasoning)}' of type 'reasoning' was provided without its required following item.`,
  );

const noReasoning = (rule: string, item: Json | undefined, needed: Json | undefined): Expected =>
  refusal(
    rule,
    `Item '${idOf(item)}' of type '${String(item?.["type"])}' was provided without its required 'reasoning' item: '${idOf(needed)}'.`,
  );

/** One tool step: the request, the answer, and its correct continuation. */
async function oneStep(options: EmulatorOptions = {}, script = calls) {
  const emulator = await scripted(script, options);
  const first = user("go");
  const reply = await post(emulator, { ...base, input: [first] });
  expect(reply.status).toBe(200);
  const output = outputOf(reply);
  const results = output.filter((item) => item["type"] === "function_call").map((call) => result(call));
  return { emulator, first, output, results, input: [first, ...output, ...results] };
}

type Step = Awaited<ReturnType<typeof oneStep>>;

/** One refusal: the request that breaks the rule, the answer to it, and the corrected request, which passes. */
interface Row {
  readonly name: string;
  readonly broken: (step: Step) => Json;
  readonly refused: Expected | ((step: Step) => Expected);
  readonly mended?: (step: Step) => Json;
  /** The options of the first step. */
  readonly options?: EmulatorOptions;
  readonly script?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function testRows(rows: readonly Row[]): void {
  test.each(rows.map((row) => [row.name, row] as const))("%s", async (_name, row) => {
    const step = await oneStep(row.options, row.script);
    const expected = typeof row.refused === "function" ? row.refused(step) : row.refused;
    await expectRefusal(step.emulator, row.broken(step), expected, row.headers);
    if (row.mended !== undefined) await expectAccepted(step.emulator, row.mended(step));
  });
}

/** The same for a request that needs no history. */
type PlainRow = readonly [name: string, broken: unknown, refused: Expected, ...mended: readonly unknown[]];

function testPlainRows(rows: readonly PlainRow[]): void {
  for (const [name, broken, refused, ...mended] of rows)
    test(name, async () => {
      const emulator = await emulatorFor();
      await expectRefusal(emulator, broken, refused);
      for (const body of mended) await expectAccepted(emulator, body);
    });
}

const ask = (input: unknown, more: Json = {}): Json => ({ ...base, input, ...more });
const idOf = (item: Json | undefined): string => String(item?.["id"]);

const notPersisted = (id: string): string =>
  `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;

const refusedFor = (id: string, reason: string): string =>
  `The encrypted content for item ${id} could not be verified. Reason: ${reason}`;

const textPart = (type: string, role = "assistant"): Json => ({ role, content: [{ type, text: "x" }] });

const sameAgain = ({ first, output, results }: Step): Json => ask([first, ...output, ...results]);

const withoutIds = (output: readonly Json[]): Json[] => output.map((item) => without(item, "id"));

/** The first call with another id. */
const renamed =
  (id: string) =>
  ({ first, output, results }: Step): Json =>
    ask([first, output[0], { ...output[1], id }, output[2], ...results]);

const idOfCall = (item: Json | undefined): string => String(item?.["call_id"]);

const after = (...items: readonly unknown[]): Json => ask([user("a"), ...items]);

const toolNumber = (index: number): Json => ({
  type: "function",
  name: `t${index}`,
  parameters: {},
  strict: false,
});

describe("A. pairing and ordering", () => {
  test("a whole group goes back and is accepted", async () => {
    const { emulator, input } = await oneStep();
    await expectAccepted(emulator, ask(input));
  });

  const interleaved = `
steps:
  - output:
      - reasoning: "**First**"
      - function_call: {name: look, arguments: {at: one}}
      - reasoning: "**Second**"
      - function_call: {name: look, arguments: {at: two}}
  - output: [{reasoning: []}, {message: Done.}]
afterwards: repeat
`;
  const other = { role: "assistant", content: "I did something." };

  testRows([
    {
      name: "P01: reasoning at the end",
      broken: ({ first, output }) => ask([first, output[0]]),
      refused: ({ output }) => noFollower("P01", output[0]),
    },
    {
      name: "P01: reasoning before the next user message",
      broken: ({ first, output }) => ask([first, output[0], user("and now?")]),
      refused: ({ output }) => noFollower("P01", output[0]),
    },
    {
      name: "P02: a call with its id, without its reasoning; without its id it passes",
      broken: ({ first, output, results }) => ask([first, output[1], without(output[2], "id"), ...results]),
      refused: ({ output }) => noReasoning("P02", output[1], output[0]),
      mended: ({ first, output, results }) => ask([first, ...withoutIds(output.slice(1)), ...results]),
    },
    {
      name: "P04: hosted calls belong to the group too",
      script:
        'steps: [{output: [{reasoning: "**Search**"}, {web_search_call: news}, {reasoning: []}, {message: Found it.}]}]',
      broken: ({ first, output }) => ask([first, output[1], without(output[3], "id"), user("more")]),
      refused: ({ output }) => noReasoning("P04", output[1], output[0]),
      mended: ({ first, output }) => ask([first, ...output, user("more")]),
    },
    {
      name: "P05: the reasoning is there but its id was removed",
      broken: ({ first, output, results }) =>
        ask([first, without(output[0], "id"), output[1], output[2], ...results]),
      refused: ({ output }) => noReasoning("P05", output[1], output[0]),
      mended: ({ first, output, results }) => ask([first, ...withoutIds(output), ...results]),
    },
    {
      name: "P06: store:true also needs the id of the next message; store:false does not",
      script: 'steps: [{output: [{reasoning: "**One**"}, {message: Done.}]}]',
      broken: ({ first, output }) =>
        ask([first, output[0], without(output[1], "id"), user("more")], { store: true }),
      refused: ({ output }) => noFollower("P06", output[0]),
      mended: ({ first, output }) => ask([first, output[0], without(output[1], "id"), user("more")]),
    },
    {
      name: "P07: two reasoning items collapsed into one",
      script:
        'steps: [{output: [{reasoning: "**One**"}, {reasoning: "**Two**"}, {function_call: {name: look}}]}]',
      broken: ({ first, output, results }) => ask([first, output[0], output[2], ...results]),
      refused: ({ output }) => noReasoning("P02", output[2], output[1]),
      mended: sameAgain,
    },
    {
      name: "P09: items regrouped by type",
      script: interleaved,
      broken: ({ first, output: [a, b, c, d], results }) => ask([first, a, c, b, d, ...results]),
      refused: ({ output }) => noFollower("P09", output[2]),
      mended: sameAgain,
    },
    {
      name: "P10: a foreign item between reasoning and its follower",
      broken: ({ first, output, results }) =>
        ask([first, output[0], user("wait"), output[1], output[2], ...results]),
      refused: ({ output }) => noFollower("P10", output[0]),
      mended: ({ input }) => ask([...input, user("wait")]),
    },
    {
      name: "P12, P13: the calls were dropped, their reasoning was kept",
      broken: ({ first, output }) => ask([first, output[0], other, user("more")]),
      refused: ({ output }) => noFollower("P01", output[0]),
      mended: ({ first }) => ask([first, other, user("more")]),
    },
    {
      name: "P14: reasoning sent to a model that does not reason",
      broken: ({ input }) => ({ model: "emu-plain", store: false, input }),
      refused: refusal(
        "P14",
        "Reasoning input items can only be provided to a reasoning or computer use model.",
      ),
      mended: ({ first, output, results }) => ({
        model: "emu-plain",
        store: false,
        input: [first, ...withoutIds(output.slice(1)), ...results],
      }),
    },
    {
      name: "switch consecutiveReasoning: rs, rs, fc",
      options: { switches: { consecutiveReasoning: "refuse" } },
      script: "steps: [{output: [{reasoning: a}, {reasoning: b}, {function_call: {name: look}}]}]",
      broken: ({ input }) => ask(input),
      refused: ({ output }) => noFollower("P01", output[0]),
    },
  ]);

  test("P03: a message with its id, without its reasoning", async () => {
    const { emulator, input } = await oneStep();
    const done = outputOf({ json: await expectAccepted(emulator, ask(input)) });
    await expectRefusal(
      emulator,
      ask([...input, done[1], user("more")]),
      refusal(
        "P03",
        `Item '${idOf(done[1])}' of type 'message' was provided without its required 'reasoning' item: '${idOf(done[0])}'.`,
      ),
    );
    await expectAccepted(emulator, ask([...input, without(done[1], "id"), user("more")]));
    await expectAccepted(emulator, ask([...input, ...done, user("more")]));
  });

  test("P11: reasoning without a summary still counts", async () => {
    const { emulator, input } = await oneStep();
    const done = outputOf({ json: await expectAccepted(emulator, ask(input)) });
    expect(done[0]?.["summary"]).toEqual([]);
    await expectRefusal(
      emulator,
      ask([...input, done[1], user("more")]),
      refusal(
        "P03",
        `Item '${idOf(done[1])}' of type 'message' was provided without its required 'reasoning' item: '${idOf(done[0])}'.`,
      ),
    );
  });

  test("switch requiredReasoning: nearest-run forgives a missing earlier run", async () => {
    const near = await oneStep({ switches: { requiredReasoning: "nearest-run" } }, interleaved);
    const cut = [without(near.output[1], "id"), near.output[2], near.output[3]];
    await expectAccepted(near.emulator, ask([near.first, ...cut, ...near.results]));
    const all = await oneStep({}, interleaved);
    const same = [without(all.output[1], "id"), all.output[2], all.output[3]];
    await expectRefusal(
      all.emulator,
      ask([all.first, ...same, ...all.results]),
      refusal(
        "P02",
        `Item '${idOf(all.output[3])}' of type 'function_call' was provided without its required 'reasoning' item: '${idOf(all.output[0])}'.`,
      ),
    );
  });

  test("switch followerText: any accepts an edited message after reasoning", async () => {
    const script = "steps: [{output: [{reasoning: a}, {message: One.}]}]";
    const edited = { role: "assistant", content: "Two." };
    const exact = await oneStep({}, script);
    await expectRefusal(
      exact.emulator,
      ask([exact.first, exact.output[0], edited, user("more")]),
      refusal(
        "P01",
        `Item '${idOf(exact.output[0])}' of type 'reasoning' was provided without its required following item.`,
      ),
    );
    const any = await oneStep({ switches: { followerText: "any" } }, script);
    await expectAccepted(any.emulator, ask([any.first, any.output[0], edited, user("more")]));
  });
});

describe("B. ids and store", () => {
  test("I01: a reasoning id without its ciphertext is 404, not 400", async () => {
    const { emulator, first, output, results } = await oneStep();
    for (const bare of [without(output[0], "encrypted_content"), { ...output[0], encrypted_content: null }]) {
      await expectRefusal(emulator, ask([first, bare, output[1], output[2], ...results]), {
        ...refusal("I01", notPersisted(idOf(output[0]))),
        status: 404,
      });
    }
  });

  test("switch bareReasoningId: accept", async () => {
    const { emulator, first, output, results } = await oneStep({ switches: { bareReasoningId: "accept" } });
    const bare = without(output[0], "encrypted_content");
    await expectAccepted(emulator, ask([first, bare, output[1], output[2], ...results]));
  });

  test("I02: item_reference to something that is not stored", async () => {
    const { emulator, first, output } = await oneStep();
    const reference = { type: "item_reference", id: idOf(output[1]) };
    await expectRefusal(emulator, ask([first, reference]), {
      ...refusal("I02", notPersisted(idOf(output[1]))),
      status: 404,
    });
    const zdr = await oneStep({ switches: { zeroDataRetention: true } });
    await expectRefusal(zdr.emulator, ask([first, { type: "item_reference", id: idOf(zdr.output[1]) }]), {
      ...refusal(
        "I02",
        `Item with id '${idOf(zdr.output[1])}' not found. Items are not persisted for Zero Data Retention organizations.`,
      ),
      status: 404,
    });
  });

  test("an id that was never issued", async () => {
    const { emulator, first, output } = await oneStep();
    const forged = { type: "message", role: "assistant", id: "msg_123abc", content: [] };
    await expectRefusal(emulator, ask([first, forged, user("more")]), {
      ...refusal("X-unknown-id", notPersisted("msg_123abc")),
      status: 404,
    });
    const flipped = idOf(output[1]).replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    await expectRefusal(emulator, ask([first, { ...output[1], id: flipped }, result(output[1])]), {
      ...refusal("X-unknown-id", notPersisted(flipped)),
      status: 404,
    });
    await expectRefusal(emulator, ask([first, forged, user("more")], { store: true }), {
      ...refusal("X-unknown-id", "Item with id 'msg_123abc' not found."),
      status: 404,
    });
    const tolerant = await emulatorFor({ switches: { unknownItemIds: "accept" } });
    await expectAccepted(tolerant, ask([first, forged, user("more")]));
  });

  test("I10: previous_response_id of a response that was not stored", async () => {
    const { emulator } = await oneStep();
    await expectRefusal(
      emulator,
      ask([user("more")], { previous_response_id: "resp_nothing" }),
      refusal(
        "I10",
        "Previous response with id 'resp_nothing' not found.",
        "previous_response_id",
        "previous_response_not_found",
      ),
    );
    const zdr = await emulatorFor({ switches: { zeroDataRetention: true } });
    await expectRefusal(
      zdr,
      ask([user("more")], { previous_response_id: "resp_nothing" }),
      refusal(
        "I10",
        "Previous response cannot be used for this organization due to Zero Data Retention.",
        "previous_response_id",
        "unsupported_parameter",
      ),
    );
  });

  testRows([
    {
      name: "switch nullCiphertext: refuse-type",
      options: { switches: { nullCiphertext: "refuse-type" } },
      broken: ({ first, output, results }) =>
        ask([first, { ...output[0], encrypted_content: null }, output[1], output[2], ...results]),
      refused: refusal(
        "X-type",
        "Invalid type for 'input[1].encrypted_content': expected a string, but got null instead.",
        "input[1].encrypted_content",
        "invalid_type",
      ),
    },
    {
      name: "I04: the same item twice",
      broken: ({ first, output, results }) => ask([first, output[0], ...output, ...results]),
      refused: ({ output }) =>
        refusal(
          "I04",
          `Duplicate item found with id ${idOf(output[0])}. Remove duplicate items from your input and try again.`,
        ),
    },
    {
      name: "I05: an id longer than 64",
      broken: renamed(`fc_${"x".repeat(413)}`),
      refused: refusal(
        "I05",
        "Invalid 'input[2].id': string too long. Expected a string with maximum length 64, but got a string with length 416 instead.",
        "input[2].id",
        "string_above_max_length",
      ),
    },
    {
      name: "I06: the prefix of another type",
      broken: renamed("call_abc"),
      refused: refusal(
        "I06",
        "Invalid 'input[2].id': 'call_abc'. Expected an ID that begins with 'fc'.",
        "input[2].id",
        "invalid_id_prefix",
      ),
    },
    {
      name: "I07: an empty id",
      broken: renamed(""),
      refused: refusal(
        "I07",
        "Invalid 'input[2].id': ''. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.",
        "input[2].id",
        "invalid_value",
      ),
    },
    {
      name: "I09, switch reasoningWithoutId: refuse",
      options: { switches: { reasoningWithoutId: "refuse" } },
      broken: ({ first, output, results }) =>
        ask([first, ...output.map((item) => without(item, "id")), ...results]),
      refused: missingAt("I09", "input[1].id"),
    },
  ]);
});

describe("C. encrypted content", () => {
  const unreadable = "Encrypted content could not be decrypted or parsed.";

  test("E01: the key was rotated", async () => {
    const { emulator, input, output } = await oneStep();
    await expectAccepted(emulator, ask(input));
    emulator.rotateKey();
    const blob = String(output[0]?.["encrypted_content"]);
    await expectRefusal(
      emulator,
      ask(input),
      unverified(
        "E01",
        `The encrypted content ${blob.slice(0, 4)}...${blob.slice(-4)} could not be verified.`,
      ),
    );
  });

  test("E02: changed, foreign, or plain text in the field", async () => {
    const { emulator, first, output, results } = await oneStep();
    const blob = String(output[0]?.["encrypted_content"]);
    const flipped = blob.slice(0, 40) + (blob[40] === "A" ? "B" : "A") + blob.slice(41);
    for (const bad of [flipped, blob + blob, "Work it out.", "gAAAAABforeign", ""]) {
      await expectRefusal(
        emulator,
        ask([first, { ...output[0], encrypted_content: bad }, output[1], output[2], ...results]),
        unverified("E02", refusedFor(idOf(output[0]), unreadable)),
      );
    }
    const bare = [{ ...without(output[0], "id"), encrypted_content: "Work it out." }, ...output.slice(1)];
    await expectRefusal(
      emulator,
      ask([first, ...bare.map((item) => without(item, "id")), ...results]),
      unverified("E02", `The encrypted content Work...out. could not be verified. Reason: ${unreadable}`),
    );
  });

  test("E03: another id than the one it was made for", async () => {
    const { emulator, input, output } = await oneStep();
    const second = outputOf({ json: await expectAccepted(emulator, ask(input)) });
    const swapped = { ...second[0], id: idOf(output[0]) };
    await expectRefusal(
      emulator,
      ask([input[0], swapped, ...input.slice(2)]),
      unverified(
        "E03",
        refusedFor(idOf(output[0]), "Encrypted content item_id did not match the target item id."),
      ),
    );
  });

  test("E05: another model; the switch loosens it", async () => {
    const { emulator, input, output } = await oneStep();
    const expected = unverified("E05", refusedFor(idOf(output[0]), unreadable));
    await expectRefusal(emulator, ask(input, { model: "emu-reasoner-mini" }), expected);
    const off = await oneStep({ switches: { modelBinding: "off" } });
    await expectAccepted(off.emulator, ask(off.input, { model: "emu-reasoner-mini" }));
    const family = await scripted(calls, { switches: { modelBinding: "family" } });
    const first = await post(family, ask([user("go")], { model: "gpt-5.6" }));
    const output2 = outputOf(first);
    const input2 = [user("go"), ...output2, result(output2[1]), result(output2[2])];
    await expectAccepted(family, ask(input2, { model: "gpt-5.6-sol" }));
    await expectRefusal(family, ask(input2, { model: "gpt-6" }), {
      ...expected,
      message: refusedFor(idOf(output2[0]), unreadable),
    });
  });

  test("E07: the ciphertext of output_item.added; E08: three different ones, of which the later two are valid", async () => {
    const emulator = await scripted(calls);
    const first = user("go");
    const { events } = await stream(emulator, ask([first]));
    const item = (type: string): Json => events.find((event) => event["type"] === type)?.["item"] as Json;
    const added = item("response.output_item.added");
    const done = item("response.output_item.done");
    const whole = outputOf({ json: events.at(-1)?.["response"] as Json });
    const blobs = [added, done, whole[0]].map((one) => String(one?.["encrypted_content"]));
    expect(new Set(blobs).size).toBe(3);
    expect(blobs[0]?.length).toBeLessThan(blobs[1]?.length ?? 0);
    for (const blob of blobs) expect(blob).toMatch(/^gAAAAAB[\w-]+={0,2}$/);
    const rest = [...whole.slice(1), result(whole[1]), result(whole[2])];
    await expectRefusal(
      emulator,
      ask([first, { ...done, encrypted_content: blobs[0] }, ...rest]),
      unverified("E07", refusedFor(idOf(done), unreadable)),
    );
    await expectAccepted(emulator, ask([first, done, ...rest]));
    await expectAccepted(emulator, ask([first, whole[0], ...rest]));
  });

  test("H06: a prefix-bound model drops thoughts without an error, and the report shows it", async () => {
    const emulator = await scripted(calls);
    const bound = { model: "emu-prefix-bound" };
    const output = outputOf(await post(emulator, ask([user("go")], bound)));
    const tail = [...output, result(output[1]), result(output[2])];
    await expectAccepted(emulator, ask([user("go"), ...tail], bound));
    expect(emulator.report().requests.at(-1)).toMatchObject({
      dropped: [],
      recall: 1,
      sent: [idOf(output[0])],
    });
    await expectAccepted(emulator, ask([user("go!"), ...tail], bound));
    expect(emulator.report().requests.at(-1)).toMatchObject({
      dropped: [idOf(output[0])],
      sent: [],
      acceptable: [],
    });
  });

  test("switch prefixBinding: refuse; prefixCovers decides about tools", async () => {
    const strict = await oneStep({ switches: { prefixBinding: "refuse" } });
    const tools = [{ type: "function", name: "look", parameters: null }];
    await expectAccepted(strict.emulator, ask(strict.input));
    await expectRefusal(
      strict.emulator,
      ask(strict.input, { tools }),
      unverified(
        "H06",
        `The encrypted content for item ${idOf(strict.output[0])} could not be verified. Reason: The reasoning item is bound to a different conversation.`,
      ),
    );
    const inputOnly = await oneStep({ switches: { prefixBinding: "refuse", prefixCovers: "input" } });
    await expectAccepted(inputOnly.emulator, ask(inputOnly.input, { tools }));
  });

  testRows([
    {
      name: "E04: another organisation",
      headers: { authorization: "Bearer sk-other" },
      broken: ({ input }) => ask(input),
      refused: ({ output }) =>
        unverified(
          "E04",
          refusedFor(
            idOf(output[0]),
            "Encrypted content organization_id did not match the target organization.",
          ),
        ),
    },
  ]);

  testPlainRows([
    [
      "E11: include on a model without it",
      { ...base, model: "emu-plain", input: "hello", reasoning: undefined },
      refusal("E11", "Encrypted content is not supported with this model.", "include"),
      { model: "emu-plain", input: "hello", store: false },
    ],
  ]);
});

describe("D. calls and outputs", () => {
  const noOutput = ({ output }: Step): Expected =>
    refusal("T01", `No tool output found for function call ${idOfCall(output[2])}.`);

  testRows([
    {
      name: "T01: a call without its output",
      broken: ({ first, output, results }) => ask([first, ...output, results[0]]),
      refused: noOutput,
    },
    {
      name: "T01: the same before the next user message",
      broken: ({ first, output, results }) => ask([first, ...output, results[0], user("more")]),
      refused: noOutput,
    },
    {
      name: "T02: an output without its call",
      broken: ({ first, results }) => ask([first, results[0]]),
      refused: ({ results }) =>
        refusal("T02", `No tool call found for function call output with call_id ${idOfCall(results[0])}.`),
    },
  ]);

  const custom = { type: "custom_tool_call", call_id: "call_1", name: "sql", input: "SELECT 1" };
  const customOutput = { type: "custom_tool_call_output", call_id: "call_1", output: "1" };
  const call = { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "call_1", output: "" };
  const pair = (id: string): Json[] => [
    { ...call, call_id: id },
    { type: "function_call_output", call_id: id, output: "" },
  ];
  const image = { type: "image_generation_call", id: "ig_1", status: "completed", result: null };

  testPlainRows([
    [
      "T01 for custom tools",
      after(custom),
      refusal("T01", "No tool output found for custom tool call call_1."),
      after(custom, customOutput),
    ],
    [
      "T02 for custom tools",
      after(customOutput),
      refusal("T02", "No tool call found for custom tool call output with call_id call_1."),
      after(custom, customOutput),
    ],
    [
      "T05: call_id longer than 64",
      after(...pair("c".repeat(116))),
      refusal(
        "T05",
        "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with length 116 instead.",
        "input[1].call_id",
        "string_above_max_length",
      ),
      after(...pair("c".repeat(64))),
    ],
    [
      "T06: call_id empty",
      after(...pair("")),
      refusal(
        "T06",
        "Invalid 'input[1].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.",
        "input[1].call_id",
        "empty_string",
      ),
    ],
    [
      "T06: call_id missing",
      after(call, { type: "function_call_output", output: "" }),
      missingAt("T06", "input[2].call_id"),
    ],
    [
      "T15: a name with other characters",
      after({ ...call, name: "functions.look" }, output),
      refusal(
        "T15",
        "Invalid 'input[1].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        "input[1].name",
        "invalid_value",
      ),
      after({ ...call, name: "functions_look" }, output),
    ],
    [
      "T15: a name with other characters in the output",
      after(call, { ...output, name: "functions.look" }),
      refusal(
        "T15",
        "Invalid 'input[2].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        "input[2].name",
        "invalid_value",
      ),
      after(call, { ...output, name: "look" }),
    ],
    [
      "T15: a name longer than 128",
      after({ ...call, name: "x".repeat(129) }, output),
      refusal(
        "T15",
        "Invalid 'input[1].name': string too long. Expected a string with maximum length 128, but got a string with length 129 instead.",
        "input[1].name",
        "string_above_max_length",
      ),
      after({ ...call, name: "x".repeat(128) }, output),
    ],
    [
      "T15: an empty name",
      after({ ...call, name: "" }, output),
      refusal(
        "T15",
        "Invalid 'input[1].name': empty string. Expected a string with minimum length 1, but got an empty string instead.",
        "input[1].name",
        "empty_string",
      ),
    ],
    [
      "T09: output missing; an empty one is fine",
      after(call, { type: "function_call_output", call_id: "call_1" }),
      missingAt("T09", "input[2].output"),
      after(...pair("call_1")),
    ],
    [
      "T14: hosted items that cannot go back",
      after(image),
      { ...refusal("T14", notPersisted("ig_1")), status: 404 },
    ],
    ["T14: output-only fields", after({ ...image, action: "generate" }), unknownAt("T14", "input[1].action")],
  ]);

  test("T10: two outputs for one call; the switch forgives", async () => {
    const twice = after(...pair("call_1"), pair("call_1")[1]);
    await expectRefusal(
      await emulatorFor(),
      twice,
      refusal("T10", "No tool call found for function call output with call_id call_1."),
    );
    await expectAccepted(await emulatorFor({ switches: { duplicateOutputs: "accept" } }), twice);
  });
});

describe("E. schema and fields", () => {
  /** The step again, with a change to its reasoning. */
  const reasoning =
    (change: (item: Json | undefined) => unknown) =>
    ({ first, output, results }: Step): Json =>
      ask([first, change(output[0]), output[1], output[2], ...results]);

  testRows([
    {
      name: "S01: summary missing",
      broken: reasoning((item) => without(item, "summary")),
      refused: missingAt("S01", "input[1].summary"),
      mended: reasoning((item) => ({ ...item, summary: [] })),
    },
    {
      name: "S02: summary null",
      broken: reasoning((item) => ({ ...item, summary: null })),
      refused: refusal(
        "S02",
        "Invalid type for 'input[1].summary': expected an array of objects, but got null instead.",
        "input[1].summary",
        "invalid_type",
      ),
      mended: reasoning((item) => ({ ...item, summary: [] })),
    },
    {
      name: "S03: status on reasoning",
      broken: reasoning((item) => ({ ...item, status: "completed" })),
      refused: unknownAt("S03", "input[1].status"),
    },
    {
      name: "S04: reasoning content; an empty one is fine",
      broken: reasoning((item) => ({ ...item, content: [{ type: "reasoning_text", text: "hm" }] })),
      refused: refusal(
        "S04",
        "Invalid 'input[1].content': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.",
        "input[1].content",
        "array_above_max_length",
      ),
      mended: reasoning((item) => ({ ...item, content: [] })),
    },
  ]);

  const tools = Array.from({ length: 142 }, (_, index) => toolNumber(index));

  testPlainRows([
    [
      "S05: assistant text as input_text",
      ask([user("a"), textPart("input_text"), user("b")]),
      refusal(
        "S05",
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
        "input[1].content[0]",
        "invalid_value",
      ),
      ask([user("a"), textPart("output_text"), user("b")]),
    ],
    [
      "S14: calls as content parts",
      ask([textPart("function_call", "user")]),
      refusal(
        "S14",
        "Invalid value: 'function_call'. Supported values are: 'input_text', 'input_image', 'output_text', 'refusal', 'input_file', 'computer_screenshot', and 'summary_text'.",
        "input[0].content[0]",
        "invalid_value",
      ),
    ],
    [
      "S07: reasoning.summary none",
      ask("hello", { reasoning: { summary: "none" } }),
      refusal(
        "S07",
        "Invalid value: 'none'. Supported values are: 'concise', 'detailed', and 'auto'.",
        "reasoning.summary",
        "invalid_value",
      ),
    ],
    [
      "S08: temperature on a reasoning model",
      ask("hello", { temperature: 0.2 }),
      refusal("S08", "Unsupported parameter: 'temperature' is not supported with this model.", "temperature"),
      { model: "emu-plain", input: "hello", temperature: 0.2 },
    ],
    [
      "S12: more than 128 tools",
      ask("hello", { tools }),
      refusal(
        "S12",
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 142 instead.",
        "tools",
        "array_above_max_length",
      ),
      ask("hello", { tools: tools.slice(0, 128) }),
    ],
    [
      "S13: tools nested under function",
      ask("hello", { tools: [{ type: "function", function: { name: "a" } }] }),
      missingAt("S13", "tools[0].name"),
    ],
  ]);
});

describe("X. requests that are invalid on their own", () => {
  testPlainRows([
    [
      "malformed JSON",
      '{"model": "emu-reasoner", ',
      refusal(
        "X-json",
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
        null,
        null,
      ),
    ],
    ["no model", { input: "hello" }, missingAt("X-missing", "model")],
    [
      "no input",
      { model: "emu-reasoner" },
      refusal(
        "X-missing",
        `One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`,
        "input",
        "missing_required_parameter",
      ),
    ],
    [
      "an unknown model",
      { model: "unknown-9", input: "hello" },
      refusal("X-model", "The requested model 'unknown-9' does not exist.", "model", "model_not_found"),
    ],
    [
      "input of a wrong type",
      { model: "emu-reasoner", input: 7 },
      refusal(
        "X-type",
        "Invalid type for 'input': expected one of an array of objects or string, but got an integer instead.",
        "input",
        "invalid_type",
      ),
    ],
    [
      "a parameter of a wrong type",
      { model: "emu-reasoner", input: "hello", max_output_tokens: "many" },
      refusal(
        "X-type",
        "Invalid type for 'max_output_tokens': expected an integer, but got a string instead.",
        "max_output_tokens",
        "invalid_type",
      ),
    ],
    [
      "an unknown parameter",
      { model: "emu-reasoner", input: "hello", messages: [] },
      unknownAt("X-unknown", "messages"),
    ],
    [
      "too few output tokens",
      { model: "emu-reasoner", input: "hello", max_output_tokens: 1 },
      refusal(
        "X-minimum",
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.",
        "max_output_tokens",
        "integer_below_min_value",
      ),
    ],
    [
      "an unknown effort",
      { model: "emu-reasoner", input: "hello", reasoning: { effort: "huge" } },
      refusal(
        "X-value",
        "Invalid value: 'huge'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'.",
        "reasoning.effort",
        "invalid_value",
      ),
    ],
    [
      "an item without a type",
      { model: "emu-reasoner", input: [{ text: "hello" }] },
      missingAt("X-missing", "input[0].type"),
    ],
    [
      "a tool with an empty name",
      { model: "emu-reasoner", input: "hello", tools: [{ type: "function", name: "" }] },
      refusal(
        "X-empty",
        "Invalid 'tools[0].name': empty string. Expected a string with minimum length 1, but got an empty string instead.",
        "tools[0].name",
        "empty_string",
      ),
    ],
    [
      "a tool with a name of odd characters",
      { model: "emu-reasoner", input: "hello", tools: [{ type: "function", name: "a b" }] },
      refusal(
        "X-pattern",
        "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        "tools[0].name",
        "invalid_value",
      ),
    ],
    [
      "an input too long for the model",
      { model: "emu-reasoner-mini", input: "word ".repeat(20_000) },
      refusal(
        "X-context",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "input",
        "context_length_exceeded",
      ),
    ],
  ]);

  test("JSON nested a million deep is refused and does not crash the emulator", async () => {
    const emulator = await emulatorFor();
    const reply = await post(emulator, "[".repeat(1_000_000) + "]".repeat(1_000_000));
    expect(reply.status).toBe(400);
    await expectAccepted(emulator, ask("hello"));
  });

  test("X-large: a body over 64 MiB is 413", async () => {
    const emulator = await emulatorFor();
    const reply = await post(emulator, `"${"x".repeat(64 * 1024 * 1024)}"`);
    expect([reply.status, errorOf(reply)["code"]]).toEqual([413, "request_too_large"]);
  });

  test("X-key, X-key-missing: a wrong key and no key are 401", async () => {
    const emulator = await emulatorFor();
    const wrong = { authorization: "Bearer sk-wrong-key-1234" };
    await expectRefusal(
      emulator,
      ask("hello"),
      {
        ...refusal(
          "X-key",
          "Incorrect API key provided: sk-wrong********1234. You can find your API key at https://platform.openai.com/account/api-keys.",
          null,
          "invalid_api_key",
        ),
        status: 401,
      },
      wrong,
    );
    const reply = await post(emulator, ask("hello"), { authorization: "" });
    expect([reply.status, String(errorOf(reply)["message"]).slice(0, 35)]).toEqual([
      401,
      "You didn't provide an API key. You ",
    ]);
    const listed = await emulatorFor({ accounts: { "sk-a": "org-one" } });
    await expectAccepted(listed, ask("hello"), { authorization: "Bearer sk-a" });
    expect((await post(listed, ask("hello"), { authorization: "Bearer sk-b" })).status).toBe(401);
  });

  test("X-route: an unknown URL is 404 in the API's shape", async () => {
    const emulator = await emulatorFor();
    const reply = await post(emulator, {}, {}, "/nothing");
    expect([reply.status, errorOf(reply)]).toEqual([
      404,
      { message: "Invalid URL (POST /v1/nothing)", type: "invalid_request_error", param: null, code: null },
    ]);
  });
});

test("parameters that codex sends beyond the documented ones are accepted", async () => {
  const emulator = await emulatorFor();
  const metadata = { "x-codex-installation-id": "3f1c", "x-codex-turn-metadata": "{}" };
  await expectAccepted(emulator, ask("hello", { client_metadata: metadata }));
});

describe("lenient mode", () => {
  test("answers where strict mode refuses, and reports what it tolerated", async () => {
    const { emulator, first, output } = await oneStep({ mode: "lenient" });
    await expectAccepted(emulator, ask([first, output[0], user("more")]));
    await expectAccepted(emulator, ask([first, output[1], user("more")]));
    const [, one, two] = emulator.report().requests;
    expect([one?.tolerated, two?.tolerated]).toEqual([["P01"], ["P02", "T01"]]);
    expect((await post(emulator, ask("hello"), { authorization: "" })).status).toBe(200);
  });

  test("ignores unknown parameters", async () => {
    const emulator = await emulatorFor({ mode: "lenient" });
    await expectAccepted(emulator, ask("hello", { surprise: 1, another: { deep: true } }));
    const [tolerating] = emulator.report().requests;
    expect(tolerating?.tolerated).toEqual(["X-unknown", "X-unknown"]);
    await expectRefusal(emulator, ask("hello", { store: "no" }), {
      rule: "X-type",
      message: "Invalid type for 'store': expected a boolean, but got a string instead.",
      param: "store",
      code: "invalid_type",
    });
  });

  test("still refuses what cannot be parsed", async () => {
    const emulator = await emulatorFor({ mode: "lenient" });
    expect((await post(emulator, { input: "hello" })).status).toBe(400);
    expect((await post(emulator, { model: "emu-reasoner", input: 7 })).status).toBe(400);
    expect((await post(emulator, "{")).status).toBe(400);
    expect((await post(emulator, { model: "unknown-1", input: "hello" })).status).toBe(400);
  });
});
