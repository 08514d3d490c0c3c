/**
 * What sessions used, counted from their events: tokens, cost, tools, errors, and what was left out of requests and why.
 * A fork copies the events of its parent with their ids, so each id counts once. Pure.
 *
 * @module
 */

import type { LoggedEvent, Origin, ResponseEnd, ResponseStart, Usage } from "../../../base/events/index.ts";
import { leftOutOf } from "../timeline.ts";

export interface Amounts {
  requests: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  /** Of the requests whose price is known. */
  costUsd: number;
  /** Requests with tokens and without a known price. */
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
  /** Items, each counted once per session. */
  items: number;
  requests: number;
}

/** Dollars, or undefined where no price is known. */
export type CostOf = (origin: Origin, usage: Usage) => number | undefined;

export class Tally {
  readonly #costOf: CostOf;
  /** `YYYY-MM-DD`, UTC: the first day that counts. */
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

  constructor(costOf: CostOf, from: string) {
    this.#costOf = costOf;
    this.#from = from;
  }

  add(events: readonly LoggedEvent[]): void {
    this.sessions += 1;
    const starts = new Map<string, ResponseStart>();
    const names = new Map<string, string>();
    const lost = new Map<string, Set<number>>();
    for (const event of events) {
      if (event.type === "response_start") starts.set(event.response, event);
      if (event.type === "tool_call") names.set(event.callId, event.name);
      if (event.at.slice(0, 10) < this.#from || this.#seen.has(event.id)) continue;
      this.#seen.add(event.id);
      if (event.type === "response_start") this.#loss(event, events, lost);
      if (event.type === "response_end") this.#response(event, starts.get(event.response));
      if (event.type === "turn_end") count(this.turns, event.status);
      if (event.type === "tool_result") {
        const one = entry(this.tools, names.get(event.callId) ?? "(unknown)", noCalls);
        one.calls += 1;
        one.ms += event.durationMs ?? 0;
        if (event.status === "ok") one.ok += 1;
        else if (event.status === "denied") one.denied += 1;
        else one.failed += 1;
      }
    }
    for (const [reason, seqs] of lost) entry(this.losses, reason, noLoss).items += seqs.size;
  }

  #response(end: ResponseEnd, start: ResponseStart | undefined): void {
    if (end.error !== undefined) count(this.errors, end.error.code);
    const origin = start?.origin;
    const name = origin === undefined ? "(unknown)" : `${origin.provider}/${origin.model}`;
    const cost = costIn(end.usage, origin, this.#costOf);
    const places = [
      this.total,
      entry(this.byDay, end.at.slice(0, 10), nothing),
      entry(this.byModel, name, nothing),
    ];
    for (const place of places) {
      place.requests += 1;
      place.inputTokens += end.usage?.inputTokens ?? 0;
      place.cachedTokens += end.usage?.cachedTokens ?? 0;
      place.outputTokens += end.usage?.outputTokens ?? 0;
      place.reasoningTokens += end.usage?.reasoningTokens ?? 0;
      place.costUsd += cost ?? 0;
      place.unpriced += cost === undefined ? 1 : 0;
    }
  }

  #loss(start: ResponseStart, events: readonly LoggedEvent[], lost: Map<string, Set<number>>): void {
    for (const { reason, seqs } of leftOutOf(start, events)) {
      entry(this.losses, reason, noLoss).requests += 1;
      const items = entry(lost, reason, () => new Set<number>());
      for (const [first, last] of seqs) for (let seq = first; seq <= last; seq += 1) items.add(seq);
    }
  }
}

/** A request without usage cost nothing that is known of. */
function costIn(usage: Usage | undefined, origin: Origin | undefined, costOf: CostOf): number | undefined {
  if (usage === undefined) return 0;
  return origin === undefined ? undefined : costOf(origin, usage);
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
