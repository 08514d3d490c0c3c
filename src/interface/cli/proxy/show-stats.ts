/** `throughline proxy stats`: what clients lost, what went back, and what was healed. */

import { readExchanges } from "../../../proxy/relay/index.ts";
import { amount } from "../amount.ts";
import { inertLine } from "../inert-text.ts";
import { printJson, printLines, type Terminal } from "../terminal.ts";
import { type ExchangeStats, type Recall, statsOf } from "./exchange-stats.ts";
import { dateText } from "./exchange-words.ts";
import { chosenLedger, type LedgerFlag } from "./proxy-settings.ts";

export interface StatsFlags extends LedgerFlag {
  readonly json?: boolean;
}

export function showStats(flags: StatsFlags, { stdout }: Terminal): void {
  const stats = statsOf(readExchanges(chosenLedger(flags)));
  if (flags.json === true) printJson(stdout, stats);
  else printLines(stdout, textOf(stats));
}

function textOf(stats: ExchangeStats): readonly string[] {
  const { requests, first, last, recall } = stats;
  if (first === null || last === null)
    return ["no requests yet: start throughline proxy and send one through it"];
  return [
    `${amount(requests, "request")} from ${dateText(first)} to ${dateText(last)}`,
    ...section("statuses", Object.entries(stats.statuses).map(countRow)),
    ...section("outcomes", Object.entries(stats.outcomes).map(countRow)),
    "",
    `recall: ${recallText(recall)}`,
    ...section("by client", Object.entries(stats.clients).map(recallRow)),
    ...section("by model", Object.entries(stats.models).map(recallRow)),
    ...section("answers known again, by evidence", Object.entries(stats.tiers).map(countRow)),
    ...section(
      "refusals, by class",
      Object.entries(stats.refusals).map(
        ([kind, { refusals, healed }]) => [kind, `${refusals}, of which ${healed} healed`] as const,
      ),
    ),
    ...section("thoughts that stayed out, by reason", Object.entries(stats.lost).map(countRow)),
  ];
}

type Row = readonly [name: string, value: string];

function countRow([name, count]: readonly [string, number]): Row {
  return [name, String(count)];
}

function recallRow([name, recall]: readonly [string, Recall]): Row {
  return [name, `${amount(recall.requests, "request")}, ${recallText(recall)}`];
}

function recallText({ restorable, carried, restored, before, after }: Recall): string {
  if (before === null || after === null) return "nothing that could go back";
  return `${percent(before)} before, ${percent(after)} after (${carried} and ${carried + restored} of ${amount(restorable, "thought")})`;
}

/** Never rounded up to 100 %: that would hide a loss. */
function percent(share: number): string {
  return `${share === 1 ? 100 : (Math.floor(share * 1000) / 10).toFixed(1)} %`;
}

function section(title: string, rows: readonly Row[]): readonly string[] {
  const inert = rows.map(([name, value]) => [inertLine(name, 80), value] as const);
  const width = Math.max(0, ...inert.map(([name]) => name.length));
  return rows.length === 0
    ? []
    : ["", `${title}:`, ...inert.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)];
}
