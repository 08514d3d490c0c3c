/**
 * Healing: a refusal is classified, recorded as a `replay_override`, and the next request is accepted. Later requests
 * stay clean, keep their prefix, and other origins are unaffected. Our own fold provokes none of these refusals, so a
 * server refuses as scripted.
 */

import { describe, expect, test } from "vitest";

import {
  type Answer,
  bench,
  bodies,
  completed,
  echoTool,
  fcItem,
  inputOf,
  type Json,
  lastInput,
  msgItem,
  ofType,
  outline,
  refusal,
  rsItem,
  says,
  scriptedBench,
  thought,
} from "./harness.ts";

/**
 * The first answer thinks and calls, and the call is answered; later requests are refused while `refuses` finds a
 * reason.
 */
function refusing(refuses: (input: readonly Json[], body: Json) => Answer | undefined): {
  readonly items: readonly Json[];
  answer(body: Json, request: number): Answer;
} {
  const items = [rsItem(), fcItem("a"), rsItem(), msgItem("Found.")] as const;
  return {
    items,
    answer(body, request) {
      if (request === 1) return completed([items[0], items[1]]);
      if (request === 2) return completed([items[2], items[3]]);
      return refuses(inputOf(body), body) ?? completed([rsItem(), msgItem(`Answer ${request}.`)]);
    },
  };
}

const has = (input: readonly Json[], id: unknown): boolean => input.some((item) => item["id"] === id);

const WHOLE = [
  "user",
  "reasoning+",
  "function_call+",
  "function_call_output",
  "reasoning+",
  "assistant+",
  "user",
];
const FIRST_GROUP_PLAIN = [
  "user",
  "function_call",
  "function_call_output",
  "reasoning+",
  "assistant+",
  "user",
];
const ALL_PLAIN = ["user", "function_call", "function_call_output", "assistant", "user"];

async function healed(
  refuses: (items: readonly Json[]) => (input: readonly Json[], body: Json) => Answer | undefined,
): Promise<{
  readonly outlines: readonly (readonly string[])[];
  readonly overrides: readonly unknown[];
  readonly bodies: readonly Json[];
}> {
  const items: Json[] = [];
  const server = refusing((input, body) => refuses(items)(input, body));
  items.push(...server.items);
  const b = await scriptedBench((body, request) => server.answer(body, request), { tools: [echoTool()] });
  await b.ask("Look.");
  await b.ask("Thanks.");
  await b.ask("Bye.");
  const sent = b.server.bodies;
  // Sent again after the correction, and never refused again: one request more than turns and steps.
  expect(sent).toHaveLength(5);
  expect(inputOf(sent[4]).slice(0, inputOf(sent[3]).length)).toEqual(inputOf(sent[3]));
  const log = await b.log();
  const overrides = ofType(log, "replay_override");
  expect(overrides.map(({ target }) => target)).toEqual(overrides.map(() => b.session.model.settings.target));
  expect(ofType(log, "notice").map(({ code }) => code)).toEqual(["healed"]);
  return {
    outlines: sent.slice(2, 4).map((body) => outline(inputOf(body))),
    overrides: overrides.map(({ what, action, cause }) => ({ what: what.kind, action, class: cause.class })),
    bodies: sent,
  };
}

