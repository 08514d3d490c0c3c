/** The figures of a run, as text. */

import { FAULT_NAMES, type Ledger } from "./ledger.ts";

const DONE = [
  "events",
  "acknowledged events",
  "turns",
  "turns completed",
  "turns cancelled",
  "turns interrupted",
  "turns failed",
  "turns incomplete",
  "resumed turns",
  "takeovers",
  "notice turn_abandoned",
  "messages that joined a turn",
  "cancels acknowledged",
  "decisions acknowledged",
  "tool starts",
  "tool runs",
  "effects",
  "unknown outcomes",
  "idempotent runs again",
  "viewer visits",
  "deltas seen",
] as const;

export function table(ledger: Ledger): string {
  const rows: readonly (readonly [string, number])[] = [
    ...FAULT_NAMES.map((name) => [LABELS[name] ?? name, ledger.count(name)] as const),
    ["sessions", ledger.sessions.size],
    ...DONE.map((name) => [name, ledger.count(name)] as const),
    ["violations", ledger.violations.length],
  ];
  return rows.map(([name, count]) => `  ${name.padEnd(26)}${String(count).padStart(8)}`).join("\n");
}

const LABELS: Readonly<Record<string, string>> = {
  stops: "stops beyond the lease",
  backends: "backends terminated",
  cuts: "connections cut",
  swallowed: "answers swallowed",
  restarts: "restarts of the server",
  terms: "terms (drained)",
};

/** Every kind of answer, for the files of the run. */
export function answers(ledger: Ledger): string {
  return [...ledger.counts]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${String(count).padStart(8)}  ${name}`)
    .join("\n");
}
