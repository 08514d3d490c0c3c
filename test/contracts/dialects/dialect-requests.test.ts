/** The parts of a request that are specific to each dialect. */

import { describe, expect, test } from "vitest";

import type { Answer, Piece } from "./speakers.ts";
import { bodyOf, messagesOf, settingsOf, SpokenLog } from "./spoken-log.ts";

const thought = (text: string, payload = "sig"): Piece => ({ kind: "thought", text, payload });
const text = (words: string): Piece => ({ kind: "text", text: words });
const call = (id: string, args = "{}"): Piece => ({ kind: "call", id, name: "get_weather", arguments: args });
const answer = (pieces: readonly Piece[], ending: Answer["ending"] = "stop"): Answer => ({ pieces, ending });

const claude = settingsOf("anthropic");

function thoughtOf(payload: string): string {
  const log = new SpokenLog()
    .user("Hi.")
    .answer(claude, answer([thought("", payload), text("Yes.")]))
    .user("So?");
  return JSON.stringify(messagesOf(log.render(claude)));
}

describe("anthropic-messages", () => {
  test("sends one message per response and one for all its results, and a later user text in its own message", () => {
    const rendered = new SpokenLog()
      .user("Hi.")
      .answer(claude, answer([thought("Hm."), call("toolu_a"), call("toolu_b")], "calls"))
      .user("Never mind.")
      .render(claude);
    expect(messagesOf(rendered)).toEqual([
      { role: "user", content: [{ type: "text", text: "Hi." }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "sig" },
          { type: "tool_use", id: "toolu_a", name: "get_weather", input: {} },
          { type: "tool_use", id: "toolu_b", name: "get_weather", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_a", content: "result of toolu_a" },
          { type: "tool_result", tool_use_id: "toolu_b", content: "result of toolu_b" },
        ],
      },
      { role: "user", content: [{ type: "text", text: "Never mind." }] },
    ]);
    expect(rendered.sources.map(({ path }) => path)).toEqual([
      "messages.0",
      "messages.1.content.0",
      "messages.1.content.1",
      "messages.1.content.2",
      "messages.2.content.0",
      "messages.2.content.1",
      "messages.3",
    ]);
  });

  test("answers a call that never got a result as failed", () => {
    const rendered = new SpokenLog()
      .user("Hi.")
      .answer(claude, answer([thought("Hm."), call("toolu_a")], "calls"), { results: false })
      .user("Still there?")
      .render(claude);
    expect(JSON.stringify(messagesOf(rendered)[2])).toMatch(
      /"tool_use_id":"toolu_a","content":"not executed:.*"is_error":true/,
    );
  });

  test("sends an empty thought back if it has a signature, and drops one without", () => {
    expect(thoughtOf("sig")).toContain('{"type":"thinking","thinking":"","signature":"sig"}');
    expect(thoughtOf("")).not.toContain("thinking");
  });

  test("omits an empty text and keeps the thoughts around it", () => {
    const rendered = new SpokenLog()
      .user("Hi.")
      .answer(claude, answer([thought("Hm."), text(""), call("toolu_a")], "calls"))
      .render(claude);
    expect(JSON.stringify(messagesOf(rendered)[1])).toContain('"thinking":"Hm."');
    expect(JSON.stringify(messagesOf(rendered)[1])).not.toContain('"type":"text"');
  });

  test("does not send a message that has only thoughts", () => {
    const rendered = new SpokenLog()
      .user("Hi.")
      .answer(claude, answer([thought("Hm.")]))
      .user("So?")
      .render(claude);
    expect(messagesOf(rendered).map((one) => one["role"])).toEqual(["user", "user"]);
    expect(rendered.violations).toEqual([]);
  });

  test("maps a foreign call id with forbidden characters, the same way for call and result", () => {
    const kimi = settingsOf("moonshot");
    const rendered = new SpokenLog()
      .user("Hi.")
      .answer(kimi, answer([call("functions.get_weather:0")], "calls"))
      .render(claude);
    const ids = [...JSON.stringify(messagesOf(rendered)).matchAll(/"(?:id|tool_use_id)":"([^"]+)"/g)].map(
      (one) => one[1],
    );
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[0]).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(rendered.violations).toEqual([]);
  });

  test.each([
    [undefined, { type: "adaptive", display: "summarized" }, undefined],
    ["high", { type: "adaptive", display: "summarized" }, { effort: "high" }],
    ["minimal", { type: "adaptive", display: "summarized" }, { effort: "low" }],
    ["off", { type: "disabled" }, undefined],
  ])("maps effort %s", (effort, thinking, config) => {
    const settings = settingsOf("anthropic", effort === undefined ? {} : { effort });
    const body = bodyOf(new SpokenLog().user("Hi.").render(settings));
    expect({ thinking: body["thinking"], config: body["output_config"] }).toEqual({ thinking, config });
  });

  test("gives a model with a thinking budget one below its output limit, and no effort", () => {
    const capabilities = { reasoning: true, sampling: true, vision: true, thinking: "budget" as const };
    const settings = settingsOf("anthropic", { effort: "high", capabilities, maxOutputTokens: 1000 });
    const body = bodyOf(new SpokenLog().user("Hi.").render(settings));
    expect(body["thinking"]).toMatchObject({ type: "enabled", budget_tokens: 16_384 });
    expect(body["max_tokens"]).toBe(17_384);
    expect(body["output_config"]).toBeUndefined();
  });

  test("defers a change of thinking, on or off, until the tool loop ends", () => {
    const off = settingsOf("anthropic", { effort: "off" });
    const begun = new SpokenLog()
      .user("Hi.")
      .answer(claude, answer([thought("Hm."), call("toolu_a")], "calls"));
    expect(bodyOf(begun.render(off))["thinking"]).toMatchObject({ type: "adaptive" });
    expect(bodyOf(begun.user("Next.").render(off))["thinking"]).toEqual({ type: "disabled" });
    const budget = settingsOf("anthropic", {
      capabilities: { reasoning: true, sampling: true, vision: true, thinking: "budget" },
    });
    const without = new SpokenLog().user("Hi.").answer(claude, answer([call("toolu_a")], "calls"));
    expect(bodyOf(without.render(budget))["thinking"]).toEqual({ type: "disabled" });
    expect(bodyOf(without.user("Next.").render(budget))["thinking"]).toMatchObject({ type: "enabled" });
  });

  test("drops the thoughts of a prefix-bound model when the system prompt changes, and asks the server to drop rather than refuse", () => {
    const bound = settingsOf("anthropic-bound", { system: "Be brief." });
    const log = new SpokenLog()
      .user("Hi.")
      .answer(bound, answer([thought("Hm."), text("Yes.")]))
      .user("So?");
    expect(JSON.stringify(messagesOf(log.render(bound)))).toContain('"thinking":"Hm."');
    expect(bodyOf(log.render(bound))["thinking"]).toMatchObject({
      block_binding: { prefix_mismatch_behavior: "drop_block" },
    });
    const changed = log.render({ ...bound, system: "Be long." });
    expect(JSON.stringify(messagesOf(changed))).not.toContain('"thinking":"Hm."');
  });
});

