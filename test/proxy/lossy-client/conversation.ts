/**
 * One conversation of the client: its true history, and what its user does next. A person goes on, rewinds, edits,
 * regenerates, compacts, leaves early, and switches models and keys; the client answers the calls.
 *
 * @module
 */

import type { Random } from "../../chaos/random.ts";
import type { Entry, LossyDialect, ModelChoice } from "./dialect.ts";
import { chooseHabits, type Habit } from "./habits.ts";
import type { Wish } from "./script-model.ts";
import type { Answer } from "./truth.ts";

/** Two keys of one organisation, and one of another. */
export const ACCOUNTS: Readonly<Record<string, string>> = {
  "sk-first": "org-first",
  "sk-first-rotated": "org-first",
  "sk-second": "org-second",
};

export interface Plan {
  readonly entries: readonly Entry[];
  readonly wish: Wish;
  readonly stream: boolean;
  readonly leaveAfter: number | undefined;
  readonly fault: string | undefined;
  readonly thinkingOff: boolean;
  /** A regenerated answer that the person does not take: the earlier one stays. */
  readonly keepOld: boolean;
}

export interface ConversationOptions {
  readonly id: number;
  readonly dialect: LossyDialect;
  readonly random: Random;
  /** For what siblings have in common. */
  readonly shared: Random;
  /** Unique in worlds without twins. */
  readonly opening: string;
  readonly unique: boolean;
  /** Siblings: sub-agents of one parent, with the same habits and light calls only. */
  readonly family: string | undefined;
}

const USUAL_TEXTS = ["please go on", "next please", "yes please", "please try again", "ok, please continue"];
const RESULTS = ["ok", "contents of the file", "3 matches", "Error: no such file", "written"];
const MAX_REFUSALS = 3;