describe("one refusal is healed by omitting what it names", () => {
  test("encrypted content, in the head of the answer", async () => {
    const result = await healed(
      (items) => (input) =>
        has(input, items[0]?.["id"])
          ? refusal(400, {
              message: `The encrypted content for item ${items[0]?.["id"] as string} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
              code: "invalid_encrypted_content",
            })
          : undefined,
    );
    expect(result.outlines).toEqual([WHOLE, FIRST_GROUP_PLAIN]);
    expect(result.overrides).toEqual([{ what: "group", action: "omit_reasoning", class: "CRYPT" }]);
  });

  test.each(["nested", "flat", "failed"])("encrypted content, inside the stream (%s)", async (shape) => {
    const result = await healed((items) => (input) => {
      if (!has(input, items[0]?.["id"])) return undefined;
      const error = {
        code: "invalid_encrypted_content",
        message: `The encrypted content for item ${items[0]?.["id"] as string} could not be verified.`,
        param: null,
      };
      const failed = { type: "response.failed", response: { status: "failed", error, output: [] } };
      const created = { type: "response.created", response: { id: "resp_x", status: "in_progress" } };
      if (shape === "failed") return { events: [created, failed] };
      return {
        events:
          shape === "flat"
            ? [created, { type: "error", ...error }]
            : [created, { type: "error", error }, failed],
      };
    });
    expect(result.outlines).toEqual([WHOLE, FIRST_GROUP_PLAIN]);
    expect(result.overrides).toEqual([{ what: "group", action: "omit_reasoning", class: "CRYPT" }]);
  });

  test("encrypted content without an id: everything opaque is omitted", async () => {
    const result = await healed(
      (items) => (input) =>
        has(input, items[0]?.["id"]) || has(input, items[2]?.["id"])
          ? refusal(400, {
              message: "The encrypted content gAAA...DQ== could not be verified.",
              code: "invalid_encrypted_content",
            })
          : undefined,
    );
    expect(result.outlines).toEqual([WHOLE, ALL_PLAIN]);
    expect(result.overrides).toEqual([{ what: "all", action: "omit_reasoning", class: "CRYPT" }]);
  });

  test("a thought bound to another conversation: it and all later ones are omitted, earlier ones stay", async () => {
    const result = await healed(
      (items) => (input) =>
        has(input, items[2]?.["id"])
          ? refusal(400, {
              message: `The encrypted content for item ${items[2]?.["id"] as string} could not be verified. Reason: The reasoning item is bound to a different conversation.`,
              code: "invalid_encrypted_content",
            })
          : undefined,
    );
    expect(result.outlines).toEqual([
      WHOLE,
      ["user", "reasoning+", "function_call+", "function_call_output", "assistant", "user"],
    ]);
    expect(result.overrides).toEqual([{ what: "group", action: "omit_reasoning", class: "PREFIX" }]);
  });

  test("calls without the signature of their model", async () => {
    const result = await healed(
      () => (input) =>
        input.some((item) => item["type"] === "function_call")
          ? refusal(400, {
              message:
                "Function call is missing a thought_signature in functionCall parts. Additional data, function call `default_api:look_up` , position 2.",
            })
          : undefined,
    );
    expect(result.outlines).toEqual([WHOLE, ["user", "reasoning+", "assistant+", "user"]]);
    expect(result.overrides).toEqual([{ what: "call", action: "close_call", class: "UNSIGNED" }]);
  });

  test.each([
    "No tool output found for shell call ID.",
    "No tool call found for shell call output with call_id ID.",
  ])("a call that the provider knows by its own id: its answer goes as plain meaning: %s", async (words) => {
    const result = await healed((items) => (input) => {
      const id = String(items[1]?.["id"]);
      return has(input, id) ? refusal(400, { message: words.replace("ID", id), param: "input" }) : undefined;
    });
    expect(result.outlines).toEqual([WHOLE, FIRST_GROUP_PLAIN]);
    expect(result.overrides).toEqual([{ what: "group", action: "translate", class: "TOOLPAIR" }]);
  });

  test("pairing", async () => {
    const result = await healed(
      (items) => (input) =>
        has(input, items[1]?.["id"])
          ? refusal(400, {
              message: `Item '${items[1]?.["id"] as string}' of type 'function_call' was provided without its required 'reasoning' item: '${items[0]?.["id"] as string}'.`,
              param: "input",
            })
          : undefined,
    );
    expect(result.outlines).toEqual([WHOLE, FIRST_GROUP_PLAIN]);
    expect(result.overrides).toEqual([{ what: "group", action: "omit_reasoning", class: "PAIR" }]);
  });

  test("an item that no longer exists", async () => {
    const result = await healed(
      (items) => (input) =>
        has(input, items[0]?.["id"])
          ? refusal(404, {
              message: `Item with id '${items[0]?.["id"] as string}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
              param: "input",
            })
          : undefined,
    );
    expect(result.overrides).toEqual([{ what: "group", action: "omit_reasoning", class: "GONE" }]);
  });

  test("an id that is named by its position", async () => {
    const result = await healed(
      (items) => (input) =>
        has(input, items[1]?.["id"])
          ? refusal(400, {
              message: `Invalid 'input[2].id': '${items[1]?.["id"] as string}'. Expected an ID that begins with 'fcall'.`,
              param: "input[2].id",
              code: "invalid_id_prefix",
            })
          : undefined,
    );
    expect(result.outlines).toEqual([WHOLE, FIRST_GROUP_PLAIN]);
    expect(result.overrides).toEqual([{ what: "group", action: "omit_reasoning", class: "ID" }]);
  });

  test("an id that is reported as a duplicate", async () => {
    const result = await healed(
      (items) => (input) =>
        has(input, items[0]?.["id"])
          ? refusal(400, {
              message: `Duplicate item found with id ${items[0]?.["id"] as string}. Remove duplicate items from your input and try again.`,
              param: "input",
            })
          : undefined,
    );
    expect(result.overrides).toEqual([{ what: "group", action: "omit_reasoning", class: "ID" }]);
  });

  test("a field of an item", async () => {
    const result = await healed(() => (input) => {
      const at = input.findIndex((item) => item["type"] === "function_call" && "status" in item);
      return at === -1
        ? undefined
        : refusal(400, {
            message: `Unknown parameter: 'input[${at}].status'.`,
            param: `input[${at}].status`,
            code: "unknown_parameter",
          });
    });
    expect(result.outlines).toEqual([WHOLE, WHOLE]); // only the field is omitted
    expect(result.overrides).toEqual([{ what: "field", action: "strip_field", class: "SCHEMA" }]);
  });

  test("a field of the request", async () => {
    const result = await healed(
      () => (_, body) =>
        "prompt_cache_key" in body
          ? refusal(400, {
              message: "Unknown parameter: 'prompt_cache_key'.",
              param: "prompt_cache_key",
              code: "unknown_parameter",
            })
          : undefined,
    );
    expect(result.outlines).toEqual([WHOLE, WHOLE]);
    expect(result.bodies.map((body) => "prompt_cache_key" in body)).toEqual([true, true, true, false, false]);
  });

  test("a call without an output, as the server sees it", async () => {
    const result = await healed(
      (items) => (input) =>
        input.some((item) => item["call_id"] === items[1]?.["call_id"])
          ? refusal(400, {
              message: `No tool output found for function call ${items[1]?.["call_id"] as string}.`,
              param: "input",
            })
          : undefined,
    );
    expect(result.outlines).toEqual([WHOLE, ["user", "reasoning+", "assistant+", "user"]]);
    expect(result.overrides).toEqual([{ what: "call", action: "close_call", class: "TOOLPAIR" }]);
  });

  test("a model that accepts no reasoning", async () => {
    let plain = true;
    const result = await healed(() => (input) => {
      if (plain && input.some((item) => item["type"] === "reasoning")) {
        plain = false;
        return refusal(400, {
          message: "Reasoning input items can only be provided to a reasoning or computer use model.",
          param: "input",
        });
      }
      return undefined;
    });
    expect(result.outlines).toEqual([WHOLE, ALL_PLAIN]);
    expect(result.overrides).toEqual([{ what: "all", action: "omit_reasoning", class: "CAP" }]);
  });
});

