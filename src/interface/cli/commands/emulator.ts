/**
 * `throughline emulator`: runs the strict emulator of the three APIs, for any client. Bad input throws; the composition
 * root prints the error. The base URL goes to stdout, so that a script can read it; everything else goes to stderr.
 */

import { closeSync, fstatSync, ftruncateSync, writeSync } from "node:fs";

import { Command, Option } from "commander";

import { fileProblem, openToAppend, readText } from "../../../base/files/index.ts";
import { codedError, ThroughlineError, readProblem } from "../../../base/support/index.ts";
import {
  type Emulator,
  type Fault,
  faultNames,
  loadScenario,
  parseFaults,
  parseSwitch,
  type RecordedExchange,
  type RequestReport,
  type Scenario,
  startEmulator,
  type Switches,
  switchValues,
} from "../../../emulator/index.ts";
import { EXIT } from "../exit-codes.ts";
import { digits } from "../flag-numbers.ts";
import { isLoopback } from "../loopback.ts";
import { gather } from "../run-options.ts";
import { stopOnSignals } from "../signals.ts";

export interface EmulatorFlags {
  readonly port: string;
  readonly host: string;
  readonly strict?: boolean;
  readonly lenient?: boolean;
  readonly scenario?: string | undefined;
  readonly fault: readonly string[];
  readonly record?: string;
  readonly pace: string;
  readonly switch: readonly string[];
  readonly expose?: boolean;
  readonly quiet?: boolean;
}

/** The command's output and its stop signal; tests pass their own. */
export interface EmulatorIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Called before the address is printed: a script may stop the emulator as soon as it has read that. */
  readonly listen?: () => void;
  /** Resolves when the process should end (Ctrl-C). */
  readonly stopped: () => Promise<void>;
}

export function emulatorCommand(io: EmulatorIo = processIo): Command {
  return new Command("emulator")
    .description(
      "Emulate the Responses, Messages and chat APIs strictly on this machine, without a key or a network",
    )
    .option("--port <number>", "listen on this port; 0 picks a free one", "4320")
    .option("--host <address>", "listen on this address", "127.0.0.1")
    .addOption(new Option("--strict", "reject what the real API rejects (default)").conflicts("lenient"))
    .addOption(
      new Option("--lenient", "answer requests that strict mode rejects, and report them").conflicts(
        "strict",
      ),
    )
    .option("--scenario <file>", "read scripted answers from this JSON or YAML file")
    .addOption(
      new Option("--fault <fault>", "cause this fault in the next request; repeat it for later requests")
        .argParser(gather)
        .default([], "none"),
    )
    .option("--record <file>", "append every exchange to this file as a line of JSON")
    .option("--pace <ms>", "wait this many milliseconds between deltas", "25")
    .addOption(
      new Option("--switch <name=value>", "choose how a disputed API behaviour works; repeatable")
        .argParser(gather)
        .default([], "none"),
    )
    .option("--expose", "allow a host other than loopback; anyone who can reach it can then use it")
    .option("--quiet", "do not log requests")
    .addHelpText("after", () => `\n${helpTail()}`)
    .action((flags: EmulatorFlags) => runEmulator(flags, io));
}

export async function runEmulator(flags: EmulatorFlags, io: EmulatorIo): Promise<void> {
  if (!isLoopback(flags.host) && flags.expose !== true) {
    throw codedError(
      "host_not_loopback",
      `--host ${flags.host} can be reached from other machines. Add --expose if you want this.`,
    );
  }
  const scenario = flags.scenario === undefined ? undefined : readScenario(flags.scenario);
  const recorder = flags.record === undefined ? undefined : openRecorder(flags.record);
  const mode = flags.lenient === true ? "lenient" : "strict";
  const emulator = await startEmulator({
    host: flags.host,
    port: digits("--port", flags.port, 0, 65_535),
    paceMs: digits("--pace", flags.pace, 0, 60_000),
    mode,
    switches: readSwitches(flags.switch),
    faults: flags.fault.map(readFault),
    scenario,
    record: (entry) => {
      recorder?.write(entry);
      if (flags.quiet !== true) io.err(lineOf(entry));
    },
  });
  io.listen?.();
  io.out(`${emulator.baseUrl}\n`);
  io.err(welcome(emulator, mode));
  await io.stopped();
  await emulator.close();
  recorder?.close();
}

function welcome(emulator: Emulator, mode: string): string {
  return `Throughline emulator, ${mode}. Accepts every key that does not begin with sk-wrong. Press Ctrl-C to stop.

  export OPENAI_BASE_URL=${emulator.baseUrl}
  export OPENAI_API_KEY=sk-emulator-any-key
  model: emu-reasoner (also emu-reasoner-mini, emu-prefix-bound, emu-plain; any other id is a reasoning model)
  report: ${emulator.url}/__emulator/report
`;
}

