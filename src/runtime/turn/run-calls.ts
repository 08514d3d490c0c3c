/**
 * Runs the calls of one completed response. Every call ends in exactly one result that the model can read.
 *
 * Calls are checked (name, arguments, schema), then permitted, then logged as started with one sync for all, and only
 * then run in parallel. Calls of tools that say `parallel: false` run one at a time next to them, and each is logged as
 * started right before it runs. Results are logged as tools finish; the fold puts them in call order. A call runs at most
 * once, because `tool_start` is durable before it begins (law 5).
 */

import type { EventDraft, ResultPart, SubAgentSpent, ToolCall, ToolStatus } from "../../base/events/index.ts";
import { codeOf, messageOf, untilAborted } from "../../base/support/index.ts";
import {
  createRegistry,
  expandParallelCall,
  parseArguments,
  renderToolOutput,
  type Tool,
  type ToolAccess,
  type ToolContext,
  type ToolRegistry,
} from "../tools/index.ts";
import { joinOutcomes, lateWords, readOutcome } from "./call-outcome.ts";
import { CallMeter } from "./call-scope.ts";
import type { TurnContext } from "./context.ts";
import { CallQuestions } from "./elicit.ts";
import { type CheckedCall, notRun, permission, PERMISSION_INVALID, whyStopped } from "./permission.ts";
import { notRepaired, repairedText } from "./repair-arguments.ts";
import { keepImages } from "./result-images.ts";
import { settleInTime } from "./settle-in-time.ts";

/** Its call has the arguments to run it with: the model's, or the repaired ones. */
interface Ready extends CheckedCall {
  readonly repaired?: true;
  readonly timeoutMs: number;
  /** If false, it runs only when the calls like it before it have ended. */
  readonly parallel: boolean;
  /** The MCP server that runs it. */
  readonly mcp?: Tool["mcp"];
  readonly run: (context: ToolContext) => Promise<unknown>;
}

interface Settled {
  readonly call: ToolCall;
  readonly status: ToolStatus;
  readonly text: string;
  readonly blob?: string | undefined;
  readonly parts?: readonly ResultPart[] | undefined;
  readonly forPerson?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly spent?: readonly SubAgentSpent[] | undefined;
}

type Prepared = Ready | Settled;

export async function runCalls(context: TurnContext, calls: readonly ToolCall[]): Promise<void> {
  const prepared = await Promise.all(calls.map((call) => prepare(context, call)));
  const settled = prepared.filter((one): one is Settled => !isReady(one));
  const allowed: Ready[] = [];
  const drafts: EventDraft[] = [];
  for (const ready of prepared.filter((one) => isReady(one))) {
    const verdict = await permission(context, ready).catch(async (error: unknown): Promise<never> => {
      if (codeOf(error) === PERMISSION_INVALID)
        await context.live.append([...drafts, ...notPermitted(context, prepared)]);
      throw error;
    });
    drafts.push(...verdict.drafts);
    if (verdict.allowed) allowed.push(ready);
    else settled.push({ call: ready.call, status: verdict.status, text: verdict.text });
  }
  if (context.signal.aborted) {
    const cancelled = allowed.map(({ call }): Settled => ({ call, ...notRun(context) }));
    await context.live.append([
      ...drafts,
      ...[...settled, ...cancelled].map((one) => resultDraft(context, one)),
    ]);
    return;
  }
  drafts.push(...settled.map((one) => resultDraft(context, one)));
  const lanes = lanesOf(allowed);
  drafts.push(...lanes.map(([ready]) => startDraft(context, ready)));
  await context.live.append(drafts, { durable: true });
  await context.live.assertWriter();
  let running = allowed.length;
  // Waits for all of them: if the log refuses one result, the turn's signal stops the others.
  const ended = await Promise.allSettled(
    lanes.map(async (lane) => {
      for (const [at, ready] of lane.entries()) {
        const result = await runOne(context, ready);
        const next = lane[at + 1];
        running -= 1;
        if (next !== undefined && context.signal.aborted) {
          const left = lane
            .slice(at + 1)
            .map(({ call }) => resultDraft(context, { call, ...notRun(context) }));
          await context.live.append([result, ...left]);
          return;
        }
        const start = next === undefined ? [] : [startDraft(context, next)];
        // The sync before the next request covers the last one.
        await context.live.append([result, ...start], { durable: running > 0 });
        if (next !== undefined) await context.live.assertWriter();
      }
    }),
  );
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}

/** The permission function gave no decision: the turn fails, and no call of the response runs. */
function notPermitted(context: TurnContext, prepared: readonly Prepared[]): readonly EventDraft[] {
  const text = "not executed: the permission check returned no decision";
  return prepared.map((one) =>
    resultDraft(context, isReady(one) ? { call: one.call, status: "not_executed", text } : one),
  );
}

