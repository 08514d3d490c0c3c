/**
 * What the emulated model says. Every thought is unique, in its text and in its notes, while the visible answers repeat
 * on purpose: short texts, light calls. So a thought in a wrong turn always shows.
 *
 * The replies are steps of an endless scenario. A user message without the word "please" is answered by the built-in
 * model, which can be asked for the number in its notes.
 *
 * @module
 */

import type { Scenario, ScenarioStep } from "../../../src/emulator/index.ts";
import type { Random } from "../../chaos/random.ts";

type Draft = ScenarioStep["output"][number];

/** What the client would like next; the model decides the rest. */
export interface Wish {
  /** `end`: a text, so that a tool loop ends. */
  readonly kind: "any" | "end" | "calls" | "number";
  /** Only texts and calls that many other answers have too. */
  readonly light: boolean;
}

const LIGHT_TEXTS = [
  "Done.",
  "OK.",
  "Yes.",
  "I have read it.",
  "Here you are.",
  "Nothing to do here.",
] as const;

const LIGHT_CALLS = [
  ["read_file", { path: "a.txt" }],
  ["read_file", { path: "b.txt" }],
  ["list_files", { path: "." }],
  ["read_file", { path: "a.txt", line: 1 }],
] as const;

export class ScriptModel {
  readonly scenario: Scenario;
  /** Set before each request. */
  wish: Wish = { kind: "any", light: false };
  readonly #random: Random;
  #replies = 0;

  constructor(random: Random) {
    this.#random = random;
    const steps = new Proxy<ScenarioStep[]>([], {
      // Its length stays 0: the emulator asks for one step by its number, and lists the steps only to find odd items.
      get: (target, key, receiver) =>
        typeof key === "string" && /^\d+$/.test(key)
          ? this.#step()
          : (Reflect.get(target, key, receiver) as unknown),
    });
    this.scenario = { name: "lossy client", steps, afterwards: "model", switches: {}, models: {} };
  }

  #step(): ScenarioStep {
    return { when: "please", faults: [], output: this.#reply() };
  }

  #reply(): readonly Draft[] {
    const random = this.#random;
    this.#replies += 1;
    const number = 100_000 + this.#replies;
    const light = this.wish.light || random.chance(0.4);
    const thought = (part: string): Draft => this.#thought(`${number}${part}`, number);
    const { kind } = this.wish;
    if (kind === "number") return [thought(""), this.#text("I have thought of a number.")];
    const calls = kind === "calls" || (kind === "any" && random.chance(0.5));
    if (!calls) return [thought(""), this.#text(light ? random.pick(LIGHT_TEXTS) : heavyText(number))];
    const count = random.chance(0.3) ? 2 + Math.floor(random.next() * 2) : 1;
    const made = Array.from({ length: count }, (_, index) => this.#call(light, number, index));
    if (count > 1 && random.chance(0.3)) {
      return made.flatMap((call, index) => [thought(String.fromCodePoint(97 + index)), call]);
    }
    const words = random.chance(0.25) ? [this.#text(light ? "Let me look." : heavyText(number))] : [];
    return [thought(""), ...words, ...made];
  }

  #thought(name: string, number: number): Draft {
    const random = this.#random;
    const text = `Thought ${name}: I weigh what I know before I answer.`;
    const second = random.chance(0.3) ? [`Second part of ${name}.`] : [];
    return {
      type: "reasoning",
      summary: random.chance(0.1) ? [] : [text, ...second],
      text: [text, ...second].join("\n\n"),
      notes: JSON.stringify({ about: name, number }),
      ...(random.chance(0.06) ? { redacted: true } : {}),
    };
  }

  #text(text: string): Draft {
    return { type: "message", text, phase: "final_answer" };
  }

  #call(light: boolean, number: number, index: number): Draft {
    const random = this.#random;
    const [name, value] = light
      ? random.pick(LIGHT_CALLS)
      : random.pick([
          ["search_files", { pattern: `needle "${number}" in the häystack`, limit: 5 + index }],
          [
            "write_file",
            { path: `out/${number}-${index}.txt`, content: `line one\n\tline "two" of ${number}\u2028` },
          ],
        ] as const);
    const text = JSON.stringify(value);
    return { type: "function_call", name, arguments: random.chance(0.2) ? spaced(text) : text };
  }
}

function heavyText(number: number): string {
  return `The work on step ${number} is finished, and I checked the outcome twice before I wrote this down.`;
}

/** Some models write a space after each colon. */
function spaced(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 1).replaceAll(/\n\s*/g, " ");
}
