import { describe, expect, test } from "vitest";

import {
  anyTool,
  call,
  history,
  inputOf,
  ofType,
  play,
  say,
  scriptedSession,
  think,
} from "../../../test/contracts/session-fixture.ts";
import { instantClock } from "../../../test/support/instant-clock.ts";

const look = anyTool("look", () => "seen");

describe("a turn ends at its limit", () => {
  test("on steps: the calls beyond it are not run, and say so", async () => {
    let ran = 0;
    const { session } = await scriptedSession([{ output: [think("Again"), call("look", {})] }], {
      afterwards: "repeat",
      tools: [anyTool("look", () => (ran += 1))],
      limits: { maxSteps: 3, maxRepeats: 99 },
    });
    const { result } = await play(session.send("go"));
    expect(result).toMatchObject({ status: "incomplete", reason: "max_steps", steps: 3 });
    expect(ran).toBe(2);
    const results = ofType(await history(session), "tool_result");
    expect(results.at(-1)).toMatchObject({
      status: "not_executed",
      text: "not executed: the turn reached its limit of 3 steps",
    });
  });

  test("on repeated calls", async () => {
    const { session, emulator } = await scriptedSession([{ output: [call("look", { a: 1 })] }], {
      afterwards: "repeat",
      tools: [look],
      limits: { maxRepeats: 3 },
    });
    const { result } = await play(session.send("go"));
    expect(result).toMatchObject({ status: "incomplete", reason: "loop", steps: 4 });
    expect(ofType(await history(session), "tool_result").map(({ status }) => status)).toEqual([
      "ok",
      "ok",
      "ok",
      "not_executed",
    ]);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("but other arguments in between are not a loop", async () => {
    const { session } = await scriptedSession(
      [1, 2, 1, 2, 1, 2].map((a) => ({ output: [call("look", { a })] })).concat({ output: [say("done")] }),
      { tools: [look], limits: { maxRepeats: 1 } },
    );
    expect(await session.send("go").result()).toMatchObject({ status: "completed", steps: 7 });
  });

  test("on tokens of a response: text is kept, calls are not run, and the turn is incomplete", async () => {
    let ran = 0;
    const { session, emulator } = await scriptedSession(
      [
        {
          output: [think("T"), say("half an ans"), call("look", {})],
          status: "incomplete",
          reason: "max_output_tokens",
        },
        { output: [say("fine")] },
      ],
      { tools: [anyTool("look", () => (ran += 1))] },
    );
    const { result } = await play(session.send("go"));
    expect(result).toMatchObject({ status: "incomplete", reason: "max_output_tokens", text: "half an ans" });
    expect(ran).toBe(0);
    expect(ofType(await history(session), "tool_result")).toMatchObject([
      { status: "not_executed", text: "not executed: the response was cut off" },
    ]);
    expect(await session.send("go on").result()).toMatchObject({ status: "completed" });
    expect(inputOf(emulator, 1).map((item) => item["type"])).toEqual([
      "message",
      "message",
      "function_call",
      "function_call_output",
      "message",
    ]);
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("on context, as incomplete: context", async () => {
    const { session } = await scriptedSession(undefined, {
      emulator: { models: { "emu-reasoner": { contextTokens: 50 } } },
    });
    const { result } = await play(session.send(`long ${"word ".repeat(500)}`));
    expect(result).toMatchObject({
      status: "incomplete",
      reason: "context",
      error: { code: "context_length_exceeded", class: "LIMIT" },
    });
  });
});

describe("an empty response", () => {
  test("is asked about once, and then answered", async () => {
    const { session, emulator } = await scriptedSession([
      { output: [think("Only thinking")] },
      { output: [say("now")] },
    ]);
    const { result, events } = await play(session.send("go"));
    expect(result).toMatchObject({ status: "completed", text: "now", steps: 2 });
    expect(ofType(events, "user_message").map(({ by }) => by)).toEqual(["person", "runtime"]);
    expect(inputOf(emulator, 1).at(-1)).toMatchObject({ role: "developer" });
    expect(emulator.report().totals.refused).toBe(0);
  });

  test("ends the turn as incomplete: empty_response if it happens twice", async () => {
    const { session } = await scriptedSession([{ output: [think("Only thinking")] }], {
      afterwards: "repeat",
    });
    expect(await session.send("go").result()).toMatchObject({
      status: "incomplete",
      reason: "empty_response",
      text: "",
      steps: 2,
    });
  });

  test("is not a refusal: a refusal is an answer", async () => {
    const { session } = await scriptedSession([{ output: [{ refusal: "I will not." }] }]);
    expect(await session.send("go").result()).toMatchObject({ status: "completed", text: "I will not." });
  });
});

describe("structured output", () => {
  const output = {
    type: "object",
    properties: { n: { type: "number" } },
    required: ["n"],
    additionalProperties: false,
  };

  test("that fits is the result's output", async () => {
    const { session, emulator } = await scriptedSession([{ output: [say('{"n": 7}')] }]);
    expect(await session.send("a number", { output }).result()).toMatchObject({
      status: "completed",
      output: { n: 7 },
    });
    const [exchange] = emulator.exchanges;
    expect(JSON.parse(exchange?.requestText ?? "")).toMatchObject({
      text: { format: { type: "json_schema", name: "output", strict: true, schema: output } },
    });
  });

  test("that does not fit is corrected once", async () => {
    const { session, emulator } = await scriptedSession([
      { output: [say('{"n": "x"}')] },
      { output: [say('{"n": 8}')] },
    ]);
    const { result, events } = await play(session.send("a number", { output }));
    expect(result).toMatchObject({ status: "completed", output: { n: 8 }, steps: 2 });
    const [, correction] = ofType(events, "user_message");
    expect(correction).toMatchObject({ by: "runtime" });
    expect(JSON.stringify(correction?.content)).toContain("does not fit the required format");
    expect(emulator.report().totals.refused).toBe(0);
  });

  test.each(["not json at all", "[1]", '{"n": "still not"}'])(
    "that does not fit twice fails the turn: %s",
    async (text) => {
      const { session } = await scriptedSession([{ output: [say(text)] }], { afterwards: "repeat" });
      const result = await session.send("a number", { output }).result();
      expect(result).toMatchObject({ status: "failed", steps: 2, error: { code: "output_invalid" } });
      expect(result).not.toHaveProperty("output");
    },
  );

  test("applies to its turn only", async () => {
    const { session, emulator } = await scriptedSession([
      { output: [say('{"n": 7}')] },
      { output: [say("free text")] },
    ]);
    await session.send("a number", { output }).result();
    expect(await session.send("anything").result()).toMatchObject({ status: "completed", text: "free text" });
    expect(JSON.parse(emulator.exchanges[1]?.requestText ?? "")).not.toHaveProperty("text");
  });
});

describe("settings that change in the middle of a turn", () => {
  test("take effect at the next step, by an event, and the request is accepted", async () => {
    const other: (() => void)[] = [];
    const { session, emulator, model } = await scriptedSession(
      [{ output: [think("First"), call("look", {})] }, { output: [say("from the other")] }],
      {
        tools: [
          anyTool("look", () => {
            for (const change of other) change();
            return "seen";
          }),
        ],
      },
    );
    other.push(() => void session.setModel(model("emu-other")));
    const { result, events } = await play(session.send("go"));
    expect(result).toMatchObject({ status: "completed", text: "from the other" });
    expect(ofType(events, "settings").map((event) => event.settings.target.model)).toEqual([
      "emu-reasoner",
      "emu-other",
    ]);
    expect(ofType(events, "response_start").map(({ origin }) => origin.model)).toEqual([
      "emu-reasoner",
      "emu-other",
    ]);
    expect(ofType(events, "response_start")[1]?.leftOut).toEqual([
      { reason: "foreign_origin", seqs: [[expect.any(Number), expect.any(Number)]] },
    ]);
    expect(emulator.report().totals.refused).toBe(0);
  });
});

describe("usage", () => {
  test("of a turn is the sum over all attempts, and that of the session the sum over all turns", async () => {
    const { session } = await scriptedSession(undefined, { clock: instantClock() });
    const first = await session.send("Hello").result();
    const second = await session.send("Hello again").result();
    expect(first.usage.inputTokens).toBeGreaterThan(0);
    expect(session.usage.inputTokens).toBe(first.usage.inputTokens + second.usage.inputTokens);
    const [end] = ofType(await history(session), "turn_end");
    expect(end).toMatchObject({ usage: first.usage, steps: 1, status: "completed" });
    expect(end?.durationMs).toBeGreaterThan(0);
  });
});
