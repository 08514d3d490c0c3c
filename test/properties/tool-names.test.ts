/**
 * Whatever name a model gives a tool: on every dialect, at home and abroad, the request breaks no rule, no call is sent
 * under the name of a declared tool that was not called, two names stay two, and one name has the same bytes in every
 * request.
 */

import fc from "fast-check";
import { expect, test } from "vitest";

import type { Settings } from "../../src/base/events/index.ts";
import { sendableToolName } from "../../src/base/support/index.ts";
import type { Answer } from "../contracts/dialects/speakers.ts";
import { bodyOf, settingsOf, SpokenLog } from "../contracts/dialects/spoken-log.ts";
import { runs } from "../support/runs.ts";

const HOMES = ["openai", "anthropic", "deepseek"] as const;
const TARGETS = [
  ...HOMES,
  "groq",
  "mistral",
  "openrouter",
  "generic-chat",
  "open-responses",
  "moonshot",
] as const;

const DECLARED = ["bump", "get_weather", "x".repeat(64)];

/** Names that models have really written, and arbitrary others; an answer with an empty name counts as cut. */
const name = fc
  .oneof(
    fc.constantFrom(...DECLARED, "functions.bump", "bump<|channel|>commentary", "bu mp", '""', "bump "),
    fc
      .constantFrom("bump", "get_weather")
      .chain((one) => fc.string({ maxLength: 4 }).map((end) => one + end)),
    fc.string({ unit: "binary", maxLength: 250 }),
    fc.string({ unit: fc.constantFrom("_", "-", "a", "."), minLength: 1, maxLength: 130 }),
    // Halves of a surrogate pair, as a stream that was cut inside a character leaves them.
    fc
      .array(fc.integer({ min: 0xd800, max: 0xdfff }), { maxLength: 3 })
      .map((codes) => String.fromCharCode(...codes)),
  )
  .filter((one) => one !== "");

const tool = (called: string): Settings["tools"][number] => ({
  name: called,
  description: "A tool.",
  parameters: { type: "object", properties: {} },
  strict: false,
});

/** The calls in the order of the request. */
function sentNames(body: Record<string, unknown>): readonly string[] {
  const names: string[] = [];
  for (const piece of (body["input"] ?? body["messages"]) as readonly Record<string, unknown>[]) {
    if (piece["type"] === "function_call") names.push(piece["name"] as string);
    const parts = [piece["content"], piece["tool_calls"]].flatMap((list) =>
      Array.isArray(list) ? list : [],
    );
    for (const part of parts as readonly Record<string, unknown>[]) {
      if (part["type"] === "tool_use") names.push(part["name"] as string);
      if (part["type"] === "function") names.push((part["function"] as { name: string }).name);
    }
  }
  return names;
}

const call = (called: string, n: number): Answer => ({
  pieces: [
    { kind: "thought", text: "Hm.", payload: "payload" },
    { kind: "call", id: `call_${n}`, name: called, arguments: "{}" },
  ],
  ending: "calls",
});

test("whatever the names, every request can be sent, every name stays distinct, and none changes", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...HOMES),
      fc.constantFrom(...TARGETS),
      fc.array(name, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (home, target, names, hostile) => {
        // A tool whose name equals a mapped name.
        const taken = hostile ? names.map((one) => sendableToolName(one, () => false)) : [];
        const tools = [...new Set([...DECLARED, ...taken])].map(tool);
        const maker = settingsOf(home, { tools });
        const reader = settingsOf(target, { tools });
        const log = new SpokenLog().user("Go.");
        let before: readonly string[] = [];
        for (const [n, one] of names.entries()) {
          log.answer(maker, call(one, n));
          const rendered = log.render(reader);
          expect(rendered.violations).toEqual([]);
          const sent = sentNames(bodyOf(rendered));
          expect(sent).toHaveLength(n + 1);
          expect(sent.slice(0, n)).toEqual(before);
          before = sent;
        }
        for (const [n, one] of names.entries()) {
          const sent = before[n] ?? "";
          expect(sent).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          const declared = tools.some((other) => other.name === sent);
          expect(declared).toBe(tools.some((other) => other.name === one));
          if (sent !== one) expect(/^[a-zA-Z0-9_-]{1,64}$/.test(one)).toBe(false);
          expect(names.map((other, at) => (before[at] === sent) === (other === one))).not.toContain(false);
        }
        // Removing a tool does not change names that can be sent unchanged.
        const bare = sentNames(bodyOf(log.render(settingsOf(target))));
        expect(bare.map((one, n) => (one === names[n] ? one : undefined))).toEqual(
          before.map((one, n) => (one === names[n] ? one : undefined)),
        );
      },
    ),
    runs(400),
  );
});
