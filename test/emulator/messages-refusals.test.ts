/**
 * Every refusal of `/v1/messages`: the request that breaks a rule, with status, type and exact text; and next to it the
 * corrected request, which passes.
 */

import { describe, expect, test } from "vitest";

import type { Emulator, EmulatorOptions } from "../../src/emulator/index.ts";
import { emulatorFor, type Json, scripted, without } from "./emulator-client.ts";
import {
  adaptive,
  ask,
  assistant,
  contentOf,
  type ExpectedRefusal,
  expectRefused,
  expectTaken,
  resultsFor,
  says,
} from "./messages-client.ts";

const beta = { "anthropic-beta": "thinking-binding-controls-2026-08-01" };
const enabled = { ...adaptive, thinking: { type: "enabled", budget_tokens: 1024 } };
const bound = { ...adaptive, model: "emu-claude-bound" };
const off = { ...adaptive, thinking: { type: "disabled" } };

/** Interleaved, with a redacted one: every way to damage an answer. */
const script = `
steps:
  - output:
      - reasoning: First I look.
      - function_call: {name: look, arguments: {at: one}}
      - reasoning: {redacted: true}
      - function_call: {name: look, arguments: {at: two}}
  - output:
      - reasoning: Now I know.
      - message: All done.
afterwards: repeat
`;

interface Step {
  readonly emulator: Emulator;
  readonly first: Json;
  readonly content: readonly Json[];
  readonly results: Json;
  readonly messages: readonly Json[];
}

async function oneStep(body: Json = adaptive, options: EmulatorOptions = {}): Promise<Step> {
  const emulator = await scripted(script, options);
  const first = says("go");
  const content = contentOf({ json: await expectTaken(emulator, { ...body, messages: [first] }) });
  const results = resultsFor(content);
  return { emulator, first, content, results, messages: [first, assistant(content), results] };
}

/** Two answers: a tool step and its end, then the user's next message. */
async function twoSteps(body: Json = adaptive, options: EmulatorOptions = {}) {
  const step = await oneStep(body, options);
  const reply = await expectTaken(step.emulator, { ...body, messages: step.messages });
  const second = contentOf({ json: reply });
  const messages = [...step.messages, assistant(second), says("and now?")];
  return { ...step, second, messages };
}

const modified = (path: string): string =>
  `${path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`;

const signature = (path: string): string => `${path}: Invalid \`signature\` in \`thinking\` block`;

const bindingText = (path: string, sentence = ""): string =>
  `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block". That setting requires the \`thinking-binding-controls-2026-08-01\` value in the \`anthropic-beta\` header.${sentence}`;

const thinkingWanted = (found: string): string =>
  `messages.1.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking`;

const dropped = (reason: string): Json[] =>
  [0, 2].map((block) => ({
    type: "thinking_dropped",
    path: `messages.1.content.${block}`,
    reason: `${reason}_binding_mismatch`,
  }));

