/** Decides whether a call may run: by policy, by a function, or by a person, who is asked only once. */

import { createHash } from "node:crypto";

import {
  type EventDraft,
  eventsWhere,
  type PermissionDecisionEvent,
  type ToolCall,
  type ToolStatus,
} from "../../base/events/index.ts";
import { codedError, codeOf, isObject, messageOf, shown, untilAborted } from "../../base/support/index.ts";
import { permissionFor, ruleOfCall, type Tool, type ToolAccess } from "../tools/index.ts";
import type { PermissionAsk, PermissionDecision, PersonsAnswer, TurnContext } from "./context.ts";
import { deniedByDefault } from "./denied-by-default.ts";

export interface Verdict {
  readonly allowed: boolean;
  readonly drafts: readonly EventDraft[];
  readonly status: ToolStatus;
  readonly text: string;
}

export interface CheckedCall {
  readonly call: ToolCall;
  readonly access: ToolAccess;
  /** The tool and its validated input. Absent for a call that wraps several: no rule covers it. */
  readonly checked?: { readonly tool: Tool; readonly input: unknown } | undefined;
}

export async function permission(
  context: TurnContext,
  { call, access, checked: known }: CheckedCall,
): Promise<Verdict> {
  const argumentsHash = createHash("sha256").update(`${call.name}\0${call.arguments}`).digest("hex");
  const base = { turn: context.turn, response: call.response, callId: call.callId, argumentsHash };
  const decided = (
    by: "policy" | "person" | "function",
    { decision, reason }: PermissionDecision,
    { requestId, rule }: { readonly requestId?: string; readonly rule?: string } = {},
  ): Verdict => ({
    allowed: decision === "allow",
    drafts: [{ type: "permission_decision", ...base, decision, by, requestId, reason, rule }],
    status: "denied",
    text: `not executed: denied by ${by === "policy" ? "the permission policy" : "the user"}${reason === undefined ? "" : `: ${reason}`}`,
  });
  const { policy, interactive } = context.permissions;
  const before = context.resumed === true ? decisionBefore(context, base) : undefined;
  if (before !== undefined) return { ...decided("person", before), drafts: [] };
  const mode = typeof policy === "function" ? "ask" : permissionFor(policy, access);
  if (mode === "allow") return decided("policy", { decision: "allow" });
  if (mode === "deny") {
    const denied = decided("policy", {
      decision: "deny",
      reason: `"${String(policy)}" does not allow ${access}`,
    });
    return { ...denied, drafts: [...denied.drafts, ...deniedByDefault(context, call.name)] };
  }
  const rule =
    typeof policy === "function" ? undefined : known && context.permissions.ruleFor(known.tool, known.input);
  if (rule !== undefined) return decided("policy", { decision: "allow" }, { rule });
  if (typeof policy !== "function" && !interactive) {
    return decided("policy", {
      decision: "deny",
      reason: "this call needs permission, and the session is not interactive",
    });
  }
  const requestId = context.ids.next("pr");
  const ask: PermissionAsk = {
    requestId,
    callId: call.callId,
    tool: call.name,
    access,
    arguments: call.arguments,
    argumentsHash,
    rule: typeof policy === "function" ? undefined : known && ruleOfCall(known.tool, known.input),
    ...ofServer(context, known?.tool),
  };
  // Start waiting before the question becomes visible: its first reader may answer at once.
  const earlier = context.resumed === true ? askedBefore(context, base) : [];
  const waiting =
    typeof policy === "function" ? policy : paused(context, () => context.permissions.ask(ask, earlier));
  if (typeof waiting !== "function") waiting.catch(() => undefined);
  // Durable before the question is asked: an answer from another process must find it in the log.
  await context.live.append(
    [{ type: "permission_request", turn: context.turn, response: call.response, ...ask }],
    { durable: true },
  );
  try {
    if (typeof waiting !== "function") {
      const answer = await waiting;
      return await record(context, decided("person", answer, { requestId }), { ...answer, requestId });
    }
    const answer = paused(context, async () => checked(await waiting(ask), call.name));
    const decision = await untilAborted(answer, context.signal);
    if (decision === undefined) return { allowed: false, drafts: [], ...notRun(context) };
    return decided("function", decision, { requestId });
  } catch (error) {
    if (context.signal.aborted) return { allowed: false, drafts: [], ...notRun(context) };
    if (codeOf(error) === PERMISSION_INVALID) throw error;
    return decided(
      "function",
      { decision: "deny", reason: `the permission check failed: ${messageOf(error)}` },
      { requestId },
    );
  }
}

