/**
 * One world: an emulator, whatever stands in front of it, and a client with many conversations, one request after
 * another but for the bursts of siblings. A world is a function of its seed.
 *
 * @module
 */

import { isObject, type JsonObject, objectOf, tryParseJson } from "../../../src/base/support/index.ts";
import { type Emulator, type RecordedExchange, startEmulator } from "../../../src/emulator/index.ts";
import { type Random, randomFrom } from "../../chaos/random.ts";
import { type Break, breakHistory, BREAKS } from "./breaks.ts";
import { chat } from "./chat.ts";
import { ACCOUNTS, Conversation, type Plan } from "./conversation.ts";
import {
  barePlaceBefore,
  type Draft,
  exactBefore,
  type LossyDialect,
  placeBefore,
  placeOf,
  thoughtBefore,
} from "./dialect.ts";
import type { Exchange } from "./exchange.ts";
import { chooseSlip } from "./habits.ts";
import { Judge } from "./judge.ts";
import { messages } from "./messages.ts";
import { type Got, post } from "./post.ts";
import { responses } from "./responses.ts";
import { ScriptModel } from "./script-model.ts";
import type { Tally } from "./tally.ts";
import { openTarget, type Target, type TargetName } from "./targets.ts";
import { type Answer, type Thought, Truth } from "./truth.ts";

export const DIALECTS: readonly LossyDialect[] = [responses, messages, chat];

export interface WorldOptions {
  readonly seed: number;
  readonly index: number;
  readonly target: TargetName;
  /** Whether all conversations begin differently. */
  readonly unique: boolean;
  readonly requests: number;
  readonly tally: Tally;
  /** Dialects to speak. Default: all. */
  readonly dialects?: readonly LossyDialect[];
  /** Called with every exchange, judged. */
  readonly seen?: (exchange: Exchange) => void;
}

const EQUAL_OPENINGS = ["please help me", "please fix the bug in a.txt", "hi, please"];
const ACTIVE = 6;

