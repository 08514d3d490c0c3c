/**
 * Simulated traffic of one account, for measuring how well answers are known again: conversations with short, repetitive
 * texts, and clients that lose, change and reorder. Every element of a request remembers which answer it really is.
 */

import { canonicalJson } from "../../../src/proxy/marks/index.ts";

/** A seeded source of chance (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  is(share: number): boolean {
    return this.next() < share;
  }
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** An answer of the model. Its number stands for its thought. */
export interface Answer {
  readonly number: number;
  readonly text: string;
  readonly calls: readonly Call[];
  /** The ledger has it: it was complete, and the proxy saw it. */
  readonly recorded: boolean;
}

export type Turn =
  | { readonly is: "user"; readonly text: string }
  | { readonly is: "answer"; readonly answer: Answer }
  | { readonly is: "result"; readonly id: string; readonly text: string };

/** A message of a chat request, and the answer that it is. */
export interface Sent {
  readonly value: Readonly<Record<string, unknown>>;
  readonly answer?: Answer;
}

const SHORT = ["OK", "Done.", "Yes", "Let me look.", "I see.", "Now the next one.", "That worked.", "No."];
const LONG = [
  "The file holds the settings of the server, and the port is the one that you asked about.",
  "I changed the function so that it returns early, and the tests pass now on both versions.",
];
const USERS = [
  "hi",
  "go on",
  "continue",
  "yes",
  "read the file",
  "fix it",
  "and now?",
  "what is wrong here",
  "try again",
];
const PATHS = ["a.txt", "b.txt", "src/main.ts", "package.json"];
const TOOLS = ["read", "list", "run"];

let answers = 0;

export function newAnswer(
  chance: Chance,
  repeatingIds: boolean,
  position: number,
  recorded: boolean,
): Answer {
  answers += 1;
  const withCalls = chance.is(0.55);
  const text =
    withCalls && chance.is(0.6)
      ? ""
      : chance.is(0.75)
        ? chance.one(SHORT)
        : `${chance.one(LONG)} ${chance.below(3)}`;
  const count = withCalls ? (chance.is(0.25) ? 2 : 1) : 0;
  const calls = Array.from({ length: count }, (_, index): Call => ({
    id: repeatingIds ? `${chance.one(TOOLS)}:${position + index}` : `call_${randomId(chance)}`,
    name: chance.one(TOOLS),
    args: chance.is(0.7)
      ? { path: chance.one(PATHS) }
      : { path: chance.one(PATHS), lines: chance.below(50), deep: { b: 1, a: [1, 2] } },
  }));
  return { number: answers, text: text === "" && count === 0 ? "OK" : text, calls, recorded };
}

function randomId(chance: Chance): string {
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return Array.from({ length: 20 }, () => letters[chance.below(letters.length)]).join("");
}

export function resultsOf({ calls }: Answer, chance: Chance): readonly Turn[] {
  return calls.map(({ id }) => ({
    is: "result",
    id,
    text: chance.is(0.5)
      ? "ok"
      : chance.is(0.5)
        ? `content of ${chance.one(PATHS)}`
        : `line ${chance.below(1000)}`,
  }));
}

export function userTurn(chance: Chance, unique: boolean): Turn {
  return { is: "user", text: unique ? `${chance.one(USERS)} ${randomId(chance)}` : chance.one(USERS) };
}

/** How a client treats its history, for as long as it lives. */
export interface Habits {
  readonly reserialises: boolean;
  readonly renamesIds: "no" | "hashed" | "counted";
  readonly reminder:
    | "none"
    | "wrapped last"
    | "clock everywhere"
    | "clock last"
    | "words last"
    | "words everywhere"
    | "system clock";
  readonly clearsAfter: number;
  readonly compacts: boolean;
  readonly splits: boolean;
}

export function newHabits(chance: Chance): Habits {
  return {
    reserialises: chance.is(0.4),
    renamesIds: chance.is(0.7) ? "no" : chance.is(0.5) ? "hashed" : "counted",
    reminder: chance.is(0.5)
      ? "none"
      : chance.one([
          "wrapped last",
          "clock everywhere",
          "clock last",
          "words last",
          "words everywhere",
          "system clock",
        ] as const),
    clearsAfter: chance.is(0.25) ? 3 : Number.POSITIVE_INFINITY,
    compacts: chance.is(0.2),
    splits: chance.is(0.15),
  };
}

