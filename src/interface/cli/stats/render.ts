/** Renders the tally as text and as JSON. */

import { inertLine } from "../inert-text.ts";
import { seconds } from "../show-progress.ts";
import { plot, shortly } from "./plot.ts";
import type { Amounts, Tally } from "./tally.ts";

export interface Scope {
  /** A description, such as "the last 30 days". */
  readonly what: string;
  readonly unreadable: readonly { readonly id: string; readonly problem: string }[];
  /** Sessions that were not read because of Ctrl-C. */
  readonly left: number;
}

export function toText(tally: Tally, scope: Scope, width: number): string {
  const parts = [heading(tally, scope)];
  if (tally.total.requests > 0) {
    parts.push(
      plot(
        [...tally.byDay].map(([day, { inputTokens, outputTokens }]) => ({
          day,
          value: inputTokens + outputTokens,
        })),
        { unit: "tokens", width },
      ),
    );
    parts.push(table(["model", ...AMOUNTS], amountRows(tally.byModel, byTokens)));
    parts.push(table(["day", ...AMOUNTS], amountRows(tally.byDay, byName)));
  }
  if (tally.tools.size > 0) {
    const rows = sorted(tally.tools, ([, a], [, b]) => b.calls - a.calls).map(([name, one]) => [
      name,
      ...[one.calls, one.ok, one.failed, one.denied].map(String),
      seconds(one.calls === 0 ? 0 : one.ms / one.calls),
    ]);
    parts.push(table(["tool", "calls", "ok", "failed", "denied", "mean"], rows));
  }
  if (tally.errors.size > 0) {
    const rows = sorted(tally.errors, ([, a], [, b]) => b - a).map(([code, times]) => [code, String(times)]);
    parts.push(table(["error", "times"], rows));
  }
  parts.push(losses(tally));
  for (const { id, problem } of scope.unreadable) parts.push(`cannot read ${id}: ${inertLine(problem, 200)}`);
  return `${parts.join("\n\n")}\n`;
}

const AMOUNTS = ["requests", "input", "cached", "output", "reasoning", "cost"];

function heading({ sessions, turns, total }: Tally, { what, left }: Scope): string {
  const stopped =
    left === 0 ? "" : ` Stopped: ${left === 1 ? "1 session was" : `${left} sessions were`} not read.`;
  const count = `${sessions} ${sessions === 1 ? "session" : "sessions"}`;
  if (total.requests === 0) return `${count}, ${what}: no requests.${stopped}`;
  const ended = [...turns].map(([status, times]) => `${times} ${status}`).join(", ");
  const cached = total.inputTokens === 0 ? 0 : Math.round((100 * total.cachedTokens) / total.inputTokens);
  return [
    `${count}, ${what}.${stopped}`,
    `Turns: ${ended === "" ? "none ended" : ended}. Requests: ${total.requests}. Cost: ${cost(total)}.`,
    `Tokens: ↑${shortly(total.inputTokens)} (${cached}% cached) ↓${shortly(total.outputTokens)} (${shortly(total.reasoningTokens)} reasoning).`,
  ].join("\n");
}

function losses({ losses: all, total }: Tally): string {
  if (total.requests === 0) return "Left out of requests: nothing.";
  if (all.size === 0)
    return "Left out of requests: nothing. Every item was sent back to the model that produced it.";
  const rows = sorted(all, ([, a], [, b]) => b.items - a.items).map(([reason, { items, requests }]) => [
    reason,
    String(items),
    String(requests),
  ]);
  return table(["left out because", "items", "requests"], rows);
}

type Entry<V> = readonly [string, V];

function sorted<V>(
  map: ReadonlyMap<string, V>,
  order: (a: Entry<V>, b: Entry<V>) => number,
): readonly Entry<V>[] {
  return [...map].toSorted(order);
}

const byTokens = ([, a]: Entry<Amounts>, [, b]: Entry<Amounts>): number =>
  b.inputTokens + b.outputTokens - a.inputTokens - a.outputTokens;
const byName = ([a]: Entry<Amounts>, [b]: Entry<Amounts>): number => (a < b ? -1 : 1);

function amountRows(
  map: ReadonlyMap<string, Amounts>,
  order: (a: Entry<Amounts>, b: Entry<Amounts>) => number,
): readonly (readonly string[])[] {
  return sorted(map, order).map(([name, one]) => [
    name,
    String(one.requests),
    shortly(one.inputTokens),
    shortly(one.cachedTokens),
    shortly(one.outputTokens),
    shortly(one.reasoningTokens),
    cost(one),
  ]);
}

/** Never guesses a cost: requests without a known price are shown as unknown. */
function cost({ requests, costUsd, unpriced }: Amounts): string {
  if (unpriced === 0) return `$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}`;
  return unpriced >= requests || costUsd === 0 ? "unknown" : `$${costUsd.toFixed(2)} + unknown`;
}

/** Aligns the first column left and the figures right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows.map((row) => row.map((text) => inertLine(text, 60)))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all
    .map((row) =>
      row
        .map((text, column) =>
          column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function toJson(tally: Tally, scope: Scope): string {
  const named = <V extends object>(map: ReadonlyMap<string, V>, key: string): readonly object[] =>
    [...map]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => ({ [key]: name, ...priced(value) }));
  return `${JSON.stringify(
    {
      v: 1,
      type: "stats",
      scope: scope.what,
      complete: scope.left === 0,
      sessions: tally.sessions,
      turns: Object.fromEntries(tally.turns),
      total: priced(tally.total),
      models: named(tally.byModel, "model"),
      days: named(tally.byDay, "day"),
      tools: named(tally.tools, "tool"),
      errors: Object.fromEntries(tally.errors),
      leftOut: named(tally.losses, "reason"),
      unreadable: scope.unreadable,
    },
    undefined,
    2,
  )}\n`;
}

/** The cost is null if some requests have no known price; `unpriced` counts them. */
function priced(value: object): object {
  if (!("unpriced" in value) || !("costUsd" in value)) return value;
  return value.unpriced === 0 ? value : { ...value, costUsd: null };
}
