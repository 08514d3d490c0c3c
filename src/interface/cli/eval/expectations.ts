/**
 * Expectations against what happened. Each becomes one line that says what was looked at and, if it failed, what was
 * there instead.
 *
 * @module
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { LoggedEvent, ToolCall, ToolResult } from "../../../base/events/index.ts";
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
  /** Could not be judged, and counts neither way. */
  readonly skipped?: true;
  readonly detail?: string;
}

const pass = (what: string): Check => ({ what, ok: true });
const fail = (what: string, detail: string): Check => ({ what, ok: false, detail });
const judge = (what: string, ok: boolean, detail: string): Check => (ok ? pass(what) : fail(what, detail));

export function checkTurn(
  expect: TurnExpectation,
  result: TurnResult,
  events: readonly LoggedEvent[],
  turn: number,
): readonly Check[] {
  const at = `turn ${turn}`;
  const wanted = expect.status ?? "completed";
  const why =
    result.error === undefined ? (result.reason ?? "") : `[${result.error.code}] ${result.error.message}`;
  const checks = [judge(`${at} ends ${wanted}`, result.status === wanted, `${result.status} ${why}`.trim())];
  if (expect.text !== undefined) checks.push(...checkText(`${at} text`, expect.text, result.text));
  if (expect.json !== undefined)
    checks.push(checkJson(`${at} answer fits its JSON schema`, expect.json, result.text));
  for (const call of expect.calls ?? []) checks.push(checkCall(at, call, events));
  if (expect.noCalls !== undefined) {
    const names = callsIn(events).map(({ name }) => name);
    const none = names.length === 0;
    checks.push(
      judge(
        `${at} calls ${expect.noCalls ? "no tool" : "a tool"}`,
        none === expect.noCalls,
        names.join(", ") || "none",
      ),
    );
  }
  if (expect.minSteps !== undefined)
    checks.push(
      judge(
        `${at} takes at least ${expect.minSteps} steps`,
        result.steps >= expect.minSteps,
        String(result.steps),
      ),
    );
  if (expect.maxSteps !== undefined)
    checks.push(
      judge(
        `${at} takes at most ${expect.maxSteps} steps`,
        result.steps <= expect.maxSteps,
        String(result.steps),
      ),
    );
  return checks;
}

function checkText(what: string, expect: TextExpectation, text: string): readonly Check[] {
  const found = JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text);
  const checks: Check[] = [];
  if (expect.equals !== undefined)
    checks.push(judge(`${what} is ${JSON.stringify(expect.equals)}`, text === expect.equals, found));
  for (const part of expect.contains ?? [])
    checks.push(judge(`${what} contains ${JSON.stringify(part)}`, text.includes(part), found));
  for (const part of expect.lacks ?? [])
    checks.push(judge(`${what} lacks ${JSON.stringify(part)}`, !text.includes(part), found));
  if (expect.matches !== undefined)
    checks.push(
      judge(`${what} matches /${expect.matches}/`, new RegExp(expect.matches, "u").test(text), found),
    );
  return checks;
}

function checkJson(what: string, schema: Readonly<Record<string, unknown>>, text: string): Check {
  const value = tryParseJson(text);
  if (value === undefined) return fail(what, "it is not JSON");
  const verdict = jsonSchemaValidator(schema)(value);
  return verdict.ok ? pass(what) : fail(what, verdict.message);
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
    made.length === 0 ? "no calls" : `${fitting.length} fit of ${made.join("; ").slice(0, 500)}`,
  );
}

function statusOf(call: ToolCall, events: readonly LoggedEvent[]): string | undefined {
  return events.find(
    (event): event is ToolResult =>
      event.type === "tool_result" && event.callId === call.callId && event.response === call.response,
  )?.status;
}

/** Every member of `wanted` is in `value`; lists and plain values must be equal. */
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
  const checks: Check[] = [];
  for (const file of expect.files ?? []) checks.push(...checkFile(file, run.folder));
  for (const command of expect.commands ?? []) checks.push(...(await checkCommand(command, run)));
  if (expect.noRefusedRequest === true)
    checks.push(
      judge(
        "no request is refused",
        observed.refused.length === 0,
        observed.refused.join("; ").slice(0, 500),
      ),
    );
  if (expect.maxRefusedRequests !== undefined)
    checks.push(
      judge(
        `at most ${expect.maxRefusedRequests} refused requests`,
        observed.refused.length <= expect.maxRefusedRequests,
        observed.refused.join("; ").slice(0, 500),
      ),
    );
  if (expect.reasoningRecall !== undefined)
    checks.push(
      judge(
        `reasoning recall is at least ${expect.reasoningRecall}`,
        observed.recall >= expect.reasoningRecall,
        `${Math.round(observed.recall * 1000) / 1000} says ${observed.recallFrom}`,
      ),
    );
  if (expect.prefixStable === true)
    checks.push(
      judge(
        "every request begins as the one before",
        observed.prefixBreaks === 0,
        `${observed.prefixBreaks} do not`,
      ),
    );
  if (expect.maxSteps !== undefined)
    checks.push(judge(`at most ${expect.maxSteps} steps in all`, steps <= expect.maxSteps, String(steps)));
  if (expect.maxCostUsd !== undefined) {
    const what = `costs at most $${expect.maxCostUsd}`;
    checks.push(
      costUsd === undefined
        ? { what, ok: true, skipped: true, detail: "the price of the model is not known" }
        : judge(what, costUsd <= expect.maxCostUsd, `$${costUsd.toFixed(4)}`),
    );
  }
  return checks;
}

function checkFile(expect: FileExpectation, folder: string): readonly Check[] {
  const { path, exists = true } = expect;
  const whole = join(folder, path);
  const there = existsSync(whole);
  const first = judge(
    `${path} ${exists ? "is there" : "is not there"}`,
    there === exists,
    there ? "it is there" : "it is not there",
  );
  if (!there || !exists) return [first];
  try {
    return [first, ...checkText(path, expect, readFileSync(whole, "utf8"))];
  } catch (error) {
    return [fail(`${path} can be read`, messageOf(error))];
  }
}

/** By the tool that models use: the same environment, the same end of everything it starts. */
async function checkCommand(expect: CommandExpectation, run: RunFigures): Promise<readonly Check[]> {
  const what = `\`${expect.run}\` exits with ${expect.exit ?? 0}`;
  const shell = builtinTools({ cwd: run.folder }).find(({ name }) => name === "run_command");
  try {
    const context = {
      signal: run.signal,
      callId: "check",
      idempotencyKey: "check",
      progress: () => undefined,
    };
    const text = stringOf(await shell?.run({ command: expect.run }, context)) ?? "";
    const exit = /\[exit code (\d+)\]$/.exec(text)?.[1];
    const checks = [judge(what, exit === String(expect.exit ?? 0), text.slice(-500))];
    return expect.output === undefined
      ? checks
      : [
          ...checks,
          ...checkText(
            `output of \`${expect.run}\``,
            expect.output,
            text.replace(/\n?\[exit code \d+\]$/, ""),
          ),
        ];
  } catch (error) {
    return [fail(what, messageOf(error))];
  }
}
