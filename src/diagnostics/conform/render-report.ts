/** Renders the report as text. All text from the server passes through `inert` before it is printed. */

import type { ConformReport, ProbeResult } from "./run.ts";

interface Style {
  readonly inert: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
}

export function toTable(report: ConformReport, style: Style): string {
  const lines = [style.bold(style.inert(`${report.baseUrl} · ${report.model} · suite ${report.suite}`))];
  const width = Math.max(0, ...report.results.map(({ id }) => id.length));
  let group = "";
  for (const result of report.results) {
    const own = result.id.slice(0, result.id.indexOf("."));
    if (own !== group) lines.push("", style.bold(own));
    group = own;
    lines.push(...rows(result, width, style));
  }
  lines.push("", summary(report), "", ...profile(report, style));
  return `${lines.join("\n")}\n`;
}

function rows(result: ProbeResult, width: number, { inert, dim }: Style): readonly string[] {
  const { id, title, why, strict, expected, seen } = result;
  const word = result.result.padEnd(7);
  const note = strict ? "" : " (does not count)";
  const head = `  ${word}  ${id.padEnd(width)}  ${title}${dim(` [${why}]`)}`;
  const pad = " ".repeat(11);
  if (result.result === "holds") return [head];
  if (result.result === "skipped") return [head, dim(`${pad}${inert(seen)}`)];
  if (result.result === "error") return [head, `${pad}${inert(seen)} [${inert(result.code ?? "")}]`];
  return [`${head}${note}`, `${pad}expected  ${inert(expected ?? "")}`, `${pad}seen      ${inert(seen)}`];
}

function summary({ counts, conforms, stopped }: ConformReport): string {
  const text = `${counts.holds} hold, ${counts.differs} differ, ${counts.skipped} skipped, ${counts.error} failed`;
  if (stopped) return `${text}. Stopped before the end.`;
  return `${text}. ${conforms ? "Conforms: nothing that counts differs." : "Does not conform: something that counts differs."}`;
}

function profile({ profile: { nearest, departs, fields } }: ConformReport, style: Style): readonly string[] {
  const wide = Math.max(...fields.map(({ field }) => field.length));
  const values = Math.max(...fields.map(({ value }) => String(value).length));
  const title =
    departs.length === 0
      ? `Suggested profile: "${nearest}"`
      : `Suggested profile: "${nearest}", except for ${departs.join(", ")}`;
  return [
    style.bold(title),
    ...fields.map(
      ({ field, value, because }) =>
        `  ${field.padEnd(wide)}  ${String(value).padEnd(values)}  ${style.dim(style.inert(because))}`,
    ),
  ];
}