/** What such a client sends of its history, without any thought. */
export function sentBy(habits: Habits, turns: readonly Turn[], chance: Chance): readonly Sent[] {
  const cut = habits.compacts && turns.length > 12 ? compacted(turns, chance) : turns;
  const sent: Sent[] = [];
  const ids = new Map<string, string>();
  let counted = 0;
  const named = (id: string, isNew: boolean): string => {
    if (habits.renamesIds === "no") return id;
    if (isNew || !ids.has(id)) {
      counted += 1;
      ids.set(id, habits.renamesIds === "counted" ? `call_${counted}` : `call_h${counted}${id.length}zz`);
    }
    return ids.get(id) ?? id;
  };
  const system = habits.reminder === "system clock" ? `Be brief. It is ${clock(chance)}.` : "Be brief.";
  sent.push({ value: { role: "system", content: system } });
  const lastUser = cut.findLastIndex(({ is }) => is === "user");
  const results = cut.filter(({ is }) => is === "result").length;
  let result = 0;
  for (const [index, turn] of cut.entries()) {
    if (turn.is === "user")
      sent.push({
        value: { role: "user", content: reminded(turn.text, habits, index === lastUser, chance) },
      });
    else if (turn.is === "result") {
      result += 1;
      const cleared = results - result >= habits.clearsAfter;
      sent.push({
        value: {
          role: "tool",
          tool_call_id: named(turn.id, false),
          content: cleared ? "[cleared]" : turn.text,
        },
      });
    } else sent.push(...assistant(turn.answer, habits, named, chance));
  }
  return sent;
}

function assistant(
  answer: Answer,
  habits: Habits,
  named: (id: string, isNew: boolean) => string,
  chance: Chance,
): readonly Sent[] {
  const calls = answer.calls.map(({ id, name, args }) => ({
    id: named(id, true),
    type: "function",
    function: { name, arguments: habits.reserialises ? written(args, chance) : JSON.stringify(args) },
  }));
  if (habits.splits && answer.text !== "" && calls.length > 0)
    return [
      { value: { role: "assistant", content: answer.text }, answer },
      { value: { role: "assistant", content: null, tool_calls: calls }, answer },
    ];
  const content =
    answer.text === "" ? null : habits.splits ? [{ type: "text", text: `${answer.text}\n` }] : answer.text;
  return [
    { value: { role: "assistant", content, ...(calls.length > 0 ? { tool_calls: calls } : {}) }, answer },
  ];
}

function written(args: Readonly<Record<string, unknown>>, chance: Chance): string {
  return chance.is(0.5) ? canonicalJson(args) : JSON.stringify(args, null, 1);
}

function clock(chance: Chance): string {
  return `2026-11-${10 + chance.below(19)} ${chance.below(24)}:${10 + chance.below(49)}:${10 + chance.below(49)}`;
}

function reminded(text: string, { reminder }: Habits, isLast: boolean, chance: Chance): string {
  if (reminder === "clock everywhere" || (reminder === "clock last" && isLast))
    return `${text}\nCurrent time: ${clock(chance)}`;
  if (reminder === "wrapped last" && isLast)
    return `${text}\n<system-reminder>The time is ${clock(chance)}, ${chance.one(USERS)}</system-reminder>`;
  if (reminder === "words everywhere" || (reminder === "words last" && isLast))
    return `${text}\nContext: ${chance.one(USERS)} ${chance.one(SHORT)} ${chance.below(99)}`;
  return text;
}

function compacted(turns: readonly Turn[], chance: Chance): readonly Turn[] {
  const from = turns.findIndex(({ is }, index) => index >= turns.length - 10 && is === "user");
  if (from < 1) return turns;
  return [{ is: "user", text: `Summary: ${chance.one(USERS)}` }, ...turns.slice(from)];
}
