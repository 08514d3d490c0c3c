/** What the exchanges of a ledger say together. Pure. */

import type { ExchangeLine } from "../../../proxy/relay/index.ts";

/** How many of the thoughts that could go back a client sent, and how many went on. */
export interface Recall {
  readonly requests: number;
  readonly restorable: number;
  readonly carried: number;
  readonly restored: number;
  /** Shares of 1; null if there was nothing to recall. */
  readonly before: number | null;
  readonly after: number | null;
}

export interface Healing {
  readonly refusals: number;
  readonly healed: number;
}

export interface ExchangeStats {
  readonly requests: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly statuses: Readonly<Record<string, number>>;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly recall: Recall;
  readonly clients: Readonly<Record<string, Recall>>;
  readonly models: Readonly<Record<string, Recall>>;
  /** Answers that were known again, by the evidence for it. */
  readonly tiers: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, Healing>>;
  /** Thoughts that stayed out, by the reason. An answer that was not known again counts as one. */
  readonly lost: Readonly<Record<string, number>>;
}

export function statsOf(lines: readonly ExchangeLine[]): ExchangeStats {
  const decisions = lines.flatMap((line) => line.decisions);
  return {
    requests: lines.length,
    first: lines[0]?.at ?? null,
    last: lines.at(-1)?.at ?? null,
    statuses: counted(lines, ({ status }) => String(status)),
    outcomes: counted(lines, ({ outcome }) => outcome),
    recall: recallOf(lines),
    clients: grouped(lines, clientOf),
    models: grouped(lines, ({ model }) => model ?? "unknown"),
    tiers: counted(
      decisions.filter(({ tier }) => tier !== undefined),
      ({ tier }) => tier ?? "",
    ),
    refusals: healings(lines),
    lost: counted(
      decisions.filter(({ what }) => what === "left out"),
      ({ why }) => why ?? "unknown",
      ({ thoughts }) => Math.max(1, thoughts),
    ),
  };
}

/** `codex_cli_rs/0.144.6 (Linux)` is codex_cli_rs: people ask about programs, not about versions. */
function clientOf({ client }: ExchangeLine): string {
  return /^[^\s/(]+/.exec(client ?? "")?.[0] ?? "unknown";
}

function recallOf(lines: readonly ExchangeLine[]): Recall {
  const sum = (of: (line: ExchangeLine) => number): number => lines.reduce((all, line) => all + of(line), 0);
  const [restorable, carried, restored] = [
    sum((line) => line.restorable),
    sum((line) => line.carried),
    sum((line) => line.restored),
  ];
  const share = (part: number): number | null => (restorable === 0 ? null : part / restorable);
  return {
    requests: lines.length,
    restorable,
    carried,
    restored,
    before: share(carried),
    after: share(carried + restored),
  };
}

function grouped(
  lines: readonly ExchangeLine[],
  key: (line: ExchangeLine) => string,
): Readonly<Record<string, Recall>> {
  const sorted = [...groupsOf(lines, key)].toSorted(([, a], [, b]) => b.length - a.length);
  return Object.fromEntries(sorted.map(([name, own]) => [name, recallOf(own)]));
}

function healings(lines: readonly ExchangeLine[]): Readonly<Record<string, Healing>> {
  const all = lines.flatMap(({ refusals, outcome }) =>
    refusals.map((refusal) => ({ kind: refusal.class, healed: outcome === "healed" })),
  );
  return Object.fromEntries(
    [...groupsOf(all, ({ kind }) => kind)].map(([kind, own]) => [
      kind,
      { refusals: own.length, healed: own.filter(({ healed }) => healed).length },
    ]),
  );
}

function groupsOf<T>(list: readonly T[], key: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const own = groups.get(key(one));
    if (own === undefined) groups.set(key(one), [one]);
    else own.push(one);
  }
  return groups;
}

/** Most first. */
function counted<T>(
  list: readonly T[],
  key: (one: T) => string,
  weight: (one: T) => number = () => 1,
): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const one of list) counts.set(key(one), (counts.get(key(one)) ?? 0) + weight(one));
  return Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a));
}