export class World {
  readonly #options: WorldOptions;
  readonly #random: Random;
  readonly #model: ScriptModel;
  readonly #truth = new Truth();
  readonly #judge: Judge;
  readonly #arrived = new Map<string, RecordedExchange[]>();
  readonly #usedKeys = new Set<string>();
  #active: Conversation[] = [];
  #conversations = 0;
  #requests = 0;
  #emulator: Emulator | undefined;
  #target: Target | undefined;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#random = randomFrom(options.seed).fork(`world ${options.index}`);
    this.#model = new ScriptModel(this.#random.fork("model"));
    this.#judge = new Judge(this.#truth, options);
  }

  async run(): Promise<void> {
    this.#emulator = await startEmulator({
      mode: "strict",
      paceMs: 0,
      scenario: this.#model.scenario,
      accounts: ACCOUNTS,
      seed: `${this.#options.seed} ${this.#options.index}`,
      record: (entry) => this.#record(entry),
    });
    this.#target = await openTarget(this.#options.target, this.#emulator.url);
    try {
      while (this.#requests < this.#options.requests) await this.#step();
    } finally {
      await this.#target.close();
      await this.#emulator.close();
    }
  }

  #record(entry: RecordedExchange): void {
    const id = entry.headers["x-lossy-request"] ?? "";
    const known = this.#arrived.get(id);
    if (known === undefined) this.#arrived.set(id, [entry]);
    else known.push(entry);
  }

  async #step(): Promise<void> {
    const random = this.#random;
    this.#active = this.#active.filter(({ done }) => !done);
    while (this.#active.length < ACTIVE) this.#begin();
    if (random.chance(0.015)) {
      await this.#target?.restart();
      for (const one of this.#active) one.tags.add("restarted");
    }
    const one = random.pick(this.#active);
    const siblings = this.#active.filter(({ family }) => family !== undefined && family === one.family);
    if (siblings.length > 1 && random.chance(0.3)) {
      this.#model.wish = { kind: "any", light: true };
      await Promise.all(siblings.map((sibling) => this.#exchange(sibling, true)));
    } else await this.#exchange(one, false);
  }

  #begin(): void {
    const random = this.#random;
    const dialect = random.pick(this.#options.dialects ?? DIALECTS);
    const family = random.chance(0.2) ? `family ${this.#conversations}` : undefined;
    for (let sibling = 0; sibling < (family === undefined ? 1 : 3); sibling += 1) {
      const id = this.#conversations;
      this.#conversations += 1;
      const opening = this.#options.unique
        ? `please look after task ${this.#options.seed}-${this.#options.index}-${id}`
        : (EQUAL_OPENINGS[family === undefined ? id % EQUAL_OPENINGS.length : 0] ?? "");
      const own = random.fork(`conversation ${id}`);
      const shared = random.fork(family ?? `habits ${id}`);
      const { unique } = this.#options;
      this.#active.push(new Conversation({ id, dialect, random: own, shared, opening, unique, family }));
    }
  }

  async #exchange(conversation: Conversation, burst: boolean): Promise<void> {
    const request = this.#requests;
    this.#requests += 1;
    const plan = conversation.next();
    if (!burst) this.#model.wish = plan.wish;
    const { draft, mutations } = this.#mutated(conversation, plan, request);
    const body: JsonObject = {
      ...draft.head,
      [conversation.dialect.list]: draft.list,
      ...(plan.stream ? { stream: true } : {}),
    };
    const sentText = JSON.stringify(body);
    const name = `${this.#options.index}-${request}`;
    const got = await this.#send(conversation, plan, sentText, name);
    const attempts = await this.#attempts(name, got);
    const { dialect, model, account, key } = conversation;
    const exchange: Exchange = {
      seed: this.#options.seed,
      world: this.#options.index,
      request,
      conversation,
      dialect,
      model,
      account,
      freshKey: !this.#usedKeys.has(`${dialect.name} ${key}`),
      mutations: [...mutations, ...conversation.tags],
      thinkingOff: plan.thinkingOff,
      fault: plan.fault,
      body,
      sentText,
      sent: dialect.read(body),
      attempts,
      got,
      history: plan.entries,
    };
    if (got.status === 200) this.#usedKeys.add(`${dialect.name} ${key}`);
    this.#judge.judge(exchange);
    this.#take(exchange, plan);
    this.#options.seen?.(exchange);
    this.#arrived.delete(name);
  }

  #mutated(
    conversation: Conversation,
    plan: Plan,
    request: number,
  ): { readonly draft: Draft; readonly mutations: readonly string[] } {
    const { dialect, model, system, account } = conversation;
    const random = this.#random.fork(`request ${request}`);
    let draft = dialect.draft(plan.entries, { model, system });
    const mutations: string[] = [];
    if (plan.thinkingOff) {
      const names = Object.keys(model.head);
      const rest = Object.entries(draft.head).filter(([name]) => !names.includes(name));
      draft = { ...draft, head: { ...Object.fromEntries(rest), ...model.off } };
      mutations.push("thinking-off");
    }
    for (const habit of [...chooseSlip(random), ...conversation.habits]) {
      draft = habit.apply(draft, { dialect: dialect.name, random, clock: request });
      mutations.push(habit.name);
    }
    if (random.chance(0.06)) {
      const kind: Break = random.pick(BREAKS);
      const foreign = this.#truth.foreign({ dialect: dialect.name, account, model: model.id });
      const broken = breakHistory(kind, draft, { dialect: dialect.name, random, foreign });
      if (broken !== undefined) mutations.push(kind);
      draft = broken ?? draft;
    }
    return { draft, mutations };
  }

  #send({ dialect, key, id, via }: Conversation, plan: Plan, body: string, name: string): Promise<Got> {
    return post({
      url: `${this.#target?.url ?? ""}${dialect.path}`,
      headers: {
        ...dialect.headers(key),
        "x-emulator-conversation": `conversation ${id}`,
        "x-lossy-request": name,
        ...(plan.fault === undefined ? {} : { "x-emulator-fault": plan.fault }),
      },
      body,
      leaveAfter: plan.leaveAfter,
      via,
    });
  }

  /** The emulator reports an exchange when it has ended, which may be after the client left. */
  async #attempts(name: string, got: Got): Promise<readonly RecordedExchange[]> {
    for (let turn = 0; turn < 2000; turn += 1) {
      const known = this.#arrived.get(name) ?? [];
      if (known.some(({ status }) => status === got.status || got.status === 0)) return [...known];
      await new Promise((resolve) => setImmediate(resolve));
    }
    return this.#arrived.get(name) ?? [];
  }

  #take(exchange: Exchange, plan: Plan): void {
    const { conversation, got, dialect, sent } = exchange;
    const usable = got.events ?? got.body;
    if (got.status !== 200 || usable === undefined) {
      conversation.refused();
      return;
    }
    const assembled = dialect.assemble(
      got.events === undefined ? { body: objectOf(got.body) } : { events: got.events },
    );
    // What a client that left early did not see was issued all the same.
    const events = got.cut ? exchange.attempts.at(-1)?.events : undefined;
    const issued = events === undefined ? assembled : dialect.assemble({ events });
    const told = /I thought of (\d+)\./.exec(assembled.text)?.[1];
    const thoughts: Thought[] = [];
    const last = exchange.model.bound === true ? exchange.attempts.at(-1) : undefined;
    const arrived = last === undefined ? undefined : dialect.read(objectOf(tryParseJson(last.requestText)));
    const answer: Answer = {
      id: this.#truth.answers.length,
      conversation: conversation.id,
      request: exchange.request,
      dialect: dialect.name,
      model: exchange.model.id,
      account: exchange.account,
      pieces: assembled.pieces,
      thoughts,
      members: assembled.members,
      calls: assembled.calls,
      completed: assembled.completed && !got.cut,
      place: placeBefore(sent.slots, sent.slots.length),
      barePlace: barePlaceBefore(sent.slots, sent.slots.length),
      says: saysOf(dialect, issued.pieces),
      exactPlace: arrived === undefined ? "" : exactBefore(arrived, arrived.slots.length),
      thoughtBefore: arrived === undefined ? "" : thoughtBefore(arrived, arrived.slots.length),
      number: told === undefined ? numberIn(issued.thoughts) : Number(told),
      recalls: told !== undefined,
    };
    thoughts.push(...issued.thoughts.map((thought) => ({ ...thought, answer })));
    this.#truth.add(answer);
    if (told !== undefined) this.#judge.number(exchange, Number(told));
    conversation.took(plan, answer, assembled.text);
  }
}

/** Only as far as the thought can be read. */
function numberIn(thoughts: readonly { readonly text: string }[]): number | undefined {
  const found = thoughts.map(({ text }) => /^Thought (\d+)/.exec(text)?.[1]).find((one) => one !== undefined);
  return found === undefined ? undefined : Number(found);
}

/** The visible answer, as the judge reads it in a request. */
function saysOf(dialect: LossyDialect, pieces: readonly JsonObject[]): string {
  const list = dialect.name === "anthropic-messages" ? [{ role: "assistant", content: pieces }] : pieces;
  const { slots } = dialect.read({ [dialect.list]: list.filter(isObject) });
  return placeOf(slots.flatMap(({ kind, mark }) => (kind === "end" ? [] : [mark])));
}