const missing = (ids: readonly unknown[]): string =>
  `messages.1: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;

const edited = (content: readonly Json[], at: number, change: Json): readonly Json[] =>
  content.map((block, index) => (index === at ? { ...block, ...change } : block));

const isThought = (block: Json): boolean => String(block["type"]).includes("thinking");

describe("the latest answer must go back unchanged", () => {
  type Damage = (content: readonly Json[]) => readonly Json[];
  const damages: readonly (readonly [string, Damage, ExpectedRefusal])[] = [
    [
      "C01: the text of a thought",
      (content) => edited(content, 0, { thinking: "First I looked." }),
      { rule: "C01", message: modified("messages.1.content.0") },
    ],
    [
      "C01: a thought in another place",
      ([a = {}, b = {}, c = {}, d = {}]) => [a, c, b, d],
      { rule: "C11", message: modified("messages.1.content.1") },
    ],
    [
      "C01: a thought twice",
      ([a = {}, ...rest]) => [a, a, ...rest],
      { rule: "C01", message: modified("messages.1.content.1") },
    ],
    [
      "C11: redacted thinking filtered",
      (content) => content.filter((block) => block["type"] !== "redacted_thinking"),
      { rule: "C01", message: modified("messages.1.content.0") },
    ],
    [
      "C11: redacted thinking changed",
      (content) => edited(content, 2, { data: "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIw" }),
      {
        rule: "C11",
        message: "messages.1.content.2: Invalid `data` in `redacted_thinking` block",
      },
    ],
    [
      "C11: a signature as the data of redacted thinking",
      ([a = {}, b = {}, , d = {}]) => [a, b, { type: "redacted_thinking", data: a["signature"] }, d],
      {
        rule: "C11",
        message: "messages.1.content.2: Invalid `data` in `redacted_thinking` block",
      },
    ],
    [
      "C11: a signature disguised as data",
      ([a = {}, b = {}, , d = {}]) => [
        a,
        b,
        { type: "redacted_thinking", data: `Em${String(a["signature"]).slice(2)}` },
        d,
      ],
      {
        rule: "C11",
        message: "messages.1.content.2: Invalid `data` in `redacted_thinking` block",
      },
    ],
    [
      "C03: an invented signature",
      (content) => edited(content, 0, { signature: "ErUBCkYIARgCIkAHzNP5VPHaD9lNZUIAVVX0" }),
      { rule: "C03", message: signature("messages.1.content.0") },
    ],
    [
      "C03: an empty signature",
      (content) => edited(content, 0, { signature: "" }),
      { rule: "C03", message: signature("messages.1.content.0") },
    ],
    [
      "C05: thinking at the end",
      ([a = {}, ...rest]) => [a, ...rest, a],
      { rule: "C05", message: "messages.1: The final block in an assistant message cannot be `thinking`." },
    ],
    [
      "X-missing: thinking without its signature",
      (content) => [without(content[0], "signature"), ...content.slice(1)],
      { rule: "X-missing", message: "messages.1.content.0.thinking.signature: Field required" },
    ],
    [
      "X-unknown: a breakpoint on thinking",
      (content) => edited(content, 0, { cache_control: { type: "ephemeral" } }),
      {
        rule: "X-unknown",
        message: "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
      },
    ],
    [
      "C09: a foreign tool id",
      (content) => edited(content, 1, { id: "functions.look:0" }),
      {
        rule: "C09",
        message: "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
      },
    ],
    [
      "T15: a name with a dot",
      (content) => edited(content, 1, { name: "functions.look" }),
      {
        rule: "T15",
        message: "messages.1.content.1.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
      },
    ],
    [
      "T15: a name of 129 characters",
      (content) => edited(content, 1, { name: "x".repeat(129) }),
      {
        rule: "T15",
        message: "messages.1.content.1.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
      },
    ],
    [
      "T15: a whole command as a name",
      (content) => edited(content, 1, { name: "ls -l ".repeat(40) }),
      {
        rule: "T15",
        message: "messages.1.content.1.tool_use.name: String should have at most 200 characters",
      },
    ],
    [
      "T15: an empty name",
      (content) => edited(content, 1, { name: "" }),
      {
        rule: "T15",
        message: "messages.1.content.1.tool_use.name: String should have at least 1 character",
      },
    ],
    [
      "C07: a tool id twice",
      (content) => edited(content, 3, { id: content[1]?.["id"] }),
      { rule: "C07", message: "messages.1.content.3: `tool_use` ids must be unique" },
    ],
    [
      "X-unknown: a field of another API",
      (content) => edited(content, 1, { text: "no" }),
      { rule: "X-unknown", message: "messages.1.content.1.tool_use.text: Extra inputs are not permitted" },
    ],
    [
      "X-type: arguments as text",
      (content) => edited(content, 1, { input: "{}" }),
      {
        rule: "X-type",
        message: "messages.1.content.1.tool_use.input: Input should be a valid dictionary",
      },
    ],
    [
      "X-empty-text: an empty text",
      (content) => [...content, { type: "text", text: "" }],
      { rule: "X-empty-text", message: "messages: text content blocks must be non-empty" },
    ],
  ];
  test.each(damages)("%s", async (_name, damage, expected) => {
    const { emulator, first, content, results, messages } = await oneStep();
    const broken = [first, assistant(damage(content)), results];
    await expectRefused(emulator, { ...adaptive, messages: broken }, expected);
    await expectTaken(emulator, { ...adaptive, messages });
  });

  test("C12: thinking whose text is not shown is still a block", async () => {
    const omitted = { ...adaptive, thinking: { type: "adaptive", display: "omitted" } };
    const { emulator, first, content, results, messages } = await oneStep(omitted);
    expect(content[0]).toMatchObject({ type: "thinking", thinking: "" });
    const filled = edited(content, 0, { thinking: "Made up later." });
    await expectRefused(
      emulator,
      { ...omitted, messages: [first, assistant(filled), results] },
      { rule: "C01", message: modified("messages.1.content.0") },
    );
    const skipped = content.filter((block) => block["thinking"] !== "");
    await expectRefused(
      emulator,
      { ...omitted, messages: [first, assistant(skipped), results] },
      { rule: "C02", message: thinkingWanted("tool_use") },
    );
    await expectTaken(emulator, { ...omitted, messages });
  });

  test("C03: in an older answer an edited thought has no valid signature, but one omitted whole is not missed", async () => {
    const { emulator, first, content, results, messages } = await twoSteps();
    const old = (changed: readonly Json[]): Json => ({
      ...adaptive,
      messages: [first, assistant(changed), results, ...messages.slice(3)],
    });
    await expectRefused(emulator, old(edited(content, 0, { thinking: "Else." })), {
      rule: "C03",
      message: signature("messages.1.content.0"),
    });
    await expectTaken(emulator, old(content.filter((block) => !isThought(block))));
    await expectTaken(emulator, { ...adaptive, messages });
  });
});

describe("thinking and the tool loop", () => {
  test("C02: missing thinking is refused if a budget is set, or if the model had thought", async () => {
    for (const body of [enabled, adaptive]) {
      const { emulator, first, content, results, messages } = await oneStep(body);
      const bare = content.filter((block) => !isThought(block));
      const broken = [first, assistant(bare), results];
      await expectRefused(
        emulator,
        { ...body, messages: broken },
        { rule: "C02", message: thinkingWanted("tool_use") },
      );
      const talking = [first, assistant([{ type: "text", text: "Hm." }, ...bare]), results];
      await expectRefused(
        emulator,
        { ...body, messages: talking },
        { rule: "C02", message: thinkingWanted("text") },
      );
      await expectTaken(emulator, { ...body, messages });
      // Thinking off, or a new user message, ends the loop.
      await expectTaken(emulator, { ...off, messages: broken });
      await expectTaken(emulator, { ...body, messages: [...broken, says("stop")] });
    }
  });

  test("C02: another model's calls pass unless a budget is set, and the API accepts its own calls without thinking", async () => {
    const emulator = await scripted("steps: [{output: [{function_call: {name: look}}]}]\nafterwards: repeat");
    const foreign = [{ type: "tool_use", id: "call_foreign", name: "look", input: {} }];
    const messages = [says("go"), assistant(foreign), resultsFor(foreign)];
    await expectTaken(emulator, { ...adaptive, messages });
    await expectRefused(
      emulator,
      { ...enabled, messages },
      { rule: "C02", message: thinkingWanted("tool_use") },
    );
    const own = contentOf({ json: await expectTaken(emulator, { ...enabled, messages: [says("go")] }) });
    await expectTaken(emulator, { ...enabled, messages: [says("go"), assistant(own), resultsFor(own)] });
  });

  test("C02: switch adaptiveMissingThinking", async () => {
    const { emulator, first, content, results } = await oneStep(adaptive, {
      switches: { adaptiveMissingThinking: "accept" },
    });
    const bare = content.filter((block) => !isThought(block));
    await expectTaken(emulator, { ...adaptive, messages: [first, assistant(bare), results] });
  });

  test("C06: thinking off while the loop holds thinking", async () => {
    const { emulator, first, content, results, messages } = await oneStep();
    await expectRefused(
      emulator,
      { ...off, messages },
      {
        rule: "C06",
        message:
          "messages.1.content.0: When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request.",
      },
    );
    const bare = content.filter((block) => !isThought(block));
    await expectTaken(emulator, { ...off, messages: [first, assistant(bare), results] });
    await expectTaken(emulator, { ...off, messages: [...messages, says("stop")] });
    // A system message after the results does not end the turn.
    const told = [...messages, { role: "system", content: "Be quick." }];
    expect((await ask(emulator, { ...off, messages: told })).status).toBe(400);
    await expectTaken(emulator, { ...adaptive, messages: told });
  });

  test("C06: switch thinkingWhileOff", async () => {
    const loose = await oneStep(adaptive, { switches: { thinkingWhileOff: "accept" } });
    await expectTaken(loose.emulator, { ...off, messages: loose.messages });
    const tight = await oneStep(adaptive, { switches: { thinkingWhileOff: "latest" } });
    const reply = await ask(tight.emulator, { ...off, messages: [...tight.messages, says("stop")] });
    expect([reply.status, tight.emulator.report().requests.at(-1)?.rule]).toEqual([400, "C06"]);
  });

  test("C13: a forced tool and a budget", async () => {
    const { emulator, messages } = await oneStep(enabled);
    const tools = [{ name: "look", input_schema: { type: "object" } }];
    for (const choice of [{ type: "any" }, { type: "tool", name: "look" }]) {
      const body = { messages, tools, tool_choice: choice };
      await expectRefused(
        emulator,
        { ...enabled, ...body },
        { rule: "C13", message: "Thinking may not be enabled when tool_choice forces tool use." },
      );
      await expectTaken(emulator, { ...adaptive, ...body });
    }
  });
});

describe("whose thinking it is", () => {
  test("C03: another account, another model, another key of the server", async () => {
    const { emulator, messages } = await oneStep();
    const refusal = { rule: "C03", message: signature("messages.1.content.0") };
    await expectRefused(emulator, { ...adaptive, messages }, refusal, { "x-api-key": "sk-ant-other" });
    await expectRefused(emulator, { ...adaptive, model: "claude-sonnet-5", messages }, refusal);
    await expectTaken(emulator, { ...adaptive, messages });
    emulator.rotateKey();
    await expectRefused(emulator, { ...adaptive, messages }, refusal);
  });

  test("C03: ciphertext of another dialect", async () => {
    const { emulator, first, content, results } = await oneStep();
    const other = await fetch(`${emulator.baseUrl}/responses`, {
      method: "POST",
      headers: { authorization: "Bearer sk-ant-test" },
      body: JSON.stringify({ model: "emu-reasoner", store: false, input: "hello" }),
    });
    const { output } = (await other.json()) as { output: Json[] };
    const foreign = edited(content, 0, { signature: output[0]?.["encrypted_content"] });
    expect(typeof foreign[0]?.["signature"]).toBe("string");
    await expectRefused(
      emulator,
      { ...adaptive, messages: [first, assistant(foreign), results] },
      { rule: "C03", message: signature("messages.1.content.0") },
    );
  });

  test("C10: with foreignThinking drop it is dropped without an error, and the answer says so", async () => {
    const { emulator, messages } = await oneStep(adaptive, { switches: { foreignThinking: "drop" } });
    const model = { ...adaptive, model: "claude-sonnet-5", messages };
    expect((await expectTaken(emulator, model))["input_transformations"]).toEqual(dropped("model"));
    const report = emulator.report().requests.at(-1);
    expect([report?.sent, report?.dropped.length]).toEqual([[], 2]);
    const account = await expectTaken(emulator, { ...adaptive, messages }, { "x-api-key": "sk-ant-other" });
    expect(account["input_transformations"]).toEqual(dropped("organization"));
    expect(await expectTaken(emulator, { ...adaptive, messages })).not.toHaveProperty(
      "input_transformations",
    );
  });

  test("signatures stay valid after a restart, but not with another secret", async () => {
    const { messages } = await oneStep();
    await expectTaken(await emulatorFor(), { ...adaptive, messages });
    await expectRefused(
      await emulatorFor({ secret: "another" }),
      { ...adaptive, messages },
      { rule: "C03", message: signature("messages.1.content.0") },
    );
  });
});

describe("C04: thinking that is bound to its conversation", () => {
  const tools = [{ name: "look", input_schema: { type: "object" } }];
  const head = { ...bound, system: "Be brief.", tools };
  const changes: readonly (readonly [string, (messages: readonly Json[]) => Json, string, string])[] = [
    [
      "the system prompt",
      (messages) => ({ ...head, system: "Be long.", messages }),
      "messages.1.content.0",
      " The `system` prompt differs from the one this block was created with.",
    ],
    [
      "the tools",
      (messages) => ({ ...head, tools: [...tools, { name: "x", input_schema: {} }], messages }),
      "messages.1.content.0",
      " The `tools` differ from the ones this block was created with.",
    ],
    [
      "an earlier message",
      (messages) => ({ ...head, messages: [says("gone"), ...messages.slice(1)] }),
      "messages.1.content.0",
      "",
    ],
    [
      "an inserted message",
      (messages) => ({
        ...head,
        messages: [...messages.slice(0, 3), says("by the way"), ...messages.slice(3)],
      }),
      "messages.4.content.0",
      "",
    ],
    [
      "an omitted thought",
      (messages) => ({
        ...head,
        messages: messages.map((message, index) =>
          index === 1 ? assistant((message["content"] as Json[]).filter((one) => !isThought(one))) : message,
        ),
      }),
      "messages.3.content.0",
      " The `thinking` block that preceded this one when it was created is missing from this request.",
    ],
  ];
  test.each(changes)("is refused if %s changed", async (_name, change, path, sentence) => {
    const { emulator, messages } = await twoSteps(head);
    await expectRefused(emulator, change(messages), { rule: "C04", message: bindingText(path, sentence) });
    await expectTaken(emulator, { ...head, messages });
  });

  test("is dropped, with every later thought, by drop_block and its beta, and the answer says so", async () => {
    const { emulator, messages } = await twoSteps(head);
    const dropping = {
      ...head,
      system: "Be long.",
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
      messages,
    };
    await expectRefused(emulator, dropping, {
      rule: "X-unknown",
      message: "thinking.adaptive.block_binding: Extra inputs are not permitted",
    });
    const reply = await expectTaken(emulator, dropping, beta);
    expect(reply["input_transformations"]).toEqual(
      ["messages.1.content.0", "messages.1.content.2", "messages.3.content.0"].map((path) => ({
        type: "thinking_dropped",
        path,
        reason: "prefix_binding_mismatch",
      })),
    );
    expect(emulator.report().requests.at(-1)?.dropped).toHaveLength(3);
    // New thoughts are bound to what the model was shown, so they go back alongside the dropped ones.
    const next = [...messages, assistant(contentOf({ json: reply })), resultsFor(contentOf({ json: reply }))];
    const again = await expectTaken(emulator, { ...dropping, messages: next }, beta);
    expect(again["input_transformations"]).toHaveLength(3);
    expect(emulator.report().requests.at(-1)?.sent).toHaveLength(2);
  });

  test("survives moved breakpoints, another form of a text, and other message boundaries", async () => {
    const { emulator, messages } = await twoSteps(head);
    const cached = { cache_control: { type: "ephemeral" } };
    const marked = messages.map((message, index) =>
      index === 2 ? { ...message, content: edited(message["content"] as Json[], 0, cached) } : message,
    );
    const [, ...rest] = marked;
    await expectTaken(emulator, {
      ...head,
      system: [{ type: "text", text: head.system, ...cached }],
      tools: [{ ...tools[0], ...cached }],
      messages: [{ role: "user", content: "go" }, ...rest.slice(0, -1), says("and"), says("now?")],
    });
  });

  test("is, for older accounts, recorded and allowed (prefixBinding silent) or not checked at all (off)", async () => {
    const silent = await twoSteps(head, { switches: { prefixBinding: "silent" } });
    const reply = await expectTaken(silent.emulator, { ...head, system: "Else.", messages: silent.messages });
    expect((reply["input_transformations"] as Json[])[0]).toEqual({
      type: "thinking_mismatch_allowed",
      path: "messages.1.content.0",
      reason: "prefix_binding_mismatch",
    });
    const free = await twoSteps(head, { switches: { prefixBinding: "off" } });
    await expectTaken(free.emulator, { ...head, system: "Else.", messages: free.messages });
    const input = await twoSteps(head, { switches: { prefixCovers: "input" } });
    await expectTaken(input.emulator, { ...head, system: "Else.", messages: input.messages });
  });
});

describe("C07: results", () => {
  test("must all come first, in the very next message", async () => {
    const { emulator, first, content, results, messages } = await oneStep();
    const ids = [content[1]?.["id"], content[3]?.["id"]];
    const [one = {}, two = {}] = results["content"] as Json[];
    const text = { type: "text", text: "here" };
    const broken: readonly (readonly [readonly Json[], readonly unknown[]])[] = [
      [[], ids],
      [[says("no results")], ids],
      [[{ role: "user", content: [one] }], [ids[1]]],
      [[{ role: "user", content: [text, one, two] }], ids],
      [[{ role: "user", content: [one, text, two] }], [ids[1]]],
    ];
    for (const [after, open] of broken) {
      const body = { ...adaptive, messages: [first, assistant(content), ...after] };
      await expectRefused(emulator, body, { rule: "C07", message: missing(open) });
    }
    await expectTaken(emulator, { ...adaptive, messages });
    // Neighbours of one role are one message.
    const split = [
      { role: "user", content: [one] },
      { role: "user", content: [two, text] },
    ];
    await expectTaken(emulator, { ...adaptive, messages: [first, assistant(content), ...split] });
  });

  test("must not be unknown or repeated", async () => {
    const { emulator, first, content, results, messages } = await oneStep();
    const all = results["content"] as Json[];
    const stray = { type: "tool_result", tool_use_id: "toolu_stray", content: "?" };
    const turn = (blocks: readonly Json[]): Json => ({
      ...adaptive,
      messages: [first, assistant(content), { role: "user", content: blocks }],
    });
    await expectRefused(emulator, turn([...all, stray]), {
      rule: "C07",
      message:
        "messages.2.content.2: unexpected `tool_use_id` found in `tool_result` blocks: toolu_stray. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
    });
    await expectRefused(emulator, turn([...all, ...all.slice(0, 1)]), {
      rule: "C07",
      message: `messages.2.content.2: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${String(all[0]?.["tool_use_id"])}`,
    });
    await expectTaken(emulator, { ...adaptive, messages });
  });
});

describe("C08: the last message", () => {
  const prefill = [says("go"), assistant([{ type: "text", text: "Well," }])];

  test("must not be the assistant's, unless a server tool paused its turn", async () => {
    const emulator = await emulatorFor();
    await expectRefused(
      emulator,
      { ...adaptive, messages: prefill },
      {
        rule: "C08",
        message:
          "This model does not support assistant message prefill. The conversation must end with a user message.",
      },
    );
    await expectTaken(emulator, { ...adaptive, messages: [...prefill, says("go on")] });
  });

  test("may be a paused turn, which continues from its own text", async () => {
    const emulator = await scripted(`
