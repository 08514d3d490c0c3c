/**
 * The session of a sub-agent, for one call of its caller. The call may run again after a crash: the session's id follows
 * from the call, so the same session is opened again. What its log holds decides how it continues: an open turn is
 * resumed, an ended one is reported as it ended. So nothing is sent twice and no tool runs twice.
 */

import { createHash } from "node:crypto";

import type { Input, Turn } from "../../base/api/index.ts";
import {
  addUsage,
  type ErrorInfo,
  type SubAgentSpent,
  type TurnEnd,
  type TurnStatus,
} from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import { factsOf, type SessionFacts, type TurnFacts } from "../facts/index.ts";
import type { Log } from "../log/index.ts";
import { knownPrices } from "./known-prices.ts";
import { createOutputFormat, JudgedAnswer } from "./output-schema.ts";
import type { AgentOptions, OutputSchema, Session } from "./types.ts";

/** The same for every run of one call. */
export function subSessionId(idempotencyKey: string): string {
  return `sub_${createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 24)}`;
}

export interface SubAgentTask {
  readonly prompt: () => Input;
  readonly output: OutputSchema | undefined;
  readonly signal: AbortSignal;
}

/** Returns the sub-agent's answer: its text, or its output if the task has a schema. Throws if there is none. */
export async function answerOf(session: Session, log: Log, task: SubAgentTask): Promise<unknown> {
  const last = lastTurn(factsOf(log.events));
  const end = session.interrupted ? undefined : last?.end;
  if (end === undefined || ranFull(end)) {
    const result = await turnFor(session, end, task).result();
    if (result.status !== "completed") throw noAnswer(session.id, result);
    return task.output === undefined ? result.text : result.output;
  }
  const text = last?.text ?? "";
  if (end.status !== "completed") throw noAnswer(session.id, { ...end, text });
  return task.output === undefined ? text : outputIn(session.id, text, task.output);
}

/** The process died before the compaction that a full context leads to. */
function ranFull({ status, reason }: TurnEnd): boolean {
  return status === "incomplete" && reason === "context";
}

function turnFor(session: Session, end: TurnEnd | undefined, { prompt, output, signal }: SubAgentTask): Turn {
  const options = { output, signal, bufferEvents: false };
  if (session.interrupted) return session.resume(options);
  // A retry keeps the steps that were finished.
  return end === undefined ? session.send(prompt(), options) : session.retry(options);
}

/** The answer was accepted before the process died; the schema may still transform it. */
async function outputIn(id: string, text: string, output: OutputSchema): Promise<unknown> {
  const judged = new JudgedAnswer(createOutputFormat(output));
  const message = await judged.complaint(text);
  if (message === undefined) return judged.value;
  throw noAnswer(id, { status: "failed", error: { code: "output_invalid", message } });
}

/** A compaction runs in a turn of its own, which answers nothing. */
function lastTurn(facts: SessionFacts): TurnFacts | undefined {
  return [...facts.turns.values()].findLast(
    ({ message, requests }) =>
      message?.purpose === undefined && (message !== undefined || requests.length > 0),
  );
}

interface Ended {
  readonly status: TurnStatus;
  readonly reason?: string | undefined;
  readonly error?: ErrorInfo | undefined;
  readonly text?: string | undefined;
}

function noAnswer(id: string, { status, reason, error, text = "" }: Ended): Error {
  const why = {
    completed: "",
    incomplete: `stopped at a limit (${reason ?? "unknown"})`,
    failed: `failed: [${error?.code ?? "unknown"}] ${error?.message ?? "no reason was given"}`,
    cancelled: "was cancelled",
    interrupted: "was interrupted",
  }[status];
  const rest = text === "" ? "" : `. Its last text: ${text}`;
  return codedError("sub_agent_failed", `the sub-agent (session ${id}) ${why}${rest}`);
}

/** What the sub-agent and its own sub-agents have used so far. */
export function spentBy(log: Log, options: AgentOptions): SubAgentSpent {
  const models = new Set([options.model, ...(options.fallback ?? [])]);
  const facts = factsOf(log.events, knownPrices(models, options));
  const below = facts.spent.flatMap(({ usage, subAgent }) => (subAgent === undefined ? [] : [usage]));
  return { session: log.session, usage: below.reduce(addUsage, facts.usage), costUsd: facts.costUsd };
}
