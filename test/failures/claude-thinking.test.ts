/** How Claude generations are told to think, and whose thoughts they read (C10, C18, C20). */

import { describe, expect, test } from "vitest";

import type { Settings } from "../../src/base/events/index.ts";
import { anthropic, type AnthropicOptions, type Model } from "../../src/index.ts";
import { capabilitiesOf } from "../../src/runtime/providers/index.ts";
import { claudeBench, claudeSays, messagesOf, text, thinking, toolUse } from "./claude-harness.ts";
import { CLAUDE, ClaudeLog } from "./claude-log.ts";
import { bench, echoTool, expectNoneRefused, type Json, KEY, ofType } from "./harness.ts";

const of = (model: string, change: Partial<Settings> = {}): Settings => ({
  ...CLAUDE,
  target: { ...CLAUDE.target, model },
  capabilities: capabilitiesOf("anthropic-messages", model),
  ...change,
});
const lower = (field: string): Parameters<ClaudeLog["add"]>[0] => ({
  type: "replay_override",
  what: { kind: "field", field },
  action: "strip_field",
  target: CLAUDE.target,
  cause: { code: "invalid_request_error", message: "no" },
});
const OFF = { effort: "off" } as const;
const codes = (log: ClaudeLog, settings: Settings): readonly string[] =>
  log.render(settings).remarks.map(({ code }) => code);

describe("a model that is told not to think", () => {
  test.each([
    ["claude-opus-4-5", { type: "disabled" }, undefined, []],
    ["claude-opus-4-8", { type: "disabled" }, undefined, []],
    ["claude-opus-5", { type: "disabled" }, undefined, []],
    ["claude-sonnet-5-5", { type: "between_tools" }, undefined, []],
    ["claude-haiku-5-5", { type: "between_tools" }, undefined, []],
    ["claude-opus-5-5", { type: "adaptive", display: "summarized" }, { effort: "low" }, ["thinking_not_off"]],
    ["claude-fable-5", { type: "adaptive", display: "summarized" }, { effort: "low" }, ["thinking_not_off"]],
    [
      "claude-fable-5-1",
      { type: "adaptive", display: "summarized" },
      { effort: "low" },
      ["thinking_not_off"],
    ],
  ])("%s", (model, asked, config, remarks) => {
    const log = new ClaudeLog().user();
    const settings = of(model, OFF);
    expect(log.body(settings)["thinking"]).toEqual(asked);
    expect(log.body(settings)["output_config"]).toEqual(config);
    expect(codes(log, settings)).toEqual(remarks);
  });
});

describe("a way of thinking that was refused", () => {
  test("disabled is replaced by the lowest effort", () => {
    const log = new ClaudeLog({ ...CLAUDE, ...OFF }).user().add(lower("thinking.type.disabled"));
    expect(log.body()).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: "low" } });
  });

  test("enabled is replaced by adaptive, and vice versa", () => {
    const budget = { ...CLAUDE, capabilities: { ...CLAUDE.capabilities, thinking: "budget" as const } };
    const log = new ClaudeLog(budget).user();
    expect(log.body()["thinking"]).toMatchObject({ type: "enabled" });
    expect(log.add(lower("thinking.type.enabled")).body()["thinking"]).toMatchObject({ type: "adaptive" });
    const other = new ClaudeLog().user().add(lower("thinking.type.adaptive"));
    expect(other.body()["thinking"]).toMatchObject({ type: "enabled" });
    expect(other.render().violations).toEqual([]);
  });
});

test("sampling and forced tools are sent to the models that accept them, and a notice says what was not forced", () => {
  const asked = { parameters: { temperature: 0.2, tool_choice: { type: "any" } } };
  const log = new ClaudeLog().user();
  const opus45 = of("claude-opus-4-5", { ...asked, ...OFF });
  expect(log.body(opus45)).toMatchObject({ temperature: 0.2, tool_choice: { type: "any" } });
  expect(codes(log, opus45)).toEqual([]);
  const opus5 = of("claude-opus-5", { ...asked, ...OFF });
  expect(log.body(opus5)).not.toHaveProperty("temperature");
  expect(log.body(opus5)["tool_choice"]).toEqual({ type: "any" });
  const opus55 = of("claude-opus-5-5", asked);
  expect(log.body(opus55)["tool_choice"]).toEqual({ type: "auto" });
  expect(codes(log, opus55)).toEqual(["tool_not_forced"]);
});

