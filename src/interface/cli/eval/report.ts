/**
 * The report of an evaluation, as text and as JSON. The runs of one scenario with one model make one row with its pass
 * rate.
 */

import { addUsage, NO_USAGE } from "../../../base/events/index.ts";
import { inertLine } from "../inert-text.ts";
import { seconds } from "../show-progress.ts";
import { shortly } from "../stats/plot.ts";
import type { Check } from "./expectations.ts";
import type { RunOutcome } from "./run-scenario.ts";

interface EvalRow extends Pick<
  RunOutcome,
  "scenario" | "model" | "ok" | "steps" | "usage" | "costUsd" | "durationMs"
> {
  /** The number of runs that ended. */
  readonly runs: number;
  readonly passed: number;
  readonly passRate: number;
  readonly outcomes: readonly Omit<RunOutcome, "transcript" | "scenario" | "model">[];
}

export interface EvalReport {
  readonly v: 1;
  readonly type: "eval";
  readonly program: string;
  readonly at: string;
  readonly ok: boolean;
  /** False if the evaluation was stopped before its end. */
  readonly complete: boolean;
  readonly planned: number;
  readonly ran: number;
  readonly passed: number;
  readonly minPassRate: number;
  readonly durationMs: number;
  readonly rows: readonly EvalRow[];
}

export function toReport(
  outcomes: readonly RunOutcome[],
  facts: Pick<EvalReport, "program" | "at" | "planned" | "minPassRate" | "durationMs">,
): EvalReport {
  const groups = new Map<string, RunOutcome[]>();
  for (const outcome of outcomes) {
    const key = `${outcome.scenario}\0${outcome.model}`;
    groups.set(key, [...(groups.get(key) ?? []), outcome]);
  }
  const rows = [...groups.values()].map((group) => rowOf(group, facts.minPassRate));
  const ended = outcomes.filter(({ stopped }) => !stopped);
  return {
    v: 1,
    type: "eval",
    ...facts,
    ok: ended.length === facts.planned && rows.every(({ ok }) => ok),
    complete: ended.length === facts.planned,
    ran: ended.length,
    passed: ended.filter(({ ok }) => ok).length,
    rows,
  };
}

function rowOf(group: readonly RunOutcome[], minPassRate: number): EvalRow {
  const ended = group.filter(({ stopped }) => !stopped);
  const passed = ended.filter(({ ok }) => ok).length;
  const passRate = ended.length === 0 ? 0 : passed / ended.length;
  const costs = ended.map(({ costUsd }) => costUsd);
  return {
    scenario: group[0]?.scenario ?? "",
    model: group[0]?.model ?? "",
    runs: ended.length,
    passed,
    passRate,
    ok: ended.length > 0 && passRate >= minPassRate,
    steps: ended.reduce((sum, { steps }) => sum + steps, 0),
    usage: ended.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
    costUsd: costs.includes(null) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    durationMs: ended.reduce((sum, { durationMs }) => sum + durationMs, 0),
    outcomes: group
      .toSorted((a, b) => a.repeat - b.repeat)
      .map(({ transcript: _transcript, scenario: _scenario, model: _model, ...rest }) => rest),
  };
}

export function toText(report: EvalReport): string {
  const lines: string[] = [];
  const width = (pick: (row: EvalRow) => string): number =>
    Math.max(0, ...report.rows.map((row) => pick(row).length));
  const [names, models] = [width(({ scenario }) => scenario), width(({ model }) => model)];
  for (const row of report.rows) {
    const { usage, costUsd, runs } = row;
    const cost = costUsd === null ? "cost unknown" : `$${costUsd.toFixed(4)}`;
    lines.push(
      `${row.ok ? "✓" : "✗"} ${row.scenario.padEnd(names)}  ${row.model.padEnd(models)}  ${row.passed}/${runs} passed  ${row.steps} steps  ↑${shortly(usage.inputTokens)} ↓${shortly(usage.outputTokens)}  ${cost}  ${seconds(runs === 0 ? 0 : row.durationMs / runs)}`,
    );
    for (const { repeat, stopped, checks } of row.outcomes) {
      if (stopped) lines.push(`    run ${repeat}: stopped`);
      else
        lines.push(
          ...checks.filter(({ ok, skipped }) => !ok || skipped === true).map((one) => told(repeat, one)),
        );
    }
  }
  const failed = report.ran - report.passed;
  const left = report.planned - report.ran;
  lines.push(
    `${report.ran} ${report.ran === 1 ? "run" : "runs"}: ${report.passed} passed, ${failed} failed${left === 0 ? "" : `; ${left} of ${report.planned} did not run to the end`} · ${seconds(report.durationMs)}`,
  );
  return `${lines.join("\n")}\n`;
}

function told(repeat: number, { what, detail, skipped }: Check): string {
  const found = detail === undefined || detail === "" ? "" : `: ${detail}`;
  return `    run ${repeat}: ${skipped === true ? "not judged: " : ""}${inertLine(`${what}${found}`, 400)}`;
}
