/**
 * One model's answers in requests to every other model: verbatim at home, plain meaning abroad, nothing opaque anywhere
 * else.
 */

import { describe, expect, test } from "vitest";

import type { Settings } from "../../../src/base/events/index.ts";
import type { Answer, Piece } from "./speakers.ts";
import { bodyOf, messagesOf, settingsOf, SpokenLog } from "./spoken-log.ts";

const CANARY = "canary-payload-0123456789";
const thought = (text: string): Piece => ({ kind: "thought", text, payload: CANARY });
const looked: Answer = {
  pieces: [
    thought("I should look it up."),
    { kind: "call", id: "call_1", name: "get_weather", arguments: '{ "city": "Paris" }' },
  ],
  ending: "calls",
};
const said: Answer = { pieces: [thought("It is sunny."), { kind: "text", text: "Sunny." }], ending: "stop" };

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

function conversation(home: Settings): SpokenLog {
  return new SpokenLog().user("Weather in Paris?").answer(home, looked).answer(home, said).user("And Rome?");
}

describe.each(HOMES)("an answer by %s", (home) => {
  const settings = settingsOf(home);

  test("goes back home with the exact payload of every thought, and breaks no rule", () => {
    const rendered = conversation(settings).render(settings);
    const body = Buffer.concat(rendered.body).toString("utf8");
    expect(rendered.violations).toEqual([]);
    if (home === "deepseek") expect(body.split('"reasoning_content":"I should look it up."')).toHaveLength(2);
    else expect(body.split(CANARY)).toHaveLength(3);
    expect(body).toContain("Sunny.");
  });

  test.each(TARGETS.filter((target) => target !== home))(
    "goes to %s as plain meaning and breaks no rule",
    (target) => {
      const rendered = conversation(settings).render(settingsOf(target));
      const body = Buffer.concat(rendered.body).toString("utf8");
      expect(rendered.violations).toEqual([]);
      expect(body).not.toContain(CANARY);
      expect(body).not.toContain("I should look it up.");
      expect(body).not.toContain("It is sunny.");
      for (const word of ["Weather in Paris?", "Sunny.", "get_weather", "result of call_1", "And Rome?"])
        expect(body).toContain(word);
    },
  );

  test.each(TARGETS)("can be taken over by %s in the middle of a tool loop", (target) => {
    const other = settingsOf(target);
    const rendered = new SpokenLog().user("Weather?").answer(settings, looked).render(other);
    expect(rendered.violations).toEqual([]);
    if (target === "anthropic" && home !== "anthropic") {
      expect(bodyOf(rendered)["thinking"]).toEqual({ type: "disabled" });
      expect(rendered.remarks.map(({ code }) => code)).toEqual(["thinking_off"]);
    }
    if ((target === "deepseek" || target === "moonshot") && home !== target) {
      expect(bodyOf(rendered)["thinking"]).toEqual({ type: "disabled" });
    }
  });

  test.each(HOMES.filter((other) => other !== home))(
    "sends its thoughts again when the session returns from %s",
    (other) => {
      const abroad = settingsOf(other);
      const log = conversation(settings).answer(abroad, said).user("And back?");
      const rendered = log.render(settings);
      const body = Buffer.concat(rendered.body).toString("utf8");
      expect(rendered.violations).toEqual([]);
      if (home === "deepseek") expect(body).toContain("I should look it up.");
      else expect(body.split(CANARY)).toHaveLength(3);
    },
  );

  test("carries its readable summary under the note policy, marked, and never in the assistant's voice", () => {
    const target = home === "anthropic" ? "openai" : "anthropic";
    const rendered = conversation(settings).render(settingsOf(target, { foreign: "note" }));
    expect(rendered.violations).toEqual([]);
    const notes = messagesOf(rendered).filter((one) =>
      JSON.stringify(one).includes("summarised its reasoning"),
    );
    expect(notes).toHaveLength(2);
    expect(notes.map((one) => one["role"])).not.toContain("assistant");
    expect(Buffer.concat(rendered.body).toString("utf8")).not.toContain(CANARY);
  });

  test("gives the same bytes for the same prefix, step by step", () => {
    const log = new SpokenLog().user("Weather?");
    const before = prefix(log, settings);
    log.answer(settings, looked);
    const middle = prefix(log, settings);
    log.answer(settings, said).user("More.");
    expect(middle.startsWith(before)).toBe(true);
    expect(prefix(log, settings).startsWith(middle)).toBe(true);
  });
});

/** The head and the elements of the body: everything but its tail. */
function prefix(log: SpokenLog, settings: Settings): string {
  return Buffer.concat(log.render(settings).body.slice(0, 2)).toString("utf8");
}