const made = (model: string): ClaudeLog =>
  new ClaudeLog(of(model))
    .user()
    .answer([thinking("a"), text("Hi.")])
    .user();

describe("thoughts of another model", () => {
  test.each([
    ["claude-opus-5", "claude-fable-5-1", true],
    ["claude-opus-5-20260701", "claude-fable-5-1", true],
    ["claude-opus-5-5", "claude-fable-5-1", true],
    ["claude-fable-5-1", "claude-opus-5-5", false],
    ["claude-sonnet-5", "claude-fable-5-1", false],
    ["claude-sonnet-5", "claude-sonnet-5-5", true],
    ["claude-opus-4-8", "claude-sonnet-5-5", true],
    ["claude-opus-5", "claude-sonnet-5-5", false],
    ["claude-opus-5", "claude-opus-5-5", false],
  ])("by %s go to %s: %s", (from, to, kept) => {
    const log = made(from);
    expect(messagesOf(log.body(of(to)))[1]).toBe(kept ? "assistant: thinking text" : "assistant: text");
    expect(log.render(of(to)).violations).toEqual([]);
  });

  test("go to no other account or endpoint", () => {
    const to = of("claude-fable-5-1");
    for (const change of [{ credential: "other" }, { endpoint: "https://elsewhere.test" }]) {
      const settings = { ...to, target: { ...to.target, ...change } };
      expect(messagesOf(made("claude-opus-5").body(settings))[1]).toBe("assistant: text");
    }
  });
});

const emulated = async (model: string, options: AnthropicOptions = {}) => {
  const look = echoTool();
  const started = await bench({ tools: [look] });
  const { emulator, session } = started;
  const claude = (name: string, more: AnthropicOptions = options): Model =>
    anthropic(name, { apiKey: KEY, baseUrl: emulator.url, ...more });
  await session.setModel(claude(model));
  return { started, emulator, session, look, claude };
};

describe("on the emulator", () => {
  test.each(["emu-claude", "emu-claude-adaptive", "emu-claude-5.5", "emu-claude-between"])(
    "%s holds a conversation with tools, whatever the effort",
    async (model) => {
      const { started, emulator, session, claude } = await emulated(model);
      for (const effort of ["high", "off", "low"] as const) {
        await session.setModel(claude(model, { effort, parameters: { temperature: 0.5 } }));
        await started.ask("look_up paris");
        await started.ask("hello");
      }
      expectNoneRefused(emulator);
    },
  );

  test.each([
    ["emu-claude-adaptive", "emu-claude-5.5"],
    ["emu-claude", "emu-claude-between"],
  ])("a number that %s thought of is known to %s", async (from, to) => {
    const { started, emulator, session, claude } = await emulated(from);
    await started.ask("think of a number");
    await session.setModel(claude(to));
    expect(await started.ask("which number was it?")).toContain("they came back to me");
    expectNoneRefused(emulator);
    expect(emulator.report().totals).toMatchObject({ recall: 1 });
  });
});

test("a switch to a model that always thinks, inside a loop that another model began, stays adaptive", async () => {
  const switched: Json[] = [];
  const look = echoTool();
  const started = await claudeBench(
    (body, request) => {
      if (request === 1) return claudeSays([toolUse("toolu_1", "x")], { stop: "tool_use" });
      switched.push(body);
      return claudeSays([text("Done.")], { id: "msg_2" });
    },
    {
      tools: [
        {
          ...look,
          run: async (input, context) => {
            await started.session.setModel(started.claude("claude-opus-5-5"));
            return look.run(input, context);
          },
        },
      ],
    },
  );
  expect(await started.ask("Look.")).toBe("Done.");
  expect(switched[0]).toMatchObject({ model: "claude-opus-5-5", thinking: { type: "adaptive" } });
  expect(ofType(await started.log(), "notice")).toEqual([]);
});
