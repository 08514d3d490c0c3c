/**
 * `throughline conform BASE_URL`: sends our requests to any Responses server. The report goes to stdout, progress to
 * stderr. Bad input throws; the composition root prints the error and exits with code 2.
 */

import { Command, Option } from "commander";

import { addressProblem, codedError, codeOf, messageOf } from "../../../base/support/index.ts";
import type { ConformReport, ProbeResult } from "../../../diagnostics/conform/index.ts";
import { EXIT } from "../exit-codes.ts";
import { digits } from "../flag-numbers.ts";
import { inert, inertLine } from "../inert-text.ts";
import { stopOnSignals } from "../signals.ts";
import { clearLine } from "../terminal-gate.ts";
import type { Terminal } from "../terminal.ts";

interface ConformFlags {
  readonly model?: string;
  readonly secondModel?: string;
  readonly apiKeyEnv?: string;
  readonly suite: "responses" | "reasoning" | "all";
  readonly only?: string;
  readonly json?: boolean;
  readonly timeout: string;
  readonly concurrency: string;
}

/** The command's input and output; tests pass their own. */
export interface ConformIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** True if progress may rewrite its line. */
  readonly live: boolean;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly finish: (code: number) => void;
  /** Watches for Ctrl-C. The returned function ends the watch and returns the exit code if a signal arrived. */
  readonly watch: (stop: () => void) => () => number | undefined;
}

const DEFAULT_KEY = "OPENAI_API_KEY";

export function conformCommand(io: ConformIo): Command {
  return new Command("conform")
    .description("Probe a Responses server and report which API rules and formats it follows")
    .argument("<base-url>", "the base URL that clients use, including /v1")
    .option("--model <id>", "the model to use; not needed if the server has only one")
    .option(
      "--second-model <id>",
      "another model, to test whether it accepts the first one's reasoning (E05)",
    )
    .option("--api-key-env <name>", `read the key from this environment variable (default: ${DEFAULT_KEY})`)
    .addOption(
      new Option("--suite <name>", "the probes to run")
        .choices(["responses", "reasoning", "all"])
        .default("all"),
    )
    .option("--only <ids>", "run only these probes or groups, separated by commas")
    .option("--json", "print the report as one JSON object")
    .option("--timeout <ms>", "give up on a request after this time", "120000")
    .option("--concurrency <n>", "run n probes at a time", "1")
    .addHelpText(
      "after",
      `
Examples:
  throughline conform http://127.0.0.1:1234/v1 --model qwen3
  throughline conform https://api.openai.com/v1 --model gpt-5.6 --suite reasoning --json

Exit codes: 0 the server conforms, 2 usage or unreachable server, 5 it does not conform.
docs/conform.md describes every probe.`,
    )
    .action(async (baseUrl: string, flags: ConformFlags) => {
      io.finish(await runConform(baseUrl, flags, io));
    });
}

async function runConform(baseUrl: string, flags: ConformFlags, io: ConformIo): Promise<number> {
  const url = checkedUrl(baseUrl);
  const apiKey = keyFrom(flags, io);
  const timeoutMs = digits("--timeout", flags.timeout, 1, 3_600_000);
  const concurrency = digits("--concurrency", flags.concurrency, 1, 64);
  const only = (flags.only ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const { conform, listModels, selectProbes, toTable } =
    await import("../../../diagnostics/conform/index.ts");
  selectProbes(flags.suite, only); // before anything is sent
  if (apiKey !== undefined && url.protocol === "http:" && !isLoopback(url.hostname)) {
    io.err(
      `throughline: ${inertLine(url.host, 200)} is reached without TLS, so the key is sent unencrypted\n`,
    );
  }
  const stopping = new AbortController();
  const stop = io.watch(() => stopping.abort(new Error("stopped")));
  let report: ConformReport;
  try {
    const shared = { baseUrl: url.href, timeoutMs, signal: stopping.signal, apiKey };
    const model = flags.model ?? onlyOf(await listModels(shared));
    report = await conform({
      ...shared,
      model,
      secondModel: flags.secondModel,
      suite: flags.suite,
      only,
      concurrency,
      onResult: (result, done, all) => io.err(progress(result, done, all, io.live)),
    });
  } catch (error) {
    const code = stop();
    if (code !== undefined) return code;
    if (codeOf(error) !== "api_key_refused") throw error;
    throw codedError("api_key_refused", `${messageOf(error)}. ${keyAdvice(flags, apiKey)}`, error);
  }
  const code = stop();
  if (io.live) io.err(clearLine);
  const style = { inert: (text: string) => inertLine(text, 700), bold: io.bold, dim: io.dim };
  io.out(flags.json === true ? toJson(report) : toTable(report, style));
  return code ?? (report.conforms ? EXIT.ok : EXIT.differs);
}

export const plain = (text: string): string => text;

function progress({ id, result }: ProbeResult, done: number, all: number, live: boolean): string {
  const text = `${done}/${all} ${result} ${id}`;
  return live ? `${clearLine}${text}` : `${text}\n`;
}

const safe = (_key: string, value: unknown): unknown => (typeof value === "string" ? inert(value) : value);

/** Makes every text inert, because it may come from a server and JSON is read on terminals too. */
function toJson(report: ConformReport): string {
  return `${JSON.stringify({ v: 1, type: "conform", ...report }, safe, 2)}\n`;
}

function onlyOf(models: readonly string[]): string {
  const [only] = models;
  if (only !== undefined && models.length === 1) return only;
  const names = models.slice(0, 20).map((name) => inertLine(name, 80));
  throw codedError(
    "model_needed",
    only === undefined
      ? "the server does not list its models: name one with --model"
      : `the server has ${models.length} models: name one with --model (${names.join(", ")}${models.length > 20 ? ", …" : ""})`,
  );
}

function keyFrom(flags: ConformFlags, io: ConformIo): string | undefined {
  const name = flags.apiKeyEnv ?? DEFAULT_KEY;
  const key = io.env[name]?.trim();
  if (key !== undefined && key !== "") {
    if (/^[\u0021-\u007E]+$/.test(key)) return key;
    throw codedError(
      "api_key_invalid",
      `the value of ${name} is not a valid key: it contains spaces or other unexpected characters`,
    );
  }
  if (flags.apiKeyEnv !== undefined) {
    throw codedError("api_key_missing", `the environment variable ${inertLine(name, 80)} is not set`);
  }
  return undefined; // many local servers need no key
}

function keyAdvice({ apiKeyEnv = DEFAULT_KEY }: ConformFlags, key: string | undefined): string {
  return key === undefined
    ? `No key was sent: set ${apiKeyEnv}, or name another variable with --api-key-env`
    : `The key in ${apiKeyEnv} was sent: correct it, or name another variable with --api-key-env`;
}

function checkedUrl(text: string): URL {
  const problem = addressProblem(text);
  if (problem === undefined) return new URL(text.replace(/\/+$/, ""));
  throw codedError(
    "base_url_invalid",
    `the base URL ${problem}: it should look like http://127.0.0.1:4320/v1. Pass a key in an environment variable, named with --api-key-env`,
  );
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

export function conformIo(terminal: Terminal, finish: (code: number) => void): ConformIo {
  return {
    out: (text) => void terminal.stdout.write(text),
    err: (text) => void terminal.stderr.write(text),
    live: terminal.stderr.isTTY === true,
    bold: terminal.stdout.isTTY === true ? terminal.bold : plain,
    dim: terminal.stdout.isTTY === true ? terminal.dim : plain,
    env: process.env,
    finish,
    watch: stopOnSignals,
  };
}