type Lane = readonly [Ready, ...Ready[]];

/** Calls that run at the same time, each with those that wait for it, in call order. */
function lanesOf(calls: readonly Ready[]): readonly Lane[] {
  const [first, ...more] = calls.filter(({ parallel }) => !parallel);
  return calls.flatMap((ready): readonly Lane[] => {
    if (ready.parallel) return [[ready]];
    return ready === first ? [[first, ...more]] : [];
  });
}

/** Gives calls that do not run a result, all with the same reason. */
export function settleAll(
  context: TurnContext,
  calls: readonly ToolCall[],
  result: { readonly status: ToolStatus; readonly text: string },
): readonly EventDraft[] {
  return calls.map((call) => resultDraft(context, { call, ...result }));
}

function isReady(prepared: Prepared): prepared is Ready {
  return "run" in prepared;
}

async function prepare(context: TurnContext, call: ToolCall): Promise<Prepared> {
  const registry = createRegistry(context.tools);
  const parsed =
    call.custom === true
      ? ({ ok: true, value: { input: call.arguments } } as const)
      : parseArguments(call.arguments);
  const tool = registry.get(call.name);
  if (tool === undefined) {
    const several = parsed.ok ? expandParallelCall(call.name, parsed.value) : undefined;
    if (several !== undefined) return prepareSeveral(context, call, several);
    return noSuchTool(call, call.name, registry);
  }
  const own = parsed.ok
    ? await prepareTool(context, call, tool, parsed.value)
    : failed(call, `${NOT_EXECUTED}${parsed.message}`);
  if (isReady(own) || own.status !== "error" || call.custom === true) return own;
  return (await prepareRepaired(context, call, tool, own.text.slice(NOT_EXECUTED.length))) ?? own;
}

const NOT_EXECUTED = "not executed: ";

/** Undefined if the arguments are not repaired. */
async function prepareRepaired(
  context: TurnContext,
  call: ToolCall,
  tool: Tool,
  problem: string,
): Promise<Prepared | undefined> {
  const text = await repairedText(context, call, problem);
  if (context.signal.aborted) return { call, ...notRun(context) };
  if (text === undefined) return undefined;
  const parsed = parseArguments(text);
  const repaired = parsed.ok
    ? await prepareTool(context, { ...call, arguments: text }, tool, parsed.value)
    : failed(call, parsed.message);
  if (isReady(repaired)) return { ...repaired, repaired: true };
  if (repaired.status !== "error") return repaired;
  await notRepaired(context, call, `returned arguments that do not fit either: ${repaired.text}`);
  return undefined;
}

function noSuchTool(call: ToolCall, name: string, { list }: ToolRegistry): Settled {
  const known = list.map((tool) => tool.name).join(", ") || "none";
  return failed(call, `not executed: there is no tool "${name}"; available are: ${known}`);
}

async function prepareTool(
  context: TurnContext,
  call: ToolCall,
  tool: Tool,
  input: unknown,
): Promise<Prepared> {
  // The schema may be the caller's own code, which must not outlast the turn.
  const checked = await untilAborted(tool.validate(input), context.signal);
  if (checked === undefined) return { call, ...notRun(context) };
  if (!checked.ok)
    return failed(call, `not executed: the arguments do not fit "${call.name}": ${checked.message}`);
  return {
    call,
    access: tool.access,
    checked: { tool, input: checked.value },
    timeoutMs: tool.timeoutMs ?? context.limits.toolTimeoutMs,
    parallel: tool.parallel !== false,
    mcp: tool.mcp,
    run: async (toolContext) => tool.run(checked.value, toolContext),
  };
}

/** One call that wraps several (failures.md T13): expanded to run, answered with one result. */
async function prepareSeveral(
  context: TurnContext,
  call: ToolCall,
  several: readonly { readonly name: string; readonly input: unknown }[],
): Promise<Prepared> {
  const registry = createRegistry(context.tools);
  const inner: Ready[] = [];
  for (const { name, input } of several) {
    const tool = registry.get(name);
    if (tool === undefined) return noSuchTool(call, name, registry);
    const prepared = await prepareTool(context, { ...call, name }, tool, input);
    if (!isReady(prepared)) return prepared;
    inner.push(prepared);
  }
  const rank: readonly ToolAccess[] = ["read", "write", "execute"];
  const access = inner
    .map((one) => one.access)
    .reduce((a, b) => (rank.indexOf(a) > rank.indexOf(b) ? a : b), "read");
  return {
    call,
    access,
    timeoutMs: context.limits.toolTimeoutMs,
    parallel: inner.every((one) => one.parallel),
    mcp: inner.find((one) => one.mcp !== undefined)?.mcp,
    run: (toolContext) => runSeveral(inner, toolContext),
  };
}

