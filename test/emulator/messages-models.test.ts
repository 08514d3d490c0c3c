/** How Claude models differ: which thinking they accept, what they refuse, and whose thoughts they read. */

import { describe, expect, test } from "vitest";

import { emulatorFor, type Json, scripted } from "./emulator-client.ts";
import {
  ask,
  assistant,
  contentOf,
  expectRefused,
  expectTaken,
  resultsFor,
  says,
} from "./messages-client.ts";

const asked = (model: string, more: Json = {}): Json => ({
  model,
  max_tokens: 8000,
  messages: [says("hello")],
  ...more,
});

const refused = (mode: string, advice = ""): { rule: string; message: string } => ({
  rule: "C18",
  message: `"thinking.type.${mode}" is not supported for this model.${advice}`,
});

const adaptiveOnly = ' Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
const lowest =
  ' Use "thinking.type.between_tools" for the lowest thinking setting, or "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';

const deprecated = (name: string): { rule: string; message: string } => ({
  rule: "X-sampling",
  message: `\`${name}\` is deprecated for this model.`,
});

const told = (reason: string): Json[] => [
  { type: "thinking_dropped", path: "messages.1.content.0", reason: `${reason}_binding_mismatch` },
];

const dropped = (reason: string) => ({
  rule: null,
  sent: 0,
  dropped: 1,
  acceptable: 0,
  told: told(reason),
});

const budget = { type: "enabled", budget_tokens: 2000 };

const kindsOf = (reply: Json): unknown => contentOf({ json: reply }).map((block) => block["type"]);

describe("C18: ways of thinking", () => {
  const rows: readonly (readonly [string, Json, string | undefined])[] = [
    ["emu-claude-5.5", { type: "disabled" }, adaptiveOnly],
    ["emu-claude-5.5", budget, adaptiveOnly],
    ["emu-claude-5.5", { type: "between_tools" }, ""],
    ["emu-claude-5.5", { type: "adaptive" }, undefined],
    ["emu-claude-between", { type: "disabled" }, lowest],
    ["emu-claude-between", budget, adaptiveOnly],
    ["emu-claude-between", { type: "between_tools" }, undefined],
    ["emu-claude-between", { type: "adaptive" }, undefined],
    ["emu-claude-adaptive", { type: "disabled" }, undefined],
    ["emu-claude-adaptive", budget, adaptiveOnly],
    ["emu-claude-adaptive", { type: "between_tools" }, ""],
    ["emu-claude-adaptive", { type: "adaptive" }, undefined],
    ["claude-opus-5-5", { type: "disabled" }, adaptiveOnly],
    ["claude-fable-5-1", { type: "disabled" }, adaptiveOnly],
    ["claude-sonnet-5-5", { type: "disabled" }, lowest],
    ["claude-opus-5", budget, adaptiveOnly],
    ["claude-opus-4-8", budget, adaptiveOnly],
    ["claude-opus-4-6", budget, undefined],
    ["claude-opus-4-6", { type: "adaptive" }, undefined],
    ["claude-opus-4-6", { type: "between_tools" }, ""],
    ["claude-haiku-4-5", budget, undefined],
    ["claude-sonnet-4-20250514", budget, undefined],
  ];
  test.each(rows)("%s %j", async (model, thinking, advice) => {
    const emulator = await emulatorFor();
    const body = asked(model, { thinking });
    if (advice === undefined) await expectTaken(emulator, body);
    else await expectRefused(emulator, body, refused(String(thinking["type"]), advice));
  });

  test("models with a budget do not know adaptive thinking", async () => {
    const emulator = await emulatorFor();
    for (const model of ["claude-haiku-4-5", "claude-sonnet-4-5-20250929", "claude-3-7-sonnet-20250219"])
      await expectRefused(emulator, asked(model, { thinking: { type: "adaptive" } }), {
        rule: "C18",
        message: "adaptive thinking is not supported on this model",
      });
  });

  test("between_tools accepts no high effort and no other field", async () => {
    const emulator = await emulatorFor();
    const between = { thinking: { type: "between_tools" } };
    await expectTaken(
      emulator,
      asked("emu-claude-between", { ...between, output_config: { effort: "high" } }),
    );
    for (const effort of ["xhigh", "max"]) {
      await expectRefused(emulator, asked("emu-claude-between", { ...between, output_config: { effort } }), {
        rule: "C18",
        message: `output_config.effort '${effort}' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.`,
      });
    }
    await expectRefused(
      emulator,
      asked("emu-claude-between", { thinking: { type: "between_tools", display: "summarized" } }),
      {
        rule: "X-unknown",
        message: "thinking.between_tools.display: Extra inputs are not permitted",
      },
    );
  });

  test("without a thinking parameter, a model that always thinks does so without showing its text", async () => {
    const emulator = await emulatorFor();
    for (const model of ["emu-claude-5.5", "emu-claude-between"]) {
      const reply = await expectTaken(emulator, asked(model));
      expect(contentOf({ json: reply })[0]).toMatchObject({ type: "thinking", thinking: "" });
    }
    expect(kindsOf(await expectTaken(emulator, asked("emu-claude-adaptive")))).toEqual(["text"]);
    const shown = asked("emu-claude-5.5", { thinking: { type: "adaptive", display: "summarized" } });
    expect(contentOf({ json: await expectTaken(emulator, shown) })[0]?.["thinking"]).not.toBe("");
  });

  test("display updates needs its beta", async () => {
    const emulator = await emulatorFor();
    const body = asked("emu-claude-5.5", { thinking: { type: "adaptive", display: "updates" } });
    await expectRefused(emulator, body, {
      rule: "X-value",
      message: "thinking.adaptive.display: Input should be 'summarized' or 'omitted'",
    });
    await expectTaken(emulator, body, { "anthropic-beta": "thinking-display-updates-2026-08-18" });
  });
});