describe("openai-chat", () => {
  test("sends the thoughts, text and calls of a response as one message, in the field they arrived in", () => {
    const deepseek = settingsOf("deepseek", { system: "Be brief." });
    const rendered = new SpokenLog()
      .user("Hi.")
      .answer(deepseek, answer([thought("One. "), text("I look."), thought("Two."), call("call_a")], "calls"))
      .render(deepseek);
    expect(messagesOf(rendered)).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi." },
      {
        role: "assistant",
        content: "I look.",
        reasoning_content: "One. Two.",
        tool_calls: [{ id: "call_a", type: "function", function: { name: "get_weather", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "call_a", content: "result of call_a" },
    ]);
    expect(bodyOf(rendered)["thinking"]).toEqual({ type: "enabled" });
  });

  test.each([
    ["groq", "reasoning", true],
    ["groq", "reasoning_content", false],
    ["mistral", "reasoning_content", false],
    ["deepseek-old", "reasoning_content", false],
    ["openai-chat", "reasoning", false],
    ["generic-chat", "reasoning_content", false],
  ])("sends thoughts back to %s in the field %s: %s", (profile, field, back) => {
    const settings = settingsOf(profile);
    const log = new SpokenLog()
      .user("Hi.")
      .answer(settings, answer([thought("Hm."), text("Yes.")]), { field })
      .user("So?");
    const body = JSON.stringify(messagesOf(log.render(settings)));
    expect(body.includes(`"${field}":"Hm."`)).toBe(back);
    expect(body.includes("Hm.")).toBe(back);
  });

  test("switches thinking off, with a remark, if the history has calls without their thoughts", () => {
    for (const profile of ["deepseek", "moonshot"]) {
      const settings = settingsOf(profile);
      const log = new SpokenLog()
        .user("Hi.")
        .answer(settingsOf("openai"), answer([call("call_a")], "calls"))
        .user("So?");
      const rendered = log.render(settings);
      expect(bodyOf(rendered)["thinking"]).toEqual({ type: "disabled" });
      expect(rendered.remarks.map(({ code }) => code)).toEqual(["thinking_off"]);
      expect(rendered.violations).toEqual([]);
    }
  });

  test("puts an assistant message between a tool message and a user message if the vendor requires one", () => {
    const mistral = settingsOf("mistral");
    const log = new SpokenLog()
      .user("Hi.")
      .answer(mistral, answer([call("call_a")], "calls"))
      .user("Stop.");
    expect(messagesOf(log.render(mistral)).map((one) => one["role"])).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    expect(messagesOf(log.render(settingsOf("groq"))).map((one) => one["role"])).toEqual([
      "user",
      "assistant",
      "tool",
      "user",
    ]);
  });
});

test("a picture becomes a note for a model without vision", () => {
  for (const profile of ["openai", "anthropic", "generic-chat"]) {
    const capabilities = { reasoning: true, sampling: true, vision: false };
    const log = new SpokenLog().add({
      type: "user_message",
      turn: "tn",
      by: "person",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" },
      ],
    });
    expect(JSON.stringify(messagesOf(log.render(settingsOf(profile))))).toContain("iVBORw0KGgo=");
    const blind = JSON.stringify(messagesOf(log.render(settingsOf(profile, { capabilities }))));
    expect(blind).toContain("image not shown");
    expect(blind).not.toContain("iVBORw0KGgo=");
  }
});