/** A failure does not affect the others. Each has its own idempotency key, because each is a separate call. */
async function runSeveral(inner: readonly Ready[], context: ToolContext): Promise<unknown> {
  let before: Promise<unknown> = Promise.resolve();
  const outcomes = await Promise.allSettled(
    inner.map((one, index) => {
      const run = (): Promise<unknown> =>
        one.run({ ...context, idempotencyKey: `${context.idempotencyKey}/${index}` });
      if (one.parallel) return run();
      const ended = before.then(() =>
        context.signal.aborted ? Promise.reject(context.signal.reason) : run(),
      );
      before = ended.catch(() => undefined);
      return ended;
    }),
  );
  return joinOutcomes(
    inner.map(({ call }) => call.name),
    outcomes,
  );
}

function failed(call: ToolCall, text: string): Settled {
  return { call, status: "error", text };
}

function startDraft(context: TurnContext, { call, repaired }: Ready): EventDraft {
  const { response, callId, name } = call;
  return {
    type: "tool_start",
    turn: context.turn,
    response,
    callId,
    tool: name,
    idempotencyKey: idempotencyKey(context, call),
    ...(repaired === true ? { arguments: call.arguments } : {}),
  };
}

/** Stays the same after a crash, so that an idempotent tool that runs again can recognize the call. */
function idempotencyKey(context: Pick<TurnContext, "live">, call: ToolCall): string {
  return `${context.live.log.session}/${call.id}`;
}

function resultDraft({ turn }: TurnContext, { call, ...result }: Settled): EventDraft {
  const { response, callId } = call;
  return { type: "tool_result", turn, response, callId, ...result };
}

async function runOne(context: TurnContext, { call, timeoutMs, mcp, run }: Ready): Promise<EventDraft> {
  const started = context.clock.monotonic();
  const meter = new CallMeter();
  const questions = new CallQuestions(context, call);
  const outcome = await settleInTime(
    (signal, paused) =>
      run(questions.scoped(meter.scoped(contextOf(context, call, signal), context, call), paused)),
    {
      signal: context.signal,
      timeoutMs,
      graceMs: context.limits.toolGraceMs,
      onLate: (late) => {
        const message = `the tool "${call.name}" (${call.callId}) ended after its result was recorded: ${lateWords(late)}`;
        // Nothing waits for it any more, and a log that was closed meanwhile cannot record it.
        context.live
          .append([
            { type: "notice", turn: context.turn, code: "late_result", message: context.redact(message) },
          ])
          .catch(() => undefined);
      },
    },
  );
  await questions.end();
  const { status, value, images, forPerson } = readOutcome(outcome, {
    call,
    timeoutMs,
    why: whyStopped(context.signal),
    mcp,
  });
  const { parts, leftOut } = await keepImages(context, call, images);
  const whole = renderToolOutput(leftOut.length === 0 ? value : withLines(value, leftOut));
  // Redacted before it is shortened: a secret split by the marker would survive in halves.
  const { text, full } = renderToolOutput(context.redact(whole.full ?? whole.text));
  const blob = full === undefined ? undefined : await keepWhole(context, call, full);
  const durationMs = Math.round(context.clock.monotonic() - started);
  return resultDraft(context, {
    call,
    status,
    text,
    blob,
    ...(parts.length === 0 ? {} : { parts }),
    ...(forPerson === undefined ? {} : { forPerson: renderToolOutput(context.redact(forPerson)).text }),
    durationMs,
    spent: meter.spent,
  });
}

function withLines(value: unknown, lines: readonly string[]): string {
  return [value, ...lines].filter((one) => one !== "").join("\n");
}

function contextOf(context: TurnContext, call: ToolCall, signal: AbortSignal): ToolContext {
  const { turn } = context;
  const { response, callId } = call;
  return {
    signal,
    callId,
    idempotencyKey: idempotencyKey(context, call),
    progress: (text) =>
      context.live.publish([{ type: "tool_progress", turn, response, callId, text: context.redact(text) }]),
  };
}

/** The tool has run, so its result must reach the log even if the rest of a long output cannot be stored. */
async function keepWhole(context: TurnContext, call: ToolCall, full: string): Promise<string | undefined> {
  try {
    return await context.live.log.putBlob(Buffer.from(full));
  } catch (error) {
    const message = `only the shortened output of "${call.name}" (${call.callId}) is kept: ${messageOf(error)}`;
    const code = codeOf(error) ?? "blob_write_failed";
    await context.live.append([
      { type: "notice", turn: context.turn, code, message: context.redact(message) },
    ]);
    return undefined;
  }
}
