/**
 * Enforces `maxCostUsd` and `maxSessionCostUsd`. Adds up what the turn and the session have cost, each request at the
 * price of the model that answered it, with the sub-agents that its calls ran. A limit is checked between requests, because the cost of a request is known only
 * when it has ended.
 */

import type { ErrorInfo, SessionStart } from "../../base/events/index.ts";
import type { CostOf, RequestFacts } from "../facts/index.ts";
import { factsOfTurn, type TurnContext } from "./context.ts";

/** How a turn ends that may send no further request, and what its unanswered calls are told. */
export interface OverBudget {
  readonly ending: {
    readonly status: "incomplete" | "failed";
    readonly reason?: string;
    readonly error?: ErrorInfo;
  };
  readonly why: string;
}

export class Budget {
  readonly #context: TurnContext;
  readonly #turn = new Sum();
  readonly #session = new Sum();

  constructor(context: TurnContext) {
    this.#context = context;
  }

  /** Undefined while another request may be sent. Without a price a limit cannot be enforced, so nothing is sent. */
  over(): OverBudget | undefined {
    const { maxCostUsd, maxSessionCostUsd } = this.#context.limits;
    if (maxCostUsd === undefined && maxSessionCostUsd === undefined) return undefined;
    const { model } = this.#context.setup();
    const limit = maxCostUsd === undefined ? "maxSessionCostUsd" : "maxCostUsd";
    if (model.price === undefined) return unknownPrice(model.label, limit);
    return this.#turnOver(maxCostUsd) ?? this.#sessionOver(maxSessionCostUsd);
  }

  /** What a sub-agent of the running step may cost at most. Undefined if there is no limit. */
  left(): number | undefined {
    const { maxCostUsd, maxSessionCostUsd } = this.#context.limits;
    this.over();
    const left = Math.min(
      (maxCostUsd ?? Number.POSITIVE_INFINITY) - this.#turn.usd,
      (maxSessionCostUsd ?? Number.POSITIVE_INFINITY) - this.#session.usd,
    );
    return Number.isFinite(left) ? left : undefined;
  }

  #turnOver(limit: number | undefined): OverBudget | undefined {
    if (limit === undefined) return undefined;
    this.#turn.add(factsOfTurn(this.#context).requests, this.#context);
    if (this.#turn.unknown !== undefined) return unknownPrice(this.#turn.unknown, "maxCostUsd");
    if (this.#turn.usd < limit) return undefined;
    return {
      ending: { status: "incomplete", reason: "max_cost" },
      why: `the turn reached its limit of ${limit} USD`,
    };
  }

  #sessionOver(limit: number | undefined): OverBudget | undefined {
    if (limit === undefined) return undefined;
    const { requests, start } = this.#context.live.facts;
    this.#session.add(requests, this.#context, (request) => !isInherited(request, start));
    if (this.#session.unknown !== undefined) return unknownPrice(this.#session.unknown, "maxSessionCostUsd");
    if (this.#session.usd < limit) return undefined;
    const message = `the session has cost ${usd(this.#session.usd)} USD, and its limit is ${limit} USD. Raise the limit (maxSessionCostUsd, --max-cost), or start a new session`;
    return {
      ending: { status: "incomplete", reason: "max_cost", error: { code: "max_cost", message } },
      why: `the session reached its limit of ${limit} USD`,
    };
  }
}

/**
 * What a list of requests and their sub-agents have cost. The list grows; only its last request can still change, while
 * its calls run.
 */
class Sum {
  #counted = 0;
  #settled = 0;
  usd = 0;
  /** The first model or sub-agent whose price is not known. */
  unknown: string | undefined;

  add(
    requests: readonly RequestFacts[],
    { costOf }: Pick<TurnContext, "costOf">,
    counts: (request: RequestFacts) => boolean = () => true,
  ): void {
    this.usd = this.#settled;
    for (const [at, request] of requests.slice(this.#counted).entries()) {
      const cost = counts(request) ? this.#costOf(request, costOf) : 0;
      this.usd += cost;
      if (this.#counted + at === requests.length - 1) continue;
      this.#settled += cost;
    }
    this.#counted = Math.max(0, requests.length - 1);
  }

  #costOf({ end, start, model, tools }: RequestFacts, costOf: CostOf): number {
    const own = end?.usage === undefined ? 0 : costOf(start.origin, end.usage);
    if (own === undefined) this.unknown ??= model;
    let sum = own ?? 0;
    for (const { session, costUsd } of tools.flatMap(({ result }) => result?.spent ?? [])) {
      if (costUsd === undefined) this.unknown ??= `the sub-agent ${session}`;
      sum += costUsd ?? 0;
    }
    return sum;
  }
}

/**
 * Whether a fork copied the request from its parent, which paid for it. A fork is written as a whole by one writer, so
 * all it copied has the epoch of its first event.
 */
function isInherited({ start }: RequestFacts, first: SessionStart | undefined): boolean {
  return first?.parent !== undefined && !("call" in first.parent) && start.epoch === first.epoch;
}

function unknownPrice(model: string, limit: string): OverBudget {
  const message = `the price of ${model} is not known, so ${limit} cannot be enforced. Omit the limit, or give the model a price (its option price, or prices in the settings)`;
  return { ending: { status: "failed", error: { code: "price_unknown", message } }, why: message };
}

/** At least two decimals, as prices are written, and no more than the amount has. */
function usd(amount: number): string {
  const rounded = Math.round(amount * 1e6) / 1e6;
  const decimals = String(rounded).split(".")[1]?.length ?? 0;
  return decimals === 1 ? rounded.toFixed(2) : String(rounded);
}
