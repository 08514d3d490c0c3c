/** Compares expectations with a run. Each becomes one line that says what was checked and, if it failed, what was found. */

import { existsSync } from "node:fs";
import { join } from "node:path";

import type { LoggedEvent, ToolCall, ToolResult } from "../../../base/events/index.ts";
import { readText } from "../../../base/files/index.ts";
import { isObject, messageOf, stringOf, tryParseJson } from "../../../base/support/index.ts";
import type { TurnResult } from "../../../runtime/session/index.ts";
import { builtinTools, jsonSchemaValidator } from "../../../runtime/tools/index.ts";
import type { Observed } from "./observe.ts";
import type {
  CallExpectation,
  CommandExpectation,
  FileExpectation,
  RunExpectation,
  TextExpectation,
  TurnExpectation,
} from "./scenario.ts";

export interface Check {
  readonly what: string;
  readonly ok: boolean;
  /** Could not be checked; counts neither as passed nor as failed. */
  readonly skipped?: true;
  readonly detail?: string;
}

const fail = (what: string, detail: string): Check => ({ what, ok: false, detail });
const judge = (what: string, ok: boolean, detail: string): Check => (ok ? { what, ok } : fail(what, detail));

/** Checks only if something is expected. */
function judgeGiven<T>(
  expected: T | undefined,
  verdict: (expected: T) => readonly [what: string, ok: boolean, detail: string],
): readonly Check[] {
  return expected === undefined ? [] : [judge(...verdict(expected))];
}

export function checkTurn(
  expect: TurnExpectation,
  result: TurnResult,
  events: readonly LoggedEvent[],
  turn: number,
): readonly Check[] {
  const at = `turn ${turn}`;
  const wanted = expect.status ?? "completed";
  const { error, reason = "", steps, text } = result;
  const why = error === undefined ? reason : `[${error.code}] ${error.message}`;
  const names = callsIn(events).map(({ name }) => name);
  return [
    judge(`${at} ends ${wanted}`, result.status === wanted, `${result.status} ${why}`.trim()),
    ...(expect.text === undefined ? [] : checkText(`${at} text`, expect.text, text)),
    ...(expect.json === undefined ? [] : [checkJson(`${at} answer fits its JSON schema`, expect.json, text)]),
    ...(expect.calls ?? []).map((call) => checkCall(at, call, events)),
    ...judgeGiven(expect.noCalls, (none) => [
      `${at} calls ${none ? "no tool" : "a tool"}`,
      (names.length === 0) === none,
      names.join(", ") || "none",
    ]),
    ...judgeGiven(expect.minSteps, (n) => [`${at} takes at least ${n} steps`, steps >= n, String(steps)]),
    ...judgeGiven(expect.maxSteps, (n) => [`${at} takes at most ${n} steps`, steps <= n, String(steps)]),
  ];
}

function checkText(what: string, expect: TextExpectation, text: string): readonly Check[] {
  const found = JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text);
  const { equals, contains = [], lacks = [], matches } = expect;
  return [
    ...judgeGiven(equals, (whole) => [`${what} is ${JSON.stringify(whole)}`, text === whole, found]),
    ...contains.map((part) => judge(`${what} contains ${JSON.stringify(part)}`, text.includes(part), found)),
    ...lacks.map((part) => judge(`${what} lacks ${JSON.stringify(part)}`, !text.includes(part), found)),
    ...judgeGiven(matches, (one) => [`${what} matches /${one}/`, new RegExp(one, "u").test(text), found]),
  ];
}

function checkJson(what: string, schema: Readonly<Record<string, unknown>>, text: string): Check {
  const value = tryParseJson(text);
  if (value === undefined) return fail(what, "it is not JSON");
  const verdict = jsonSchemaValidator(schema)(value);
  return judge(what, verdict.ok, verdict.ok ? "" : verdict.message);
}

function callsIn(events: readonly LoggedEvent[]): readonly ToolCall[] {
  return events.filter((event): event is ToolCall => event.type === "tool_call");
}

function checkCall(at: string, expect: CallExpectation, events: readonly LoggedEvent[]): Check {
  const { tool, times, result } = expect;
  const calls = callsIn(events);
  const fitting = calls.filter(
    (call) =>
      call.name === tool &&
      (expect.with === undefined || holds(tryParseJson(call.arguments), expect.with)) &&
      (result === undefined || statusOf(call, events) === result),
  );
  const given = expect.with === undefined ? "" : ` with ${JSON.stringify(expect.with)}`;
  const how = `${result === undefined ? "" : ` (${result})`}${times === undefined ? "" : ` ${times} times`}`;
  const made = calls.map((call) => `${call.name}(${call.arguments}) ${statusOf(call, events) ?? "open"}`);
  return judge(
    `${at} calls ${tool}${given}${how}`,
    times === undefined ? fitting.length > 0 : fitting.length === times,
    made.length === 0 ? "no calls" : `${fitting.length} match of ${made.join("; ").slice(0, 500)}`,
  );
}