describe("parameters that newer models no longer accept", () => {
  test("X-sampling: temperature, top_p, top_k", async () => {
    const emulator = await emulatorFor();
    for (const model of ["emu-claude-5.5", "emu-claude-adaptive"]) {
      for (const [name, value] of [
        ["temperature", 1],
        ["top_p", 0.9],
        ["top_k", 5],
      ] as const)
        await expectRefused(emulator, asked(model, { [name]: value }), deprecated(name));
    }
    await expectRefused(
      emulator,
      asked("emu-claude-between", { temperature: 0.5 }),
      deprecated("temperature"),
    );
    await expectTaken(emulator, asked("emu-claude-between", { temperature: 1, top_p: 1 }));
    await expectTaken(emulator, asked("emu-claude", { temperature: 0.5, top_p: 0.9, top_k: 5 }));
  });

  test("C20: a forced tool, even when counting tokens", async () => {
    const emulator = await emulatorFor();
    const tools = [{ name: "look", input_schema: { type: "object" } }];
    const message = 'tool_choice: type "tool" and "any" are not supported for this model.';
    for (const model of ["emu-claude-5.5", "emu-claude-between", "claude-opus-5-5"]) {
      for (const choice of [{ type: "any" }, { type: "tool", name: "look" }])
        await expectRefused(emulator, asked(model, { tools, tool_choice: choice }), { rule: "C20", message });
      await expectTaken(emulator, asked(model, { tools, tool_choice: { type: "auto" } }));
    }
    const counted = {
      model: "emu-claude-5.5",
      messages: [says("hello")],
      tools,
      tool_choice: { type: "any" },
    };
    const reply = await ask(emulator, counted, {}, "/messages/count_tokens");
    expect([reply.status, (reply.json["error"] as Json)["message"]]).toEqual([400, message]);
    await expectTaken(emulator, asked("emu-claude-adaptive", { tools, tool_choice: { type: "any" } }));
  });

  test("C08: prefill, whatever the switch says", async () => {
    const emulator = await emulatorFor({ switches: { prefill: "accept" } });
    const messages = [says("go"), assistant([{ type: "text", text: "Well," }])];
    await expectTaken(emulator, asked("emu-claude", { messages }));
    for (const model of ["emu-claude-5.5", "emu-claude-between", "emu-claude-adaptive"])
      await expectRefused(emulator, asked(model, { messages }), {
        rule: "C08",
        message:
          "This model does not support assistant message prefill. The conversation must end with a user message.",
      });
  });
});

describe("C10: readable sets", () => {
  const script = "afterwards: repeat\nsteps: [{output: [{reasoning: Hm.}, {function_call: {name: look}}]}]";
  const thinking = { type: "adaptive" };

  async function crossed(maker: string, reader: string, key = "sk-ant-test", switches: object = {}) {
    const emulator = await scripted(script, { switches });
    const first = says("go");
    const own = maker.includes("-4-5") ? budget : thinking;
    const made = await expectTaken(emulator, asked(maker, { thinking: own, messages: [first] }));
    const content = contentOf({ json: made });
    const messages = [first, assistant(content), resultsFor(content)];
    const reply = await ask(emulator, asked(reader, { thinking, messages }), { "x-api-key": key });
    const report = emulator.report().requests.at(-1);
    return {
      rule: report?.rule,
      sent: report?.sent.length,
      dropped: report?.dropped.length,
      acceptable: report?.acceptable.length,
      told: reply.json["input_transformations"],
    };
  }

  const read = { rule: null, sent: 1, dropped: 0, acceptable: 1, told: undefined };

  test.each([
    ["emu-claude-adaptive", "emu-claude-5.5"],
    ["emu-claude", "emu-claude-between"],
    ["claude-opus-5", "claude-fable-5-1"],
    ["claude-opus-5-5", "claude-fable-5-1"],
    ["claude-sonnet-5", "claude-sonnet-5-5"],
    ["claude-haiku-4-5", "claude-sonnet-5-5"],
  ])("%s is read by %s", async (maker, reader) => {
    expect(await crossed(maker, reader)).toEqual(read);
  });

  test.each([
    ["emu-claude-between", "emu-claude-5.5"],
    ["emu-claude-adaptive", "emu-claude-between"],
    ["claude-fable-5-1", "claude-opus-5-5"],
    ["claude-opus-5", "claude-sonnet-5-5"],
  ])("%s is dropped by %s, and the answer says so", async (maker, reader) => {
    expect(await crossed(maker, reader)).toEqual(dropped("model"));
  });

  test("older models refuse thoughts they cannot read", async () => {
    expect((await crossed("emu-claude-5.5", "emu-claude")).rule).toBe("C03");
    expect((await crossed("emu-claude-5.5", "emu-claude-adaptive")).rule).toBe("C03");
  });

  test("switch foreignThinking: refuse applies to all", async () => {
    const strict = { foreignThinking: "refuse" };
    expect((await crossed("emu-claude-between", "emu-claude-5.5", "sk-ant-test", strict)).rule).toBe("C03");
  });

  test("switch accountBinding: another account's thinking is treated alike, bound or not", async () => {
    const other = "sk-ant-other";
    expect(await crossed("emu-claude-5.5", "emu-claude-5.5", other)).toEqual(dropped("organization"));
    expect((await crossed("emu-claude", "emu-claude", other)).rule).toBe("C03");
    const alike = await crossed("emu-claude-5.5", "emu-claude-5.5", other, { accountBinding: "off" });
    expect(alike).toEqual(read);
  });
});