function lineOf({ method, path, status, report }: RecordedExchange): string {
  return `${method} ${path} ${status}${report === null ? "" : ` ${verdictOf(report)}`}\n`;
}

function verdictOf(report: RequestReport): string {
  if (report.verdict === "refused") return `refused ${report.rule ?? ""}: ${report.message ?? ""}`;
  if (report.verdict === "fault") return `fault ${report.faults.join(", ")}`;
  const lost = report.missing.length > 0 ? `, ${report.missing.length} reasoning items not sent back` : "";
  const tolerated = report.tolerated.length > 0 ? `, tolerated ${report.tolerated.join(", ")}` : "";
  return `${report.outcome}${lost}${report.prefixStable ? "" : ", prefix changed"}${tolerated}`;
}

function readScenario(file: string): Scenario {
  let text: string;
  try {
    text = readText(file);
  } catch (cause) {
    throw new ThroughlineError({
      code: "scenario_unreadable",
      message: `cannot read the scenario ${file}: ${readProblem(cause)}`,
      details: { file },
      cause,
    });
  }
  return loadScenario(text, file);
}

function readFault(text: string): Fault {
  const faults = parseFaults(text);
  const [first] = faults;
  if (first === undefined) throw codedError("fault_invalid", "--fault is empty.");
  return faults.length === 1 ? first : { type: "all", faults };
}

function readSwitches(texts: readonly string[]): Partial<Switches> {
  let all: Partial<Switches> = {};
  for (const text of texts) {
    const equals = text.indexOf("=");
    if (equals === -1) throw codedError("switch_invalid", `--switch ${text}: write it as name=value.`);
    const one = parseSwitch(text.slice(0, equals), text.slice(equals + 1));
    if ("problem" in one) throw codedError("switch_invalid", `--switch ${text}: ${one.problem}.`);
    all = { ...all, ...one };
  }
  return all;
}

/**
 * Writes one line per exchange, without buffering, so that the file survives a crash of this process. If the disk fails,
 * the record ends after its last whole line; the emulator keeps running and reports the incomplete record when it stops.
 */
function openRecorder(file: string): { write(entry: RecordedExchange): void; close(): void } {
  const unwritable = (cause: unknown): ThroughlineError =>
    new ThroughlineError({
      code: "record_unwritable",
      message: `cannot write to ${file}: ${fileProblem(cause)}`,
      details: { file },
      cause,
    });
  let descriptor: number;
  let failure: ThroughlineError | undefined;
  try {
    descriptor = openToAppend(file);
  } catch (cause) {
    throw unwritable(cause);
  }
  return {
    write(entry) {
      if (failure !== undefined) return;
      let size: number | undefined;
      try {
        ({ size } = fstatSync(descriptor));
        let rest = Buffer.from(`${JSON.stringify(entry)}\n`);
        while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
      } catch (cause) {
        failure = unwritable(cause);
        cutBack(descriptor, size);
      }
    },
    close() {
      try {
        closeSync(descriptor);
      } catch (cause) {
        failure ??= unwritable(cause);
      }
      if (failure !== undefined) throw failure;
    },
  };
}

function cutBack(descriptor: number, size: number | undefined): void {
  try {
    if (size !== undefined) ftruncateSync(descriptor, size);
  } catch {
    // The last line stays incomplete; the error at the end of the run reports it.
  }
}

function helpTail(): string {
  return `${wrapped("Faults", [...faultNames, "or an HTTP status"])}
Example: --fault cut=after-item:0 --fault 429=retry-after:2

${wrapped("Switches", Object.keys(switchValues))}

docs/emulator.md describes faults, switches and scenarios.`;
}

function wrapped(title: string, names: readonly string[]): string {
  const lines = [`${title}:`];
  for (const name of names) {
    const line = `${lines.at(-1)} ${name}${name === names.at(-1) ? "" : ","}`;
    if (line.length <= 78) lines[lines.length - 1] = line;
    else lines.push(`  ${name}${name === names.at(-1) ? "" : ","}`);
  }
  return lines.join("\n");
}

let signalled: Promise<void> | undefined;

function untilSignal(): Promise<void> {
  signalled ??= new Promise((resolve) => {
    const end = stopOnSignals(() => {
      if (end() === EXIT.hungUp) process.exitCode = EXIT.hungUp;
      resolve();
    });
  });
  return signalled;
}

const processIo: EmulatorIo = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  listen: () => void untilSignal(),
  stopped: untilSignal,
};