export class Conversation {
  readonly id: number;
  readonly dialect: LossyDialect;
  readonly family: string | undefined;
  readonly habits: readonly Habit[];
  readonly via: "fetch" | "http";
  readonly system = "You are a careful assistant. Use the tools.";
  /** What happened to its history so far. */
  readonly tags = new Set<string>();
  model: ModelChoice;
  key = "sk-first";
  history: readonly Entry[] = [];
  requests = 0;
  /** Whether one of its requests was refused and sent again: later ones may differ from what the client sent. */
  healed = false;
  done = false;
  readonly #options: ConversationOptions;
  readonly #random: Random;
  readonly #length: number;
  #refusals = 0;
  #loop = 0;
  #back: { readonly model?: ModelChoice; readonly key?: string; turns: number } | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.id = options.id;
    this.dialect = options.dialect;
    this.family = options.family;
    this.#random = options.random;
    const { shared } = options;
    this.model = shared.pick(options.dialect.models);
    this.habits = chooseHabits(shared, options.dialect.name);
    this.via = shared.chance(0.2) ? "fetch" : "http";
    this.#length = 5 + Math.floor(this.#random.next() * 14);
    if (options.family !== undefined) this.tags.add("sub-agent");
  }

  get account(): string {
    return ACCOUNTS[this.key] ?? "";
  }

  next(): Plan {
    const random = this.#random;
    this.requests += 1;
    const { entries, keepOld } = this.#nextEntries();
    const stream = random.chance(0.5);
    const leaves = stream && random.chance(0.06);
    return {
      entries,
      keepOld,
      stream,
      leaveAfter: leaves ? 2 + Math.floor(random.next() * 20) : undefined,
      fault: leaves ? undefined : this.#fault(stream),
      thinkingOff: this.model.off !== undefined && entries.at(-1)?.kind === "user" && random.chance(0.02),
      wish: this.#wish(entries),
    };
  }

  /** The answer arrived, whole or not. */
  took(plan: Plan, answer: Answer, text: string): void {
    this.#refusals = 0;
    this.#finishTurn();
    if (answer.completed && answer.members > 0) {
      this.#loop = answer.calls.length > 0 ? this.#loop + 1 : 0;
      if (!plan.keepOld) this.history = [...plan.entries, { kind: "answer", answer }];
      return;
    }
    this.tags.add("left-early");
    const part = text.slice(0, Math.floor(text.length * 0.7)).trimEnd();
    if (part !== "" && this.#random.chance(0.6)) {
      this.tags.add("partial-kept");
      this.history = [...plan.entries, { kind: "partial", answer, text: part }];
    } else {
      // Mistral accepts no user message after results.
      this.history = plan.entries.at(-1)?.kind === "results" ? this.history : plan.entries;
    }
  }

  /** Nothing usable came: the history stays as it was. */
  refused(): void {
    this.#refusals += 1;
    this.#finishTurn();
    if (this.#refusals >= MAX_REFUSALS) this.done = true;
  }

  #finishTurn(): void {
    if (this.requests >= this.#length) this.done = true;
    if (this.#back === undefined) return;
    this.#back.turns -= 1;
  }

  #nextEntries(): { readonly entries: readonly Entry[]; readonly keepOld: boolean } {
    const random = this.#random;
    const last = this.history.at(-1);
    if (last === undefined) return onwards([{ kind: "user", text: this.#options.opening }]);
    if (last.kind === "results") return onwards(this.history);
    if (last.kind === "answer" && random.chance(0.05)) return this.#regenerated();
    if (last.kind === "answer" && last.answer.calls.length > 0) {
      const texts = last.answer.calls.map(() => this.#result());
      return onwards([...this.history, { kind: "results", answer: last.answer, texts }]);
    }
    if (last.kind === "user" && random.chance(0.5)) return onwards(this.history);
    this.#switch();
    return onwards([...this.#changedHistory(), { kind: "user", text: this.#userText() }]);
  }

  #regenerated(): { readonly entries: readonly Entry[]; readonly keepOld: boolean } {
    this.tags.add("regenerated");
    return { entries: this.history.slice(0, -1), keepOld: this.#random.chance(0.5) };
  }

  /** What a person or the client does to the history between two turns. */
  #changedHistory(): readonly Entry[] {
    const random = this.#random;
    const users = this.history.flatMap(({ kind }, at) => (kind === "user" ? [at] : []));
    if (users.length < 2) return this.history;
    const at = random.pick(users.slice(1));
    const what = random.weighted({ nothing: 80, rewound: 5, edited: 5, compacted: 6, "cut-front": 3 });
    if (what === "nothing") return this.history;
    this.tags.add(what);
    if (what === "rewound") return this.history.slice(0, at);
    if (what === "edited")
      return [...this.history.slice(0, at), { kind: "user", text: `${this.#userText()} (edited)` }];
    const rest = this.history.slice(at);
    if (what === "cut-front") return rest;
    const name = this.#options.unique ? ` of ${this.#options.opening}` : "";
    return [{ kind: "user", text: `Summary${name}: ${at} messages so far, please continue.` }, ...rest];
  }

  #switch(): void {
    const random = this.#random;
    if (this.#back !== undefined) {
      if (this.#back.turns > 0) return;
      if (this.#back.model !== undefined) this.model = this.#back.model;
      if (this.#back.key !== undefined) this.key = this.#back.key;
      this.#back = undefined;
      return;
    }
    const what = random.weighted({ nothing: 92, model: 4, key: 4 });
    const turns = 1 + Math.floor(random.next() * 4);
    if (what === "model") {
      this.tags.add("model-switched");
      this.#back = { model: this.model, turns };
      const to = random.pick(this.model.others);
      this.model = this.dialect.models.find(({ id }) => id === to) ?? this.model;
    } else if (what === "key") {
      const to = random.pick(["sk-first-rotated", "sk-second", "sk-second"]);
      this.tags.add(to === "sk-second" ? "key-switched" : "key-rotated");
      this.#back = { key: this.key, turns };
      this.key = to;
    }
  }

  #userText(): string {
    const random = this.#random;
    const kind = random.weighted({ usual: 5, own: 4, number: 1, weather: 1 });
    // Without "please" the built-in model answers.
    if (kind === "number") return "Which number was it?";
    if (kind === "weather")
      return random.pick(["What is the weather in Paris?", "Compare the weather in Paris and Rome."]);
    if (kind === "usual") return random.pick(USUAL_TEXTS);
    return `please do part ${this.requests} of the work on ${this.id}, and tell me what you found`;
  }

  #result(): string {
    const own = this.family === undefined && this.#random.chance(0.4);
    return own ? `result ${this.requests} of ${this.id}` : this.#random.pick(RESULTS);
  }

  #wish(entries: readonly Entry[]): Wish {
    const light = this.family !== undefined;
    const user = entries.findLast(({ kind }) => kind === "user");
    const recalls = user?.kind === "user" && user.text.includes("number");
    if (this.#loop >= 4 || recalls) return { kind: "end", light };
    return { kind: light && this.#random.chance(0.6) ? "calls" : "any", light };
  }

  #fault(stream: boolean): string | undefined {
    const random = this.#random;
    if (!random.chance(0.03)) return undefined;
    const cut = `cut=after-event:${2 + Math.floor(random.next() * 10)}`;
    return random.pick(["incomplete=max_output_tokens,items:1", "429", "500", ...(stream ? [cut] : [])]);
  }
}

function onwards(entries: readonly Entry[]): {
  readonly entries: readonly Entry[];
  readonly keepOld: boolean;
} {
  return { entries, keepOld: false };
}