steps:
  - {status: incomplete, reason: pause_turn, output: [{reasoning: Searching.}, {web_search_call: news}]}
  - output: [{reasoning: Found.}, {message: Here it is.}]
`);
    const messages = [says("search")];
    const paused = await expectTaken(emulator, { ...bound, messages });
    expect(paused["stop_reason"]).toBe("pause_turn");
    const more = [...messages, assistant(contentOf({ json: paused }))];
    const reply = await expectTaken(emulator, { ...bound, messages: more });
    expect(reply["stop_reason"]).toBe("end_turn");
    const both = [...more, assistant(contentOf({ json: reply })), says("thanks")];
    await expectTaken(emulator, { ...bound, messages: both });
    expect(emulator.report().requests.at(-1)).toMatchObject({ recall: 1, missing: [] });
  });

  test("may be a prefill with the switch: older models continue from it, but not from white space", async () => {
    const emulator = await emulatorFor({ switches: { prefill: "accept" } });
    await expectTaken(emulator, { ...adaptive, messages: prefill });
    const spaced = [says("go"), assistant([{ type: "text", text: "Well, " }])];
    await expectRefused(
      emulator,
      { ...adaptive, messages: spaced },
      { rule: "C08", message: "messages: final assistant content cannot end with trailing whitespace" },
    );
  });
});

describe("parameters", () => {
  const ok = { ...adaptive, messages: [says("hello")] };
  const tool = { name: "look", input_schema: { type: "object" } };
  const block = { type: "text", text: "x", cache_control: { type: "ephemeral" } };
  const rows: readonly (readonly [string, Json, string])[] = [
    ["X-missing", without(ok, "max_tokens"), "max_tokens: Field required"],
    ["X-missing", without(ok, "messages"), "messages: Field required"],
    ["X-missing", without(ok, "model"), "model: Field required"],
    ["X-missing", { ...ok, thinking: {} }, "thinking.type: Field required"],
    ["X-missing", { ...ok, thinking: { type: "enabled" } }, "thinking.enabled.budget_tokens: Field required"],
    ["X-missing", { ...ok, tools: [{ name: "a" }] }, "tools.0.custom.input_schema: Field required"],
    ["X-missing", { ...ok, messages: [{ role: "user" }] }, "messages.0.content: Field required"],
    ["X-unknown", { ...ok, reasoning: {} }, "reasoning: Extra inputs are not permitted"],
    ["X-unknown", { ...ok, context_management: {} }, "context_management: Extra inputs are not permitted"],
    [
      "X-unknown",
      { ...ok, messages: [{ ...says("x"), name: "y" }] },
      "messages.0.name: Extra inputs are not permitted",
    ],
    [
      "X-unknown",
      { ...ok, thinking: { type: "adaptive", budget_tokens: 2000 } },
      "thinking.adaptive.budget_tokens: Extra inputs are not permitted",
    ],
    ["X-type", { ...ok, messages: "hello" }, "messages: Input should be a valid list"],
    ["X-type", { ...ok, stream: "yes" }, "stream: Input should be a valid boolean"],
    [
      "X-value",
      { ...ok, messages: [{ ...says("x"), role: "tool" }] },
      "messages.0.role: Input should be 'user' or 'assistant'",
    ],
    [
      "X-value",
      { ...ok, output_config: { effort: "huge" } },
      "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
    ],
    ["X-minimum", { ...ok, max_tokens: 0 }, "max_tokens: Input should be greater than or equal to 1"],
    [
      "X-minimum",
      { ...ok, thinking: { type: "enabled", budget_tokens: 1000 } },
      "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ],
    [
      "X-budget",
      { ...ok, thinking: { type: "enabled", budget_tokens: 8000 } },
      "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size",
    ],
    [
      "X-sampling",
      { ...ok, temperature: 0.5 },
      "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#important-considerations-when-using-extended-thinking",
    ],
    ["X-thinking", { ...ok, model: "emu-claude-plain" }, "'emu-claude-plain' does not support thinking."],
    ["X-empty", { ...ok, messages: [] }, "messages: at least one message is required"],
    [
      "X-empty",
      { ...ok, messages: [{ role: "user", content: [] }] },
      "messages.0: all messages must have non-empty content except for the optional final assistant message",
    ],
    [
      "X-first",
      { ...ok, messages: [assistant([{ type: "text", text: "Hi" }]), says("hello")] },
      'messages: first message must use the "user" role',
    ],
    [
      "X-empty-text",
      { ...ok, system: [{ type: "text", text: "" }] },
      "system: text content blocks must be non-empty",
    ],
    [
      "X-cache",
      { ...ok, system: [block, block], messages: [{ role: "user", content: [block, block, block] }] },
      "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ],
    ["X-tools", { ...ok, tools: [tool, tool] }, "tools: Tool names must be unique."],
    [
      "X-tools",
      { ...ok, tools: [{ ...tool, name: "no spaces" }] },
      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ],
  ];
  test.each(rows)("%s %#", async (rule, body, message) => {
    const emulator = await emulatorFor();
    await expectRefused(emulator, body, { rule, message });
    await expectTaken(emulator, ok);
  });

  test("an unknown block is refused with the list of known ones", async () => {
    const emulator = await emulatorFor();
    const reply = await ask(emulator, {
      ...ok,
      messages: [{ role: "user", content: [{ type: "input_text" }] }],
    });
    expect((reply.json["error"] as Json)["message"]).toMatch(
      /^messages\.0\.content\.0: Input tag 'input_text' found using 'type' does not match any of the expected tags: 'container_upload', 'document', 'image', .*'tool_result'$/,
    );
    const thought = { type: "thinking", thinking: "", signature: "" };
    const misplaced = await ask(emulator, { ...ok, messages: [{ role: "user", content: [thought] }] });
    expect((misplaced.json["error"] as Json)["message"]).toContain("Input tag 'thinking'");
  });

  test("four breakpoints are accepted, and so are sampling while thinking is off, and a system role", async () => {
    const emulator = await emulatorFor();
    await expectTaken(emulator, {
      ...ok,
      system: [block, block],
      messages: [{ role: "user", content: [block, block] }],
    });
    await expectTaken(emulator, { ...off, temperature: 0.5, messages: ok.messages });
    const system = [...ok.messages, { role: "system", content: "From now on: briefly." }];
    await expectTaken(emulator, { ...ok, messages: system });
    const strict = await emulatorFor({ switches: { systemMessages: "refuse" } });
    await expectRefused(
      strict,
      { ...ok, messages: system },
      {
        rule: "X-role",
        message:
          'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
      },
    );
  });

  test("keys, version, model, size, JSON", async () => {
    const emulator = await emulatorFor();
    const unauthorised = { status: 401, type: "authentication_error" };
    await expectRefused(
      emulator,
      ok,
      { rule: "X-key-missing", message: "x-api-key header is required", ...unauthorised },
      { "x-api-key": "" },
    );
    await expectRefused(
      emulator,
      ok,
      { rule: "X-key", message: "invalid x-api-key", ...unauthorised },
      { "x-api-key": "sk-wrong-1" },
    );
    await expectTaken(emulator, ok, { "x-api-key": "", authorization: "Bearer sk-ant-oat" });
    await expectRefused(
      emulator,
      ok,
      { rule: "X-version", message: "anthropic-version: header is required" },
      { "anthropic-version": "" },
    );
    await expectRefused(
      emulator,
      ok,
      { rule: "X-version", message: 'anthropic-version: "latest" is not a valid version' },
      { "anthropic-version": "latest" },
    );
    for (const model of ["emu-reasoner", "emu-deepseek", "unknown-1", "gpt-5"]) {
      const absent = { rule: "X-model", status: 404, type: "not_found_error", message: `model: ${model}` };
      await expectRefused(emulator, { ...ok, model }, absent);
    }
    await expectRefused(emulator, "{", {
      rule: "X-json",
      message: "The request body is not valid JSON: failed to decode it",
    });
    const large = await ask(emulator, `"${"x".repeat(33 * 1024 * 1024)}"`);
    expect([large.status, large.json["error"]]).toEqual([
      413,
      { type: "request_too_large", message: "Request exceeds the maximum size" },
    ]);
    const small = await emulatorFor({ models: { "claude-tiny": { contextTokens: 20 } } });
    await expectRefused(
      small,
      { ...ok, model: "claude-tiny", messages: [says("x".repeat(400))] },
      { rule: "X-context", message: "prompt is too long: 110 tokens > 20 maximum" },
    );
  });
});
