/**
 * Every refusal: status, code, param and the exact message; and beside it the request that is right and passes.
 * A row of docs/emulator.md without a test here is a bug of this file.
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

/** One tool step: what was sent, what came, and the request that goes on properly. */
async function oneStep(options: EmulatorOptions = {}, script = calls) {
  const emulator = await scripted(script, options);
  const first = user("go");
  const reply = await post(emulator, { ...base, input: [first] });
  expect(reply.status).toBe(200);
  const output = outputOf(reply);
  const results = output.filter((item) => item["type"] === "function_call").map((call) => result(call));
  return { emulator, first, output, results, input: [first, ...output, ...results] };
}

const ask = (input: unknown, more: Json = {}): Json => ({ ...base, input, ...more });
const idOf = (item: Json | undefined): string => String(item?.["id"]);

const notPersisted = (id: string): string =>
  `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;

const refusedFor = (id: string, reason: string): string =>
  `The encrypted content for item ${id} could not be verified. Reason: ${reason}`;

const textPart = (type: string, role = "assistant"): Json => ({ role, content: [{ type, text: "x" }] });

const toolNumber = (index: number): Json => ({
  type: "function",
  name: `t${index}`,
  parameters: {},
  strict: false,
});

describe("A. pairing and ordering", () => {
  test("a whole group comes back and is accepted", async () => {
    const { emulator, input } = await oneStep();
    await expectAccepted(emulator, ask(input));
  });

  test("P01: reasoning at the end, or before the next user message", async () => {
    const { emulator, first, output } = await oneStep();
    const expected = {
      rule: "P01",
      message: `Item '${idOf(output[0])}' of type 'reasoning' was provided without its required following item.`,
      param: "input",
      code: null,
    };
    await expectRefusal(emulator, ask([first, output[0]]), expected);
    await expectRefusal(emulator, ask([first, output[0], user("and now?")]), expected);
  });

  test("P02: a call with its id, without its reasoning; without its id it passes", async () => {
    const { emulator, first, output, results } = await oneStep();
    await expectRefusal(emulator, ask([first, output[1], without(output[2], "id"), ...results]), {
      rule: "P02",
      message: `Item '${idOf(output[1])}' of type 'function_call' was provided without its required 'reasoning' item: '${idOf(output[0])}'.`,
      param: "input",
      code: null,
    });
    const bare = [without(output[1], "id"), without(output[2], "id")];
    await expectAccepted(emulator, ask([first, ...bare, ...results]));
  });

  test("P03: a message with its id, without its reasoning", async () => {
    const { emulator, input } = await oneStep();
    const done = outputOf({ json: await expectAccepted(emulator, ask(input)) });
    await expectRefusal(emulator, ask([...input, done[1], user("more")]), {
      rule: "P03",
      message: `Item '${idOf(done[1])}' of type 'message' was provided without its required 'reasoning' item: '${idOf(done[0])}'.`,
      param: "input",
      code: null,
    });
    await expectAccepted(emulator, ask([...input, without(done[1], "id"), user("more")]));
    await expectAccepted(emulator, ask([...input, ...done, user("more")]));
  });

  test("P04: hosted calls belong to the group as well", async () => {
    const { emulator, first, output } = await oneStep(
      {},
      `
steps:
  - output: [{reasoning: "**Search**"}, {web_search_call: news}, {reasoning: []}, {message: Found it.}]
`,
    );
    await expectRefusal(emulator, ask([first, output[1], without(output[3], "id"), user("more")]), {
      rule: "P04",
      message: `Item '${idOf(output[1])}' of type 'web_search_call' was provided without its required 'reasoning' item: '${idOf(output[0])}'.`,
      param: "input",
      code: null,
    });
    await expectAccepted(emulator, ask([first, ...output, user("more")]));
  });

  test("P05: the reasoning is there but its id was taken off", async () => {
    const { emulator, first, output, results } = await oneStep();
    const input = [first, without(output[0], "id"), output[1], output[2], ...results];
    await expectRefusal(emulator, ask(input), {
      rule: "P05",
      message: `Item '${idOf(output[1])}' of type 'function_call' was provided without its required 'reasoning' item: '${idOf(output[0])}'.`,
      param: "input",
      code: null,
    });
    const bare = output.map((item) => without(item, "id"));
    await expectAccepted(emulator, ask([first, ...bare, ...results]));
  });

  test("P06: store:true wants the follower's id as well; store:false does not", async () => {
    const { emulator, first, output, results } = await oneStep();
    const input = [first, output[0], without(output[1], "id"), without(output[2], "id"), ...results];
    await expectRefusal(emulator, ask(input, { store: true }), {
      rule: "P06",
      message: `Item '${idOf(output[0])}' of type 'reasoning' was provided without its required following item.`,
      param: "input",
      code: null,
    });
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

  test("P07: two reasoning items collapsed into one", async () => {
    const { emulator, first, output, results } = await oneStep(
      {},
      `