function statusOf(call: ToolCall, events: readonly LoggedEvent[]): string | undefined {
  return events.find(
    (event): event is ToolResult =>
      event.type === "tool_result" && event.callId === call.callId && event.response === call.response,
  )?.status;
}

/** Returns whether every member of `wanted` is in `value`. Lists and plain values must be equal. */
function holds(value: unknown, wanted: unknown): boolean {
  if (isObject(wanted))
    return isObject(value) && Object.entries(wanted).every(([key, one]) => holds(value[key], one));
  return JSON.stringify(value) === JSON.stringify(wanted);
}

export interface RunFigures {
  readonly folder: string;
  readonly steps: number;
  readonly costUsd: number | undefined;
  readonly observed: Observed;
  readonly signal: AbortSignal;
}

export async function checkRun(expect: RunExpectation, run: RunFigures): Promise<readonly Check[]> {
  const { observed, steps, costUsd } = run;
  const refused = observed.refused.join("; ").slice(0, 500);
  const files = (expect.files ?? []).flatMap((file) => checkFile(file, run.folder));
  const commands: Check[] = [];
  for (const command of expect.commands ?? []) commands.push(...(await checkCommand(command, run)));
  return [
    ...files,
    ...commands,
    ...judgeGiven(expect.noRefusedRequest || undefined, () => [
      "no request is rejected",
      observed.refused.length === 0,
      refused,
    ]),
    ...judgeGiven(expect.maxRefusedRequests, (most) => [
      `at most ${most} rejected requests`,
      observed.refused.length <= most,
      refused,
    ]),
    ...judgeGiven(expect.reasoningRecall, (least) => [
      `reasoning recall is at least ${least}`,
      observed.recall >= least,
      `${Math.round(observed.recall * 1000) / 1000} according to ${observed.recallFrom}`,
    ]),
    ...judgeGiven(expect.prefixStable || undefined, () => [
      "every request starts like the previous one",
      observed.prefixBreaks === 0,
      `${observed.prefixBreaks} do not`,
    ]),
    ...judgeGiven(expect.maxSteps, (n) => [`at most ${n} steps in all`, steps <= n, String(steps)]),
    ...(expect.maxCostUsd === undefined ? [] : [checkCost(expect.maxCostUsd, costUsd)]),
  ];
}

function checkCost(most: number, costUsd: number | undefined): Check {
  const what = `costs at most $${most}`;
  return costUsd === undefined
    ? { what, ok: true, skipped: true, detail: "the price of the model is unknown" }
    : judge(what, costUsd <= most, `$${costUsd.toFixed(4)}`);
}

function checkFile(expect: FileExpectation, folder: string): readonly Check[] {
  const { path, exists = true } = expect;
  const whole = join(folder, path);
  const there = existsSync(whole);
  const first = judge(
    `${path} ${exists ? "exists" : "does not exist"}`,
    there === exists,
    there ? "it exists" : "it does not exist",
  );
  if (!there || !exists) return [first];
  try {
    return [first, ...checkText(path, expect, readText(whole))];
  } catch (error) {
    return [fail(`${path} can be read`, messageOf(error))];
  }
}

/** Runs the command with the tool that models use, so that it has the same environment and leaves no process behind. */
async function checkCommand(expect: CommandExpectation, run: RunFigures): Promise<readonly Check[]> {
  const what = `\`${expect.run}\` exits with ${expect.exit ?? 0}`;
  const shell = builtinTools({ cwd: run.folder }).find(({ name }) => name === "run_command");
  try {
    const { signal } = run;
    const context = { signal, callId: "check", idempotencyKey: "check", progress: () => undefined };
    const text = stringOf(await shell?.run({ command: expect.run }, context)) ?? "";
    const exit = /\[exit code (\d+)\]$/.exec(text)?.[1];
    const output = text.replace(/\n?\[exit code \d+\]$/, "");
    return [
      judge(what, exit === String(expect.exit ?? 0), text.slice(-500)),
      ...(expect.output === undefined ? [] : checkText(`output of \`${expect.run}\``, expect.output, output)),
    ];
  } catch (error) {
    return [fail(what, messageOf(error))];
  }
}
