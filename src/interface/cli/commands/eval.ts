/**
 * `throughline eval PATH…`: runs scenarios against models, on the same code path as any run. The report goes to stdout,
 * progress to stderr.
 */

import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

import { Command, Option } from "commander";

import { replaceFile, writeProblem } from "../../../base/files/index.ts";
import { codedError, isoTime, VERSION } from "../../../base/support/index.ts";
import { createRedactor, secretsOf } from "../../../runtime/log/index.ts";
import type { Finish } from "../command-table.ts";
import { costsWith } from "../cost.ts";
import { loadScenarios } from "../eval/load-scenarios.ts";
import { assertScript, DEFAULT_MODEL, modelNames } from "../eval/models.ts";
import { toReport, toText } from "../eval/report.ts";
import { type RunOutcome, type RunRequest, runScenario } from "../eval/run-scenario.ts";
import { SCENARIO_SCHEMA } from "../eval/scenario-schema.ts";
import type { EvalScenario } from "../eval/scenario.ts";
import { EXIT } from "../exit-codes.ts";
import { inertJson, inertLine } from "../inert-text.ts";
import { storeSecrets } from "../open-store.ts";
import { settingsWithTrust } from "../project-trust.ts";
import { gather } from "../run-options.ts";
import { seconds } from "../show-progress.ts";
import { stopOnSignals } from "../signals.ts";
import { clearLine } from "../terminal-gate.ts";
import { printJson, type Terminal } from "../terminal.ts";
import { modelsOf } from "../user-providers.ts";

interface EvalFlags {
  readonly model: readonly string[];
  readonly models?: string;
  readonly jobs: string;
  readonly repeat: string;
  readonly minPassRate: string;
  readonly out?: string;
  readonly json?: boolean;
  readonly schema?: boolean;
}

export function evalCommand(terminal: Terminal, finish: Finish): Command {
  return new Command("eval")
    .description("Run scenarios against models and report which expectations held")
    .argument("[path...]", "scenario files or folders of them; quick means the bundled suite")
    .addOption(
      new Option("-m, --model <names>", "run with these models, separated by commas; repeatable")
        .argParser(gather)
        .default([] as readonly string[], "the scenario's models"),
    )
    .option("--models <file>", "read the models from this file, one per line")
    .option("--jobs <n>", "do n runs at a time", String(Math.min(4, availableParallelism())))
    .option("--repeat <n>", "run each scenario n times with each model", "1")
    .option("--min-pass-rate <share>", "the share of its runs that a scenario must pass, from 0 to 1", "1")
    .option("--out <folder>", "write logs, transcripts and reports to this new folder")
    .option("--json", "print the report as one JSON object")
    .option("--schema", "print the JSON Schema of scenarios and exit")
    .addHelpText(
      "after",
      `
Examples:
  throughline eval quick
  throughline eval mine.yaml -m openai/gpt-5.6,emulator/emu-reasoner --repeat 5
  throughline eval mine.yaml --out results --json | jq .ok

Exit codes: 0 everything passed, 1 something failed, 2 usage or unreadable scenario, 130 interrupted.
A scenario is code: eval runs its commands and tools. docs/eval.md describes the format.`,
    )
    .action(async (paths: readonly string[], flags: EvalFlags) => {
      if (flags.schema === true) {
        printJson(terminal.stdout, SCENARIO_SCHEMA);
        finish(EXIT.ok);
      } else finish(await evaluate(paths, flags, terminal));
    });
}

async function evaluate(paths: readonly string[], flags: EvalFlags, terminal: Terminal): Promise<number> {
  const jobs = wholeNumber("--jobs", flags.jobs, 256);
  const repeats = wholeNumber("--repeat", flags.repeat, 10_000);
  const minPassRate = share(flags.minPassRate);
  if (paths.length === 0)
    throw codedError("usage", "no scenarios given: name a file or a folder, or quick for the bundled suite");
  const scenarios = loadScenarios(paths);
  const { values } = await settingsWithTrust(process.cwd(), {}, terminal);
  const modelFrom = modelsOf(values);
  const costOf = costsWith(values);
  for (const scenario of scenarios) assertScript(scenario, modelFrom);
  const names = modelNames(flags.model, flags.models, modelFrom);
  const out = flags.out === undefined ? undefined : newFolder(flags.out);
  const stopping = new AbortController();
  const stop = stopOnSignals(() => stopping.abort(new Error("stopped")));
  const started = performance.now();
  const at = isoTime(Date.now());
  const requests = plan(scenarios, names, repeats, { out, signal: stopping.signal, modelFrom, costOf });
  const redact = createRedactor(() => [...secretsOf(process.env), ...storeSecrets({})]);
  const progress = runProgress(requests.length, terminal);
  const outcomes = await inParallel(requests, jobs, stopping.signal, (outcome, folder) => {
    progress.tell(outcome);
    if (folder !== undefined) keep(folder, outcome, redact);
  });
  const code = stop();
  progress.clear();
  const report = toReport(inOrder(outcomes, requests), {
    program: `throughline/${VERSION}`,
    at,
    planned: requests.length,
    minPassRate,
    durationMs: Math.round(performance.now() - started),
  });
  const json = `${redact(JSON.stringify(report, undefined, 2))}\n`;
  const text = redact(toText(report));
  if (out !== undefined) {
    writeReport(join(out, "report.json"), json);
    writeReport(join(out, "report.txt"), text);
  }
  const shown = terminal.stdout.isTTY === true ? inertJson(json) : json;
  terminal.stdout.write(flags.json === true ? shown : text);
  return code ?? (report.ok ? EXIT.ok : EXIT.turnFailed);
}