steps:
  - output: [{reasoning: "**One**"}, {reasoning: "**Two**"}, {function_call: {name: look}}]
`,
    );
    await expectRefusal(emulator, ask([first, output[0], output[2], ...results]), {
      rule: "P02",
      message: `Item '${idOf(output[2])}' of type 'function_call' was provided without its required 'reasoning' item: '${idOf(output[1])}'.`,
      param: "input",
      code: null,
    });
    await expectAccepted(emulator, ask([first, ...output, ...results]));
  });

  test("P09: items regrouped by type", async () => {
    const { emulator, first, output, results } = await oneStep({}, interleaved);
    const regrouped = [output[0], output[2], output[1], output[3]];
    await expectRefusal(emulator, ask([first, ...regrouped, ...results]), {
      rule: "P09",
      message: `Item '${idOf(output[2])}' of type 'reasoning' was provided without its required following item.`,
      param: "input",
      code: null,
    });
    await expectAccepted(emulator, ask([first, ...output, ...results]));
  });

  test("P10: a foreign item between reasoning and its follower", async () => {
    const { emulator, first, output, results } = await oneStep();
    const input = [first, output[0], user("wait"), output[1], output[2], ...results];
    await expectRefusal(emulator, ask(input), {
      rule: "P10",
      message: `Item '${idOf(output[0])}' of type 'reasoning' was provided without its required following item.`,
      param: "input",
      code: null,
    });
    await expectAccepted(emulator, ask([first, ...output, ...results, user("wait")]));
  });

  test("P11: reasoning without a summary is not nothing", async () => {
    const { emulator, input } = await oneStep();
    const done = outputOf({ json: await expectAccepted(emulator, ask(input)) });
    expect(done[0]?.["summary"]).toEqual([]);
    await expectRefusal(emulator, ask([...input, done[1], user("more")]), {
      rule: "P03",
      message: `Item '${idOf(done[1])}' of type 'message' was provided without its required 'reasoning' item: '${idOf(done[0])}'.`,
      param: "input",
      code: null,
    });
  });

  test("P12, P13: the calls were dropped, their reasoning was left", async () => {
    const { emulator, first, output } = await oneStep();
    const other = { role: "assistant", content: "I did something." };
    await expectRefusal(emulator, ask([first, output[0], other, user("more")]), {
      rule: "P01",
      message: `Item '${idOf(output[0])}' of type 'reasoning' was provided without its required following item.`,
      param: "input",
      code: null,
    });
    await expectAccepted(emulator, ask([first, other, user("more")]));
  });

  test("P14: reasoning sent to a model that does not reason", async () => {
    const { emulator, first, output, results } = await oneStep();
    const plain = { model: "emu-plain", store: false };
    await expectRefusal(
      emulator,
      { ...plain, input: [first, ...output, ...results] },
      {
        rule: "P14",
        message: "Reasoning input items can only be provided to a reasoning or computer use model.",
        param: "input",
        code: null,
      },
    );
    const bare = output.slice(1).map((item) => without(item, "id"));
    await expectAccepted(emulator, { ...plain, input: [first, ...bare, ...results] });
  });

  test("switch consecutiveReasoning: rs, rs, fc", async () => {
    const script = "steps: [{output: [{reasoning: a}, {reasoning: b}, {function_call: {name: look}}]}]";
    const strict = await oneStep({ switches: { consecutiveReasoning: "refuse" } }, script);
    await expectRefusal(strict.emulator, ask(strict.input), {
      rule: "P01",
      message: `Item '${idOf(strict.output[0])}' of type 'reasoning' was provided without its required following item.`,
      param: "input",
      code: null,
    });
  });

  test("switch requiredReasoning: nearest-run forgives a missing earlier run", async () => {
    const near = await oneStep({ switches: { requiredReasoning: "nearest-run" } }, interleaved);
    const cut = [without(near.output[1], "id"), near.output[2], near.output[3]];
    await expectAccepted(near.emulator, ask([near.first, ...cut, ...near.results]));
    const all = await oneStep({}, interleaved);
    const same = [without(all.output[1], "id"), all.output[2], all.output[3]];
    await expectRefusal(all.emulator, ask([all.first, ...same, ...all.results]), {
      rule: "P02",
      message: `Item '${idOf(all.output[3])}' of type 'function_call' was provided without its required 'reasoning' item: '${idOf(all.output[0])}'.`,
      param: "input",
      code: null,
    });
  });

  test("switch followerText: any takes an edited message after reasoning", async () => {
    const script = "steps: [{output: [{reasoning: a}, {message: One.}]}]";
    const edited = { role: "assistant", content: "Two." };
    const exact = await oneStep({}, script);
    await expectRefusal(exact.emulator, ask([exact.first, exact.output[0], edited, user("more")]), {
      rule: "P01",
      message: `Item '${idOf(exact.output[0])}' of type 'reasoning' was provided without its required following item.`,
      param: "input",
      code: null,
    });
    const any = await oneStep({ switches: { followerText: "any" } }, script);
    await expectAccepted(any.emulator, ask([any.first, any.output[0], edited, user("more")]));
  });
});

describe("B. ids and store", () => {
  test("I01: a reasoning id without its ciphertext is 404, not 400", async () => {
    const { emulator, first, output, results } = await oneStep();
    for (const bare of [without(output[0], "encrypted_content"), { ...output[0], encrypted_content: null }]) {
      await expectRefusal(emulator, ask([first, bare, output[1], output[2], ...results]), {
        rule: "I01",
        status: 404,
        message: notPersisted(idOf(output[0])),
        param: "input",
        code: null,
      });
    }
  });

  test("switch bareReasoningId: accept", async () => {
    const { emulator, first, output, results } = await oneStep({ switches: { bareReasoningId: "accept" } });
    const bare = without(output[0], "encrypted_content");
    await expectAccepted(emulator, ask([first, bare, output[1], output[2], ...results]));
  });

  test("switch nullCiphertext: refuse-type", async () => {
    const { emulator, first, output, results } = await oneStep({
      switches: { nullCiphertext: "refuse-type" },
    });
    const bare = { ...output[0], encrypted_content: null };
    await expectRefusal(emulator, ask([first, bare, output[1], output[2], ...results]), {
      rule: "X-type",
      message: "Invalid type for 'input[1].encrypted_content': expected a string, but got null instead.",
      param: "input[1].encrypted_content",
      code: "invalid_type",
    });
  });

  test("I02: item_reference to something that is not stored", async () => {
    const { emulator, first, output } = await oneStep();
    const reference = { type: "item_reference", id: idOf(output[1]) };
    await expectRefusal(emulator, ask([first, reference]), {
      rule: "I02",
      status: 404,
      message: notPersisted(idOf(output[1])),
      param: "input",
      code: null,
    });
    const zdr = await oneStep({ switches: { zeroDataRetention: true } });
    await expectRefusal(zdr.emulator, ask([first, { type: "item_reference", id: idOf(zdr.output[1]) }]), {
      rule: "I02",
      status: 404,
      message: `Item with id '${idOf(zdr.output[1])}' not found. Items are not persisted for Zero Data Retention organizations.`,
      param: "input",
      code: null,
    });
  });

  test("an id that was never issued", async () => {
    const { emulator, first, output } = await oneStep();
    const forged = { type: "message", role: "assistant", id: "msg_123abc", content: [] };
    await expectRefusal(emulator, ask([first, forged, user("more")]), {
      rule: "X-unknown-id",
      status: 404,
      message: notPersisted("msg_123abc"),
      param: "input",
      code: null,
    });
    const flipped = idOf(output[1]).replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    await expectRefusal(emulator, ask([first, { ...output[1], id: flipped }, result(output[1])]), {
      rule: "X-unknown-id",
      status: 404,
      message: notPersisted(flipped),
      param: "input",
      code: null,
    });
    await expectRefusal(emulator, ask([first, forged, user("more")], { store: true }), {
      rule: "X-unknown-id",
      status: 404,
      message: "Item with id 'msg_123abc' not found.",
      param: "input",
      code: null,
    });
    const tolerant = await emulatorFor({ switches: { unknownItemIds: "accept" } });
    await expectAccepted(tolerant, ask([first, forged, user("more")]));
  });

  test("I04: the same item twice", async () => {
    const { emulator, first, output, results } = await oneStep();
    await expectRefusal(emulator, ask([first, output[0], output[0], output[1], output[2], ...results]), {
      rule: "I04",
      message: `Duplicate item found with id ${idOf(output[0])}. Remove duplicate items from your input and try again.`,
      param: "input",
      code: null,
    });
  });

  test("I05: an id longer than 64", async () => {
    const { emulator, first, output, results } = await oneStep();
    const long = { ...output[1], id: `fc_${"x".repeat(413)}` };
    await expectRefusal(emulator, ask([first, output[0], long, output[2], ...results]), {
      rule: "I05",
      message:
        "Invalid 'input[2].id': string too long. Expected a string with maximum length 64, but got a string with length 416 instead.",
      param: "input[2].id",
      code: "string_above_max_length",
    });
  });

  test("I06: the prefix of another type", async () => {
    const { emulator, first, output, results } = await oneStep();
    const wrong = { ...output[1], id: "call_abc" };
    await expectRefusal(emulator, ask([first, output[0], wrong, output[2], ...results]), {
      rule: "I06",
      message: "Invalid 'input[2].id': 'call_abc'. Expected an ID that begins with 'fc'.",
      param: "input[2].id",
      code: "invalid_id_prefix",
    });
  });

  test("I07: an empty id", async () => {
    const { emulator, first, output, results } = await oneStep();
    const empty = { ...output[1], id: "" };
    await expectRefusal(emulator, ask([first, output[0], empty, output[2], ...results]), {
      rule: "I07",
      message:
        "Invalid 'input[2].id': ''. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.",
      param: "input[2].id",
      code: "invalid_value",
    });
  });

  test("I09, switch reasoningWithoutId: refuse", async () => {
    const { emulator, first, output, results } = await oneStep({
      switches: { reasoningWithoutId: "refuse" },
    });
    const bare = output.map((item) => without(item, "id"));
    await expectRefusal(emulator, ask([first, ...bare, ...results]), {
      rule: "I09",
      message: "Missing required parameter: 'input[1].id'.",
      param: "input[1].id",
      code: "missing_required_parameter",
    });
  });

  test("I10: previous_response_id of a response that was not stored", async () => {
    const { emulator } = await oneStep();
    await expectRefusal(emulator, ask([user("more")], { previous_response_id: "resp_nothing" }), {
      rule: "I10",
      message: "Previous response with id 'resp_nothing' not found.",
      param: "previous_response_id",
      code: "previous_response_not_found",
    });
    const zdr = await emulatorFor({ switches: { zeroDataRetention: true } });
    await expectRefusal(zdr, ask([user("more")], { previous_response_id: "resp_nothing" }), {
      rule: "I10",
      message: "Previous response cannot be used for this organization due to Zero Data Retention.",
      param: "previous_response_id",
      code: "unsupported_parameter",
    });
  });
});

describe("C. encrypted content", () => {
  const unreadable = "Encrypted content could not be decrypted or parsed.";

  test("E01: the key was rotated", async () => {
    const { emulator, input, output } = await oneStep();
    await expectAccepted(emulator, ask(input));
    emulator.rotateKey();
    const blob = String(output[0]?.["encrypted_content"]);
    await expectRefusal(emulator, ask(input), {
      rule: "E01",
      message: `The encrypted content ${blob.slice(0, 4)}...${blob.slice(-4)} could not be verified.`,
      param: null,
      code: "invalid_encrypted_content",
    });
  });

  test("E02: changed, foreign, or plain text in the field", async () => {
    const { emulator, first, output, results } = await oneStep();
    const blob = String(output[0]?.["encrypted_content"]);
    const flipped = blob.slice(0, 40) + (blob[40] === "A" ? "B" : "A") + blob.slice(41);
    for (const bad of [flipped, blob + blob, "Work it out.", "gAAAAABforeign", ""]) {
      await expectRefusal(
        emulator,
        ask([first, { ...output[0], encrypted_content: bad }, output[1], output[2], ...results]),
        {
          rule: "E02",
          message: refusedFor(idOf(output[0]), unreadable),
          param: null,
          code: "invalid_encrypted_content",
        },
      );
    }
    const bare = [{ ...without(output[0], "id"), encrypted_content: "Work it out." }, ...output.slice(1)];
    await expectRefusal(emulator, ask([first, ...bare.map((item) => without(item, "id")), ...results]), {
      rule: "E02",
      message: `The encrypted content Work...out. could not be verified. Reason: ${unreadable}`,
      param: null,
      code: "invalid_encrypted_content",
    });
  });

  test("E03: another id than the one it was made for", async () => {
    const { emulator, input, output } = await oneStep();
    const second = outputOf({ json: await expectAccepted(emulator, ask(input)) });
    const swapped = { ...second[0], id: idOf(output[0]) };
    await expectRefusal(emulator, ask([input[0], swapped, ...input.slice(2)]), {
      rule: "E03",
      message: refusedFor(idOf(output[0]), "Encrypted content item_id did not match the target item id."),
      param: null,
      code: "invalid_encrypted_content",
    });
  });

  test("E04: another organisation", async () => {
    const { emulator, input, output } = await oneStep();
    await expectRefusal(
      emulator,
      ask(input),
      {
        rule: "E04",
        message: refusedFor(
          idOf(output[0]),
          "Encrypted content organization_id did not match the target organization.",
        ),
        param: null,
        code: "invalid_encrypted_content",
      },
      { authorization: "Bearer sk-other" },
    );
  });

  test("E05: another model; the switch loosens it", async () => {
    const { emulator, input, output } = await oneStep();
    const expected = {
      rule: "E05",
      message: refusedFor(idOf(output[0]), unreadable),
      param: null,
      code: "invalid_encrypted_content",
    };
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

  test("E07: the ciphertext of output_item.added; E08: three different ones, the later two valid", async () => {
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
    await expectRefusal(emulator, ask([first, { ...done, encrypted_content: blobs[0] }, ...rest]), {
      rule: "E07",
      message: refusedFor(idOf(done), unreadable),
      param: null,
      code: "invalid_encrypted_content",
    });
    await expectAccepted(emulator, ask([first, done, ...rest]));
    await expectAccepted(emulator, ask([first, whole[0], ...rest]));
  });

  test("E11: include on a model without it", async () => {
    const emulator = await emulatorFor();
    await expectRefusal(
      emulator,
      { ...base, model: "emu-plain", input: "hello", reasoning: undefined },
      {
        rule: "E11",
        message: "Encrypted content is not supported with this model.",
        param: "include",
        code: null,
      },
    );
    await expectAccepted(emulator, { model: "emu-plain", input: "hello", store: false });
  });

  test("H06: a prefix-bound model drops in silence, and the report shows it", async () => {
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
    await expectRefusal(strict.emulator, ask(strict.input, { tools }), {
      rule: "H06",
      message: `The encrypted content for item ${idOf(strict.output[0])} could not be verified. Reason: The reasoning item is bound to a different conversation.`,
      param: null,
      code: "invalid_encrypted_content",
    });
    const inputOnly = await oneStep({ switches: { prefixBinding: "refuse", prefixCovers: "input" } });
    await expectAccepted(inputOnly.emulator, ask(inputOnly.input, { tools }));
  });
});

describe("D. calls and outputs", () => {
  test("T01: a call without its output", async () => {
    const { emulator, first, output, results } = await oneStep();
    const callId = String(output[2]?.["call_id"]);
    const expected = {
      rule: "T01",
      message: `No tool output found for function call ${callId}.`,
      param: "input",
      code: null,
    };
    await expectRefusal(emulator, ask([first, ...output, results[0]]), expected);
    await expectRefusal(emulator, ask([first, ...output, results[0], user("more")]), expected);
  });

  test("T02: an output without its call", async () => {
    const { emulator, first, results } = await oneStep();
    await expectRefusal(emulator, ask([first, results[0]]), {
      rule: "T02",
      message: `No tool call found for function call output with call_id ${String(results[0]?.["call_id"])}.`,
      param: "input",
      code: null,
    });
  });

  test("T01, T02 for custom tools", async () => {
    const emulator = await emulatorFor();
    const call = { type: "custom_tool_call", call_id: "call_1", name: "sql", input: "SELECT 1" };
    await expectRefusal(emulator, ask([user("a"), call]), {
      rule: "T01",
      message: "No tool output found for custom tool call call_1.",
      param: "input",
      code: null,
    });
    const output = { type: "custom_tool_call_output", call_id: "call_1", output: "1" };
    await expectRefusal(emulator, ask([user("a"), output]), {
      rule: "T02",
      message: "No tool call found for custom tool call output with call_id call_1.",
      param: "input",
      code: null,
    });
    await expectAccepted(emulator, ask([user("a"), call, output]));
  });

  const call = { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" };
  const pair = (id: string): Json[] => [
    { ...call, call_id: id },
    { type: "function_call_output", call_id: id, output: "" },
  ];

  test("T05: call_id longer than 64", async () => {
    const emulator = await emulatorFor();
    await expectRefusal(emulator, ask([user("a"), ...pair("c".repeat(116))]), {
      rule: "T05",
      message:
        "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with length 116 instead.",
      param: "input[1].call_id",
      code: "string_above_max_length",
    });
    await expectAccepted(emulator, ask([user("a"), ...pair("c".repeat(64))]));
  });

  test("T06: call_id empty or missing", async () => {
    const emulator = await emulatorFor();
    await expectRefusal(emulator, ask([user("a"), ...pair("")]), {
      rule: "T06",
      message:
        "Invalid 'input[1].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.",
      param: "input[1].call_id",
      code: "empty_string",
    });
    await expectRefusal(emulator, ask([user("a"), call, { type: "function_call_output", output: "" }]), {
      rule: "T06",
      message: "Missing required parameter: 'input[2].call_id'.",
      param: "input[2].call_id",
      code: "missing_required_parameter",
    });
  });

  test("T09: output missing; an empty one is fine", async () => {
    const emulator = await emulatorFor();
    await expectRefusal(
      emulator,
      ask([user("a"), call, { type: "function_call_output", call_id: "call_1" }]),
      {
        rule: "T09",
        message: "Missing required parameter: 'input[2].output'.",
        param: "input[2].output",
        code: "missing_required_parameter",
      },
    );
    await expectAccepted(emulator, ask([user("a"), ...pair("call_1")]));
  });

  test("T10: two outputs for one call; the switch forgives", async () => {
    const emulator = await emulatorFor();
    const twice = [user("a"), ...pair("call_1"), pair("call_1")[1]];
    await expectRefusal(emulator, ask(twice), {
      rule: "T10",
      message: "No tool call found for function call output with call_id call_1.",
      param: "input",
      code: null,
    });
    await expectAccepted(await emulatorFor({ switches: { duplicateOutputs: "accept" } }), ask(twice));
  });

  test("T14: hosted items that cannot come back, and output-only fields", async () => {
    const emulator = await emulatorFor();
    const image = { type: "image_generation_call", id: "ig_1", status: "completed", result: null };
    await expectRefusal(emulator, ask([user("a"), image]), {
      rule: "T14",
      status: 404,
      message:
        "Item with id 'ig_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
      param: "input",
      code: null,
    });
    await expectRefusal(emulator, ask([user("a"), { ...image, action: "generate" }]), {
      rule: "T14",
      message: "Unknown parameter: 'input[1].action'.",
      param: "input[1].action",
      code: "unknown_parameter",
    });
  });
});

describe("E. schema and fields", () => {
  test("S01: summary missing; S02: summary null", async () => {
    const { emulator, first, output, results } = await oneStep();
    const rest = [output[1], output[2], ...results];
    await expectRefusal(emulator, ask([first, without(output[0], "summary"), ...rest]), {
      rule: "S01",
      message: "Missing required parameter: 'input[1].summary'.",
      param: "input[1].summary",
      code: "missing_required_parameter",
    });
    await expectRefusal(emulator, ask([first, { ...output[0], summary: null }, ...rest]), {
      rule: "S02",
      message: "Invalid type for 'input[1].summary': expected an array of objects, but got null instead.",
      param: "input[1].summary",
      code: "invalid_type",
    });
    await expectAccepted(emulator, ask([first, { ...output[0], summary: [] }, ...rest]));
  });

  test("S03: status on reasoning", async () => {
    const { emulator, first, output, results } = await oneStep();
    const input = [first, { ...output[0], status: "completed" }, output[1], output[2], ...results];
    await expectRefusal(emulator, ask(input), {
      rule: "S03",
      message: "Unknown parameter: 'input[1].status'.",
      param: "input[1].status",
      code: "unknown_parameter",
    });
  });

  test("S04: reasoning content; an empty one is fine", async () => {
    const { emulator, first, output, results } = await oneStep();
    const rest = [output[1], output[2], ...results];
    const content = [{ type: "reasoning_text", text: "hm" }];
    await expectRefusal(emulator, ask([first, { ...output[0], content }, ...rest]), {
      rule: "S04",
      message:
        "Invalid 'input[1].content': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.",
      param: "input[1].content",
      code: "array_above_max_length",
    });
    await expectAccepted(emulator, ask([first, { ...output[0], content: [] }, ...rest]));
  });

  test("S05: assistant text as input_text; S14: calls as content parts", async () => {
    const emulator = await emulatorFor();
    await expectRefusal(emulator, ask([user("a"), textPart("input_text"), user("b")]), {
      rule: "S05",
      message: "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
      param: "input[1].content[0]",
      code: "invalid_value",
    });
    await expectRefusal(emulator, ask([textPart("function_call", "user")]), {
      rule: "S14",
      message:
        "Invalid value: 'function_call'. Supported values are: 'input_text', 'input_image', 'output_text', 'refusal', 'input_file', 'computer_screenshot', and 'summary_text'.",
      param: "input[0].content[0]",
      code: "invalid_value",
    });
    await expectAccepted(emulator, ask([user("a"), textPart("output_text"), user("b")]));
  });

  test("S07: reasoning.summary none", async () => {
    const emulator = await emulatorFor();
    await expectRefusal(emulator, ask("hello", { reasoning: { summary: "none" } }), {
      rule: "S07",
      message: "Invalid value: 'none'. Supported values are: 'concise', 'detailed', and 'auto'.",
      param: "reasoning.summary",
      code: "invalid_value",
    });
  });

  test("S08: temperature on a reasoning model", async () => {
    const emulator = await emulatorFor();
    await expectRefusal(emulator, ask("hello", { temperature: 0.2 }), {
      rule: "S08",
      message: "Unsupported parameter: 'temperature' is not supported with this model.",
      param: "temperature",
      code: null,
    });
    await expectAccepted(emulator, { model: "emu-plain", input: "hello", temperature: 0.2 });
  });

  test("S12: more than 128 tools; S13: tools nested under function", async () => {
    const emulator = await emulatorFor();
    const tools = Array.from({ length: 142 }, (_, index) => toolNumber(index));
    await expectRefusal(emulator, ask("hello", { tools }), {
      rule: "S12",
      message:
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 142 instead.",
      param: "tools",
      code: "array_above_max_length",
    });
    await expectRefusal(emulator, ask("hello", { tools: [{ type: "function", function: { name: "a" } }] }), {
      rule: "S13",
      message: "Missing required parameter: 'tools[0].name'.",
      param: "tools[0].name",
      code: "missing_required_parameter",
    });
    await expectAccepted(emulator, ask("hello", { tools: tools.slice(0, 128) }));
  });
});

describe("X. requests that are wrong in themselves", () => {
  const rows: readonly (readonly [string, unknown, Expected])[] = [
    [
      "malformed JSON",
      '{"model": "emu-reasoner", ',
      {
        rule: "X-json",
        message:
          "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
        param: null,
        code: null,
      },
    ],
    [
      "no model",
      { input: "hello" },
      {
        rule: "X-missing",
        message: "Missing required parameter: 'model'.",
        param: "model",
        code: "missing_required_parameter",
      },
    ],
    [
      "no input",
      { model: "emu-reasoner" },
      {
        rule: "X-missing",
        message: `One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`,
        param: "input",
        code: "missing_required_parameter",
      },
    ],
    [
      "an unknown model",
      { model: "unknown-9", input: "hello" },
      {
        rule: "X-model",
        message: "The requested model 'unknown-9' does not exist.",
        param: "model",
        code: "model_not_found",
      },
    ],
    [
      "input of a wrong type",
      { model: "emu-reasoner", input: 7 },
      {
        rule: "X-type",
        message:
          "Invalid type for 'input': expected one of an array of objects or string, but got an integer instead.",
        param: "input",
        code: "invalid_type",
      },
    ],
    [
      "a parameter of a wrong type",
      { model: "emu-reasoner", input: "hello", max_output_tokens: "many" },
      {
        rule: "X-type",
        message: "Invalid type for 'max_output_tokens': expected an integer, but got a string instead.",
        param: "max_output_tokens",
        code: "invalid_type",
      },
    ],
    [
      "an unknown parameter",
      { model: "emu-reasoner", input: "hello", messages: [] },
      {
        rule: "X-unknown",
        message: "Unknown parameter: 'messages'.",
        param: "messages",
        code: "unknown_parameter",
      },
    ],
    [
      "too few output tokens",
      { model: "emu-reasoner", input: "hello", max_output_tokens: 1 },
      {
        rule: "X-minimum",
        message:
          "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.",
        param: "max_output_tokens",
        code: "integer_below_min_value",
      },
    ],
    [
      "an unknown effort",
      { model: "emu-reasoner", input: "hello", reasoning: { effort: "huge" } },
      {
        rule: "X-value",
        message:
          "Invalid value: 'huge'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'.",
        param: "reasoning.effort",
        code: "invalid_value",
      },
    ],
    [
      "an item without a type",
      { model: "emu-reasoner", input: [{ text: "hello" }] },
      {
        rule: "X-missing",
        message: "Missing required parameter: 'input[0].type'.",
        param: "input[0].type",
        code: "missing_required_parameter",
      },
    ],
    [
      "a tool with an empty name",
      { model: "emu-reasoner", input: "hello", tools: [{ type: "function", name: "" }] },
      {
        rule: "X-empty",
        message:
          "Invalid 'tools[0].name': empty string. Expected a string with minimum length 1, but got an empty string instead.",
        param: "tools[0].name",
        code: "empty_string",
      },
    ],
    [
      "a tool with a name of odd characters",
      { model: "emu-reasoner", input: "hello", tools: [{ type: "function", name: "a b" }] },
      {
        rule: "X-pattern",
        message:
          "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        param: "tools[0].name",
        code: "invalid_value",
      },
    ],
    [
      "an input too long for the model",
      { model: "emu-reasoner-mini", input: "word ".repeat(20_000) },
      {
        rule: "X-context",
        message:
          "Your input exceeds the context window of this model. Please adjust your input and try again.",
        param: "input",
        code: "context_length_exceeded",
      },
    ],
  ];
  test.each(rows)("%s", async (_name, body, expected) => {
    await expectRefusal(await emulatorFor(), body, expected);
  });

  test("JSON nested a million deep is refused, not a crash", async () => {
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
        rule: "X-key",
        status: 401,
        message:
          "Incorrect API key provided: sk-wrong********1234. You can find your API key at https://platform.openai.com/account/api-keys.",
        param: null,
        code: "invalid_api_key",
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

describe("lenient mode", () => {
  test("answers where strict refuses, and says what it tolerated", async () => {
    const { emulator, first, output } = await oneStep({ mode: "lenient" });
    await expectAccepted(emulator, ask([first, output[0], user("more")]));
    await expectAccepted(emulator, ask([first, output[1], user("more")]));
    const [, one, two] = emulator.report().requests;
    expect([one?.tolerated, two?.tolerated]).toEqual([["P01"], ["P02", "T01"]]);
    expect((await post(emulator, ask("hello"), { authorization: "" })).status).toBe(200);
  });

  test("still refuses what cannot be understood", async () => {
    const emulator = await emulatorFor({ mode: "lenient" });
    expect((await post(emulator, "{")).status).toBe(400);
    expect((await post(emulator, { model: "unknown-1", input: "hello" })).status).toBe(400);
  });
});
