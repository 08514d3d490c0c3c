/**
 * One request, judged and answered: parse → faults → judge → model or scenario → items → events → script.
 * Pure of sockets; the HTTP layer plays what comes out and reports back how it ended.
 *
 * @module
 */

import {
  type Clock,
  isObject,
  jsonDepth,
  type JsonObject,
  objectOf,
  stringOf,
  tryParseJson,
} from "../support/index.ts";
import { accountOf } from "./accounts.ts";
import type { Fault } from "./faults/fault.ts";
import { type ContextItem, prefixChain } from "./judge/context.ts";
import { type HistoryAnswer, judgeHistory } from "./judge/history.ts";
import { checkItemShape } from "./judge/item-shape.ts";
import {
  contextTooLong,
  malformedJson,
  previousNotFound,
  previousNotRetained,
  type Refusal,
} from "./judge/refusal.ts";
import { type ParsedRequest, parseRequest } from "./judge/request-shape.ts";
import { Ledger } from "./ledger.ts";
import { familyOf, type ModelTraits, traitsOf } from "./model-traits.ts";
import { PromptCache } from "./output/usage.ts";
import type { Scenario } from "./scenario/scenario.ts";
import { Seal, type Sealed } from "./seal.ts";
import { ResponseStore } from "./store.ts";
import { defaultSwitches, type Switches } from "./switches.ts";

export interface EngineOptions {
  readonly mode: "strict" | "lenient";
  readonly switches: Partial<Switches>;
  readonly scenario: Scenario | undefined;
  readonly models: Readonly<Record<string, Partial<ModelTraits>>>;
  readonly accounts: Readonly<Record<string, string>> | undefined;
  readonly secret: string;
  readonly seed: string | undefined;
  readonly clock: Clock;
}

/** Everything that is kept between requests. */
export class Engine {
  readonly options: EngineOptions;
  readonly switches: Switches;
  readonly seal: Seal;
  readonly ledger = new Ledger();
  readonly store = new ResponseStore();
  readonly cache: PromptCache;
  readonly strict: boolean;
  /** The step of the scenario that comes next. */
  scenarioStep = 0;
  readonly #faults: Fault[] = [];

  constructor(options: EngineOptions) {
    this.options = options;
    this.switches = { ...defaultSwitches, ...options.scenario?.switches, ...options.switches };
    this.strict = options.mode === "strict";
    this.seal = new Seal({
      secret: options.secret,
      ...(options.seed === undefined ? {} : { seed: options.seed }),
    });
    this.cache = new PromptCache(this.switches.cacheMinimumTokens);
  }

  addFaults(faults: readonly Fault[]): void {
    this.#faults.push(...faults);
  }

  takeFault(): readonly Fault[] {
    const next = this.#faults.shift();
    return next === undefined ? [] : [next];
  }

  account(headers: Readonly<Record<string, string>>): { readonly organisation: string } | Refusal {
    return accountOf({
      authorization: headers["authorization"],
      organisationHeader: headers["openai-organization"],
      accounts: this.options.accounts,
      strict: this.strict,
    });
  }

  traitsOf(model: string): ModelTraits | undefined {
    return traitsOf(model, { ...this.options.scenario?.models, ...this.options.models });
  }

  seconds(): number {
    return Math.floor(this.options.clock.now() / 1000);
  }
}

/** A request that passed everything up to the rules about its history. */
export interface Judged {
  readonly request: ParsedRequest;
  readonly account: string;
  readonly conversation: string;
  readonly context: readonly ContextItem[];
  readonly chain: readonly string[];
  readonly history: HistoryAnswer;
  /** All refusals a strict server could have answered with, most important first. */
  readonly refusals: readonly Refusal[];
}

/** Deeper JSON than any client sends; recursion further down relies on it. */
const maxDepth = 256;

export function readRequest(engine: Engine, text: string): ParsedRequest | Refusal {
  const body = text.trim() === "" || jsonDepth(text) > maxDepth ? undefined : tryParseJson(text);
  if (body === undefined) return malformedJson();
  return parseRequest({ body, text, traitsOf: (model) => engine.traitsOf(model) });
}

export function judgeRequest(
  engine: Engine,
  request: ParsedRequest,
  options: { readonly account: string; readonly conversationHeader: string | undefined },
): Judged | Refusal {
  const { switches, seal, store } = engine;
  const { account } = options;
  const refusals: Refusal[] = [];
  for (const [index, { item }] of request.input.entries()) {
    const wrong = checkItemShape(item, index, {
      switches,
      isOurs: (id) => seal.readId(id) !== undefined,
    });
    if (wrong !== undefined) refusals.push(wrong);
  }
  const before = previousItems(engine, request, account);
  if ("rule" in before) return before;
  const own = store.resolve(request.input, {
    account,
    seal,
    store: request.store,
    retained: !switches.zeroDataRetention,
  });
  if ("rule" in own) return refusals[0] ?? own;
  const context = [...before, ...own];
  const head = switches.prefixCovers === "input" ? "" : request.head;
  const chain = prefixChain(
    head,
    context.map(({ item }) => item),
  );
  const history = judgeHistory({
    context,
    chain,
    model: request.model,
    traits: request.traits,
    account,
    store: request.store && !switches.zeroDataRetention,
    switches,
    seal,
  });
  const conversation = engine.ledger.conversationOf(
    options.conversationHeader ?? stringOf(request.body["prompt_cache_key"]),
    context,
  );
  return {
    request,
    account,
    conversation,
    context,
    chain,
    history,
    refusals: [...refusals, ...history.refusals],
  };
}

function previousItems(
  engine: Engine,
  request: ParsedRequest,
  account: string,
): readonly ContextItem[] | Refusal {
  const id = stringOf(request.body["previous_response_id"]);
  if (id === undefined) return [];
  if (engine.switches.zeroDataRetention) return previousNotRetained();
  return engine.store.chain(id, account, engine.seal) ?? previousNotFound(id);
}

/** Would the judge take this reasoning in this request, if it stood in its place? */
export function fitsHere(
  engine: Engine,
  judged: Judged,
): (sealed: Sealed, prefix: string | undefined) => boolean {
  const { request, account } = judged;
  const { modelBinding, prefixBinding } = engine.switches;
  const bound = prefixBinding === "model" ? request.traits.prefixBound : prefixBinding !== "off";
  return (sealed, prefix) => {
    if (!request.traits.reasoning || sealed.account !== account) return false;
    if (modelBinding === "exact" && sealed.model !== request.model) return false;
    if (modelBinding === "family" && familyOf(sealed.model) !== familyOf(request.model)) return false;
    return !bound || sealed.prefix === prefix;
  };
}

export function tooLong(request: ParsedRequest, tokens: number): Refusal | undefined {
  return tokens > request.traits.contextTokens ? contextTooLong() : undefined;
}

export function formatOf(body: JsonObject): JsonObject {
  const format = objectOf(body["text"])["format"];
  return isObject(format) ? format : { type: "text" };
}
