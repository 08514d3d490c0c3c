/** The tables of a run, and its failures, most frequent first. */

import { COUNTERS, type Failure, type Tally } from "./tally.ts";

export function tableOf(tally: Tally): string {
  const names = [...tally.rows.keys()].toSorted((a, b) => groupOf(a) - groupOf(b) || a.localeCompare(b));
  const head = ["", ...COUNTERS, "share"];
  const rows = names.map((name) => {
    const restorable = tally.get(name, "restorable");
    const back = tally.get(name, "put-back") + tally.get(name, "twins");
    const share = restorable === 0 ? "" : `${((100 * back) / restorable).toFixed(1)} %`;
    return [name, ...COUNTERS.map((counter) => String(tally.get(name, counter) || "")), share];
  });
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join("  ");
  return [head, ...rows].map(line).join("\n");
}

function groupOf(name: string): number {
  return ["all", "dialect", "model", "how", "with"].indexOf(name.split(" ")[0] ?? "");
}

export function factsOf(tally: Tally): string {
  return [...tally.facts]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([what, count]) => `  ${what.padEnd(72)} ${count}`)
    .join("\n");
}

/** Per kind of failure, the places where it happens most, each with an example. */
export function failuresOf(
  tally: Tally,
  options: { readonly kinds: number; readonly places: number; readonly only: RegExp },
): string {
  const byKind = new Map<string, { count: number; readonly places: Place[] }>();
  for (const [key, { count, examples }] of tally.failures) {
    const [example] = examples;
    if (example === undefined || !options.only.test(example.kind)) continue;
    const known = byKind.get(example.kind) ?? { count: 0, places: [] };
    known.count += count;
    known.places.push({ where: key.slice(key.indexOf(" | ") + 3), count, examples });
    byKind.set(example.kind, known);
  }
  return [...byKind]
    .toSorted(([, a], [, b]) => b.count - a.count)
    .slice(0, options.kinds)
    .map(([kind, { count, places }]) => {
      const shown = places.toSorted((a, b) => b.count - a.count).slice(0, options.places);
      return [`${count} × ${kind}`, ...shown.map(placeOf)].join("\n");
    })
    .join("\n\n");
}

interface Place {
  readonly where: string;
  readonly count: number;
  readonly examples: readonly Failure[];
}

function placeOf({ where, count, examples }: Place): string {
  const [first, ...others] = examples;
  const more = others.length === 0 ? "" : `, also ${others.map(({ at }) => at).join(", ")}`;
  return `  ${count} × ${where}\n    ${first?.at ?? ""}${more}\n${indented(first?.detail() ?? "")}`;
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `      ${line}`)
    .join("\n");
}