function plan(
  scenarios: readonly EvalScenario[],
  names: readonly string[] | undefined,
  repeats: number,
  shared: Pick<RunRequest, "out" | "signal" | "modelFrom" | "costOf">,
): readonly RunRequest[] {
  return scenarios.flatMap((scenario) => {
    const own = scenario.models.length === 0 ? [DEFAULT_MODEL] : scenario.models;
    return (names ?? own).flatMap((model) =>
      Array.from({ length: repeats }, (_, index) => ({
        scenario,
        model,
        repeat: index + 1,
        ...shared,
        out:
          shared.out === undefined
            ? undefined
            : join(shared.out, scenario.name, model.replaceAll(/[^A-Za-z0-9._-]+/g, "_"), String(index + 1)),
      })),
    );
  });
}

async function inParallel(
  requests: readonly RunRequest[],
  jobs: number,
  signal: AbortSignal,
  onOutcome: (outcome: RunOutcome, folder: string | undefined) => void,
): Promise<readonly RunOutcome[]> {
  const outcomes: RunOutcome[] = [];
  const waiting = [...requests];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
      const outcome = await runScenario(next);
      outcomes.push(outcome);
      onOutcome(outcome, next.out);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, requests.length) }, worker));
  return outcomes;
}

/** Sorts outcomes in the order they were planned, not the order they finished. */
function inOrder(outcomes: readonly RunOutcome[], requests: readonly RunRequest[]): readonly RunOutcome[] {
  return requests.flatMap(({ scenario, model, repeat }) =>
    outcomes.filter((one) => one.scenario === scenario.name && one.model === model && one.repeat === repeat),
  );
}

function keep(folder: string, outcome: RunOutcome, redact: (text: string) => string): void {
  const { transcript, ...rest } = outcome;
  writeReport(join(folder, "transcript.txt"), `${redact(transcript)}\n`);
  const result = redact(JSON.stringify(rest, undefined, 2));
  writeReport(join(folder, "result.json"), `${result}\n`);
}

/** Writes the whole file or none of it: half a report could read as if everything had passed. */
function writeReport(path: string, text: string): void {
  try {
    replaceFile(path, text, { makeFolder: true });
  } catch (error) {
    throw codedError("file_unwritable", `--out: cannot write ${path}: ${writeProblem(error, path)}`, error);
  }
}

/** Accepts only an empty or missing folder, so that nothing is overwritten and two evaluations never mix. */
function newFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const { uid } = lstatSync(path);
    if (process.getuid !== undefined && uid !== process.getuid())
      throw new Error("it belongs to another user, who could place links in it");
    if (readdirSync(path).length === 0) return path;
  } catch (error) {
    throw codedError(
      "file_unwritable",
      `--out ${path}: cannot use this folder: ${writeProblem(error, path)}`,
    );
  }
  throw codedError(
    "file_exists",
    `--out ${path}: the folder is not empty: choose another, because eval overwrites nothing`,
  );
}

/** Rewrites one line on a terminal; elsewhere writes one line per finished run. */
function runProgress(all: number, { stderr }: Terminal): { tell(outcome: RunOutcome): void; clear(): void } {
  const live = stderr.isTTY === true;
  let done = 0;
  let failed = 0;
  if (live) stderr.write(`0 of ${all} runs`);
  return {
    tell({ scenario, model, repeat, ok, stopped, durationMs }) {
      done += 1;
      if (!ok) failed += 1;
      const so = failed === 0 ? "" : `, ${failed} failed`;
      const word = stopped ? "stopped" : ok ? "passed" : "FAILED";
      stderr.write(
        live
          ? `${clearLine}${done} of ${all} runs${so} · ${inertLine(scenario, 60)}`
          : `${done}/${all} ${word} ${inertLine(`${scenario} · ${model} · run ${repeat}`, 150)} · ${seconds(durationMs)}\n`,
      );
    },
    clear() {
      if (live) stderr.write(clearLine);
    },
  };
}

function wholeNumber(flag: string, text: string, max: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= max) return number;
  throw codedError("number_invalid", `${flag} ${text}: use a whole number from 1 to ${max}`);
}

function share(text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && number >= 0 && number <= 1) return number;
  throw codedError("number_invalid", `--min-pass-rate ${text}: use a number from 0 to 1`);
}