/** What a person should know of a tool that another program provides. */
function ofServer(
  { permissions }: TurnContext,
  tool: Tool | undefined,
): Pick<PermissionAsk, "mcp" | "changed"> {
  if (tool?.mcp === undefined) return {};
  return { mcp: tool.mcp, ...(permissions.hasChanged?.(tool) === true ? { changed: true } : {}) };
}

/** The code of a turn that failed because the permission function returned no decision. */
export const PERMISSION_INVALID = "permission_invalid";

/** A function in JavaScript may return anything. Neither "allowed" nor "denied" can be guessed from it. */
function checked(answer: unknown, tool: string): PermissionDecision {
  const { decision, reason } = isObject(answer) ? answer : {};
  if (decision === "allow" || decision === "deny")
    return { decision, reason: typeof reason === "string" ? reason : undefined };
  throw codedError(
    PERMISSION_INVALID,
    `the permission function returned ${shown(answer)} for ${tool}, so nothing was run. Return { decision: "allow" } or { decision: "deny", reason: "…" }`,
  );
}

interface ExactCall {
  readonly response: string;
  readonly callId: string;
  readonly argumentsHash: string;
}

/** A person's decision about this exact call before the process died. */
function decisionBefore({ live }: TurnContext, call: ExactCall): PermissionDecision | undefined {
  const found = eventsWhere(live.log.events, ({ response }) => response === call.response).findLast(
    (event): event is PermissionDecisionEvent =>
      event.type === "permission_decision" && event.by === "person" && isAbout(event, call),
  );
  return found && { decision: found.decision ?? "deny", reason: found.reason };
}

/** The ids of the questions about this exact call that were open when the process died. A viewer may still show them. */
function askedBefore({ live }: TurnContext, call: ExactCall): readonly string[] {
  return eventsWhere(live.log.events, ({ response }) => response === call.response).flatMap((event) =>
    event.type === "permission_request" && isAbout(event, call) ? [event.requestId] : [],
  );
}

function isAbout(event: ExactCall, { response, callId, argumentsHash }: ExactCall): boolean {
  return event.response === response && event.callId === callId && event.argumentsHash === argumentsHash;
}

/** Logs the decision at once: another question may delay the tools, and a person must not be asked twice. */
async function record(
  context: TurnContext,
  verdict: Verdict,
  { rule, requestId, recorded }: Pick<PersonsAnswer, "rule" | "recorded"> & { readonly requestId: string },
): Promise<Verdict> {
  const { turn } = context;
  const added: readonly EventDraft[] =
    rule === undefined ? [] : [{ type: "permission_rule", turn, rule, by: "person", requestId }];
  try {
    await context.live.append([...verdict.drafts, ...added], { durable: true });
    recorded();
    return { ...verdict, drafts: [] };
  } catch (error) {
    recorded(error);
    throw error;
  }
}

/** The time limit of the turn is suspended while a person or function decides. */
function paused<T>({ deadline }: TurnContext, work: () => Promise<T>): Promise<T> {
  return deadline === undefined ? work() : deadline.paused(work);
}

export function notRun({ signal }: Pick<TurnContext, "signal">): {
  readonly status: "cancelled";
  readonly text: string;
} {
  return { status: "cancelled", text: `not executed: ${whyStopped(signal)}` };
}

export function whyStopped(signal: AbortSignal): string {
  const code = codeOf(signal.reason);
  if (code === "turn_timeout") return "the turn ran out of time";
  return code?.startsWith("log_") === true ? "the log could not be written" : "the user stopped the turn";
}
