/**
 * Counts what sessions used, from their facts: tokens, cost, tools, errors, and what was left out of requests and why. A
 * fork copies the events of its parent with their ids, so each id counts once. Pure.
 */

import type { LoggedEvent, ResponseEnd, ToolResult } from "../../../base/events/index.ts";
import type { RequestFacts, SessionFacts } from "../../../runtime/facts/index.ts";

export interface Amounts {
  requests: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  /** The cost of the requests whose price is known. */
  costUsd: number;
  /** The number of requests that used tokens and have no known price. */
  unpriced: number;
}

export interface ToolAmounts {
  calls: number;
  ok: number;
  failed: number;
  denied: number;
  ms: number;
}

export interface Loss {
  /** The number of items, each counted once per session. */
  items: number;
  requests: number;
}

export class Tally {
  /** The first day that counts, as `YYYY-MM-DD` in UTC. */
  readonly #from: string;
  readonly #seen = new Set<string>();
  sessions = 0;
  readonly total = nothing();
  readonly byDay = new Map<string, Amounts>();
  readonly byModel = new Map<string, Amounts>();
  readonly turns = new Map<string, number>();
  readonly tools = new Map<string, ToolAmounts>();
  readonly errors = new Map<string, number>();
  readonly losses = new Map<string, Loss>();

  constructor(from: string) {
    this.#from = from;
  }

  add(facts: SessionFacts): void {
    this.sessions += 1;
    const lost = new Map<string, Set<number>>();
    for (const request of facts.requests) {
      const { start, end, tools, imported } = request;
      if (imported) continue; // another program sent it, and ran its tools
      if (this.#counts(start)) this.#loss(request, lost);
      if (this.#counts(end)) this.#response(request, end);
      for (const tool of tools) if (this.#counts(tool.result)) this.#call(tool.call.name, tool.result);
    }
    for (const { end } of facts.turns.values()) if (this.#counts(end)) count(this.turns, end.status);
    for (const [reason, seqs] of lost) entry(this.losses, reason, noLoss).items += seqs.size;
  }

  /** True for an event in the period that no earlier session has counted. */
  #counts<E extends LoggedEvent>(event: E | undefined): event is E {
    if (event === undefined || event.at.slice(0, 10) < this.#from || this.#seen.has(event.id)) return false;
    this.#seen.add(event.id);
    return true;
  }

  #call(name: string, { status, durationMs = 0 }: ToolResult): void {
    const one = entry(this.tools, name, noCalls);
    one.calls += 1;
    one.ms += durationMs;
    if (status === "ok") one.ok += 1;
    else if (status === "denied") one.denied += 1;
    else one.failed += 1;
  }

  #response({ model, costUsd }: RequestFacts, { at, usage, error }: ResponseEnd): void {
    if (error !== undefined) count(this.errors, error.code);
    const amounts = [
      this.total,
      entry(this.byDay, at.slice(0, 10), nothing),
      entry(this.byModel, model, nothing),
    ];
    for (const one of amounts) {
      one.requests += 1;
      one.inputTokens += usage?.inputTokens ?? 0;
      one.cachedTokens += usage?.cachedTokens ?? 0;
      one.outputTokens += usage?.outputTokens ?? 0;
      one.reasoningTokens += usage?.reasoningTokens ?? 0;
      one.costUsd += costUsd ?? 0;
      one.unpriced += costUsd === undefined ? 1 : 0;
    }
  }

  #loss({ leftOut }: RequestFacts, lost: Map<string, Set<number>>): void {
    for (const { reason, seqs } of leftOut) {
      entry(this.losses, reason, noLoss).requests += 1;
      const items = entry(lost, reason, () => new Set<number>());
      for (const [first, last] of seqs) for (let seq = first; seq <= last; seq += 1) items.add(seq);
    }
  }
}

function nothing(): Amounts {
  return {
    requests: 0,
    inputTokens: 0,
    cachedTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    costUsd: 0,
    unpriced: 0,
  };
}

const noCalls = (): ToolAmounts => ({ calls: 0, ok: 0, failed: 0, denied: 0, ms: 0 });
const noLoss = (): Loss => ({ items: 0, requests: 0 });

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

function count(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}