test("a call whose arguments are not JSON is omitted from a request that is refused for them", async () => {
  const broken = { ...fcItem("a"), arguments: '{"q": ' };
  const b = await scriptedBench(
    (body, request) => {
      if (request === 1) return completed([rsItem(), broken]);
      return inputOf(body).some((item) => item["type"] === "function_call")
        ? refusal(400, {
            message:
              '<400> InternalError.Algo.InvalidParameter: The "function.arguments" parameter of the code model must be in JSON format.',
            code: "invalid_parameter_error",
          })
        : completed([msgItem("Fine.")]);
    },
    { tools: [echoTool()] },
  );
  await b.ask("Look.");
  await b.ask("Thanks.");
  expect(b.server.bodies).toHaveLength(4);
  expect(ofType(await b.log(), "replay_override")).toMatchObject([{ action: "close_call" }]);
});

const crypt = (message: string): Answer => refusal(400, { message, code: "invalid_encrypted_content" });

describe("the ladder", () => {
  test("ends with the original error if nothing helps", async () => {
    const server = refusing(() => undefined);
    const [first, , second] = server.items.map((item) => String(item["id"]));
    const b = await scriptedBench(
      (body, request) => {
        if (request === 3) return crypt(`The encrypted content for item ${first} could not be verified.`);
        if (request === 4) return crypt(`The encrypted content for item ${second} could not be verified.`);
        if (request > 4)
          return crypt(`The encrypted content is wrong, request ${request}, could not be verified.`);
        return server.answer(body, request);
      },
      { tools: [echoTool()] },
    );
    await b.ask("Look.");
    const result = await b.say("Thanks.");
    expect(result).toMatchObject({
      status: "failed",
      error: { class: "CRYPT", message: `The encrypted content for item ${first} could not be verified.` },
    });
    expect(b.server.bodies.slice(2).map((body) => outline(inputOf(body)))).toEqual([
      WHOLE,
      FIRST_GROUP_PLAIN,
      ALL_PLAIN,
    ]);
    expect(b.clock.slept).toEqual([]);
  });

  test("escalates from the named item to everything", async () => {
    const server = refusing(() => undefined);
    const named = String(server.items[0]?.["id"]);
    const b = await scriptedBench(
      (body, request) => {
        const carries = inputOf(body).some((item) => item["type"] === "reasoning");
        if (request === 3) return crypt(`The encrypted content for item ${named} could not be verified.`);
        if (request > 3 && carries) return crypt("The encrypted content gAAA...DQ== could not be verified.");
        return request > 3 ? completed([msgItem("Fine.")]) : server.answer(body, request);
      },
      { tools: [echoTool()] },
    );
    await b.ask("Look.");
    await b.ask("Thanks.");
    expect(ofType(await b.log(), "replay_override").map(({ what }) => what.kind)).toEqual(["group", "all"]);
    expect(outline(inputOf(b.server.bodies.at(-1)))).toEqual(ALL_PLAIN);
  });

  test.each([
    "Image input is not supported for this model.",
    "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches '^[a-zA-Z0-9_-]+$'.",
    "Missing required parameter: 'tools[0].name'.",
    "Invalid 'input[0].content[0].image_url'. Expected a base64-encoded data URL.",
  ])("is not climbed if the thoughts are not at fault: %s", async (message) => {
    const server = refusing(() => refusal(400, { message }));
    const b = await scriptedBench((body, request) => server.answer(body, request), { tools: [echoTool()] });
    await b.ask("Look.");
    expect(await b.say("Thanks.")).toMatchObject({ status: "failed", error: { message } });
    expect(ofType(await b.log(), "replay_override")).toEqual([]);
    expect(b.server.bodies).toHaveLength(3);
  });

  test("is not climbed for an outage, and an outage after it is reported as one", async () => {
    const server = refusing(() => undefined);
    const b = await scriptedBench(
      (body, request) => {
        if (request === 3) return crypt("The encrypted content gAAA...DQ== could not be verified.");
        if (request > 3) return refusal(503, { message: "overloaded", code: "server_is_overloaded" });
        return server.answer(body, request);
      },
      { tools: [echoTool()] },
    );
    await b.ask("Look.");
    expect(await b.say("Thanks.")).toMatchObject({
      status: "failed",
      error: { code: "server_is_overloaded", class: "RATE" },
    });
    expect(ofType(await b.log(), "replay_override")).toHaveLength(1);
    expect(b.clock.slept).toHaveLength(3);
  });

  test.each([
    ["a wrong key", 401, "invalid_api_key"],
    ["a spent quota", 429, "insufficient_quota"],
    ["an unknown model", 404, "model_not_found"],
    ["an unknown error", 400, "brand_new_code"],
  ])("is not climbed for %s: nothing is corrected, nothing is retried", async (_, status, code) => {
    const server = refusing(() => undefined);
    const b = await scriptedBench(
      (body, request) =>
        request > 2 ? refusal(status, { message: "no", code }) : server.answer(body, request),
      { tools: [echoTool()] },
    );
    await b.ask("Look.");
    expect(await b.say("Thanks.")).toMatchObject({ status: "failed", error: { code, status } });
    expect(ofType(await b.log(), "replay_override")).toEqual([]);
    expect(b.server.bodies).toHaveLength(3);
  });
});

