/** Runs one scenario once with one model, in its own folder with its own log, with an agent like the command line's. */

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { addUsage, type LoggedEvent, NO_USAGE, type Usage } from "../../../base/events/index.ts";
import { messageOf } from "../../../base/support/index.ts";
import { tapFetch } from "../../../diagnostics/trace/index.ts";
import type { Emulator } from "../../../emulator/index.ts";
import { type CostOf, factsOf } from "../../../runtime/facts/index.ts";
import { fileStore, secretsOf } from "../../../runtime/log/index.ts";
import { createAgent, type Session } from "../../../runtime/session/index.ts";
import { builtinTools, type Tool } from "../../../runtime/tools/index.ts";
import { blocksOf } from "../../fragments/index.ts";
import { loadTools } from "../load-tools.ts";
import { storeSecrets } from "../open-store.ts";
import { remembered } from "../remembered-models.ts";
import { sessionText } from "../session-text.ts";
import { type Check, checkRun, checkTurn } from "./expectations.ts";
import { createModelOf, type ModelFrom } from "./models.ts";
import { Observer } from "./observe.ts";
import type { EvalScenario } from "./scenario.ts";

export interface RunOutcome extends Pick<RunRequest, "model" | "repeat"> {
  readonly scenario: string;
  readonly ok: boolean;
  /** The user stopped the run before its end, so it neither passed nor failed. */
  readonly stopped: boolean;
  readonly checks: readonly Check[];
  readonly steps: number;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly durationMs: number;
  readonly transcript: string;
  /** The path of the log, if it is kept. */
  readonly log?: string | undefined;
}

export interface RunRequest {
  readonly scenario: EvalScenario;
  readonly model: string;
  readonly repeat: number;
  /** The folder for the log; if undefined, the log is removed with the run's folder. */
  readonly out: string | undefined;
  readonly signal: AbortSignal;
  readonly modelFrom: ModelFrom;
  readonly costOf: CostOf;
}

export async function runScenario(request: RunRequest): Promise<RunOutcome> {
  const started = performance.now();
  const root = mkdtempSync(join(tmpdir(), "throughline-eval-"));
  try {
    return await inFolder(request, root, started);
  } catch (error) {
    // An error outside the turns fails this run; the other runs continue.
    const { scenario, model, repeat, signal } = request;
    return {
      scenario: scenario.name,
      model,
      repeat,
      ok: false,
      stopped: signal.aborted,
      checks: [{ what: "the run starts", ok: false, detail: messageOf(error) }],
      steps: 0,
      usage: NO_USAGE,
      costUsd: null,
      durationMs: Math.round(performance.now() - started),
      transcript: "",
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function inFolder(request: RunRequest, root: string, started: number): Promise<RunOutcome> {
  const { scenario, model: name, repeat, out, signal, costOf } = request;
  const folder = join(root, "work");
  prepare(folder, scenario);
  const limit = AbortSignal.timeout(Math.ceil(scenario.limits.seconds * 1000));
  const both = AbortSignal.any([signal, limit]);
  const emulators: Emulator[] = [];
  const modelNamed = remembered((one) =>
    createModelOf(one, scenario.emulator, request.modelFrom, (server) => void emulators.push(server)),
  );
  const observer = new Observer();
  const agent = createAgent({
    model: modelNamed(name),
    tools: await toolsOf(scenario, folder),
    system: scenario.system,
    permissions: scenario.permissions,
    interactive: false,
    limits: scenario.limits.steps === undefined ? {} : { maxSteps: scenario.limits.steps },
    cwd: folder,
    fetch: tapFetch(observer),
    secrets: [...secretsOf(process.env), ...storeSecrets({})],
  });
  const session = await agent.open({ store: fileStore(out ?? join(root, "sessions")), id: "session" });
  const checks: Check[] = [];
  let figures = { steps: 0, usage: NO_USAGE };
  let events: readonly LoggedEvent[] = [];
  try {
    for (const [index, turn] of scenario.turns.entries()) {
      if (both.aborted || overBudget(scenario, factsOf(events, costOf).costUsd)) break;
      if (turn.model !== undefined)
        await session.setModel(modelNamed(turn.model === "first" ? name : turn.model));
      const before = events.length;
      const result = await session.send(turn.send, { signal: both, output: turn.output }).result();
      events = await eventsOf(session);
      figures = { steps: figures.steps + result.steps, usage: addUsage(figures.usage, result.usage) };
      checks.push(...checkTurn(turn.expect, result, events.slice(before), index + 1));
      if (result.status !== (turn.expect.status ?? "completed")) break; // later turns would fail for the same reason
    }
    if (limit.aborted)
      checks.push({ what: `ends within ${scenario.limits.seconds} s`, ok: false, detail: "it did not" });
    const { costUsd } = factsOf(events, costOf);
    if (overBudget(scenario, costUsd))
      checks.push({ what: `costs at most $${scenario.limits.costUsd}`, ok: false, detail: `$${costUsd}` });
    const observed = observer.observe(events, emulators);
    const run = { folder, steps: figures.steps, costUsd, observed, signal: both };
    checks.push(...(await checkRun(scenario.expect, run)));
    return {
      scenario: scenario.name,
      model: name,
      repeat,
      ok: checks.every(({ ok }) => ok) && !signal.aborted,
      stopped: signal.aborted,
      checks,
      ...figures,
      costUsd: costUsd ?? null,
      durationMs: Math.round(performance.now() - started),
      transcript: sessionText(blocksOf(events, { writerAlive: false }), { reasoning: "title" }),
      log: out === undefined ? undefined : session.location,
    };
  } finally {
    await session.close();
    await Promise.all(emulators.map((one) => one.close()));
  }
}

function prepare(folder: string, { fixture, files }: EvalScenario): void {
  mkdirSync(folder, { mode: 0o700 });
  if (fixture !== undefined) cpSync(fixture, folder, { recursive: true, verbatimSymlinks: true });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

async function toolsOf({ tools, allowTools, file }: EvalScenario, cwd: string): Promise<readonly Tool[]> {
  const all = tools === "none" ? [] : tools === "builtin" ? builtinTools({ cwd }) : await loadTools(tools);
  const unknown = (allowTools ?? []).filter((name) => !all.some((tool) => tool.name === name));
  if (unknown.length > 0)
    throw new Error(`${file}: allowTools names ${unknown.join(", ")}, which does not exist`);
  return allowTools === undefined ? all : all.filter(({ name }) => allowTools.includes(name));
}

async function eventsOf(session: Session): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for await (const event of session.events()) events.push(event);
  return events;
}

function overBudget({ limits }: EvalScenario, cost: number | undefined): boolean {
  return limits.costUsd !== undefined && cost !== undefined && cost > limits.costUsd;
}