describe("a correction applies to the origin that refused", () => {
  test("another model keeps its thoughts, and so does this one under another key", async () => {
    const b = await bench({
      steps: [{ output: [thought(), says("One.")] }, { output: [thought(), says("Two.")] }],
    });
    const other = b.model("emu-reasoner-mini");
    await b.ask("First.");
    await b.session.setModel(other);
    await b.ask("Second.");
    await b.session.setModel(b.model());
    b.emulator.addFaults({ type: "invalid-encrypted-content" });
    await b.ask("Third."); // refused and healed: the first thought is omitted from here on
    expect(outline(lastInput(b.emulator)).slice(0, 4)).toEqual(["user", "assistant", "user", "assistant"]);
    await b.session.setModel(other);
    await b.ask("Fourth.");
    expect(outline(lastInput(b.emulator)).slice(0, 5)).toEqual([
      "user",
      "assistant",
      "user",
      "reasoning+",
      "assistant+",
    ]);
    expect(b.emulator.report().requests.filter((one) => one.verdict === "refused")).toEqual([]);
  });

  test("even if it omitted everything", async () => {
    const b = await scriptedBench((body, request) => {
      const carries = inputOf(body).some((item) => item["type"] === "reasoning");
      return body["model"] === "first" && carries && request > 2
        ? crypt("The encrypted content gAAA...DQ== could not be verified.")
        : completed([rsItem(), msgItem(`Answer ${request}.`)]);
    });
    await b.session.setModel(b.model("first"));
    await b.ask("One.");
    await b.session.setModel(b.model("second"));
    await b.ask("Two.");
    await b.session.setModel(b.model("first"));
    await b.ask("Three.");
    await b.session.setModel(b.model("second"));
    await b.ask("Four.");
    expect(ofType(await b.log(), "replay_override").map(({ what }) => what)).toEqual([{ kind: "all" }]);
    expect(outline(inputOf(b.server.bodies.at(-1)))).toEqual([
      "user",
      "assistant",
      "user",
      "reasoning+",
      "assistant+",
      "user",
      "assistant",
      "user",
    ]);
  });

  test("and holds after a restart, because it is in the log", async () => {
    const b = await bench({ steps: [{ output: [thought(), says("One.")] }] });
    await b.ask("First.");
    b.emulator.rotateKey();
    await b.ask("Second.");
    await b.reopen();
    await b.ask("Third.");
    const { requests } = b.emulator.report();
    expect(requests.map((one) => one.verdict)).toEqual(["accepted", "refused", "accepted", "accepted"]);
    // A healed prefix does not change again: the last request begins with the one before it.
    const [, , before = {}, after = {}] = bodies(b.emulator);
    expect(inputOf(after).slice(0, inputOf(before).length)).toEqual(inputOf(before));
  });
});
