/**
 * Commands to a session that another node holds. They go through the store's inbox, durable before anything else
 * happens, and are answered when the log shows their effect. The node that holds the session carries them out.
 */

import { codedError, isObject } from "../../base/support/index.ts";
import type { Command, SharedStore } from "../../runtime/log/index.ts";
import type { Session } from "../../runtime/session/index.ts";

/** An answer to a question about a call. */
export interface Decision {
  readonly request: string;
  readonly decision: "allow" | "deny";
  readonly reason?: string | undefined;
  readonly argumentsHash?: string | undefined;
  readonly forSession?: boolean | undefined;
}

export function cancelCommand(turn: string): Command {
  return { key: `cancel:${turn}`, kind: "cancel", body: { turn } };
}

export function decideCommand(decision: Decision): Command {
  return { key: `decide:${decision.request}`, kind: "decide", body: { ...decision } };
}

/** The turn that a command cancels. */
export function cancelledTurn({ kind, body }: Command): string | undefined {
  return kind === "cancel" && typeof body["turn"] === "string" ? body["turn"] : undefined;
}

/** Undefined if the body is not a decision; another version may have written it. */
export function decisionIn({ kind, body }: Command): Decision | undefined {
  const { request, decision, reason, argumentsHash, forSession } = body;
  if (kind !== "decide" || typeof request !== "string") return undefined;
  if (decision !== "allow" && decision !== "deny") return undefined;
  return {
    request,
    decision,
    reason: typeof reason === "string" ? reason : undefined,
    argumentsHash: typeof argumentsHash === "string" ? argumentsHash : undefined,
    forSession: forSession === true,
  };
}

export function decide(session: Session, { request, decision, reason, ...options }: Decision): Promise<void> {
  return decision === "allow" ? session.approve(request, options) : session.deny(request, reason);
}

/** How long to wait until the log shows the effect of a command. */
export const EFFECT_MS = 10_000;

export function unconfirmed(holder: string | undefined): Error {
  const who = holder === undefined ? "the node that holds the session" : `node ${holder}`;
  return codedError(
    "command_unconfirmed",
    `${who} has not confirmed this within ${EFFECT_MS / 1000} s. The request is kept and may still take effect; look at the session before you repeat it`,
  );
}

/** Whether an error says that another node holds the session and would take a command. */
export async function takesCommands(
  error: unknown,
  shared: SharedStore | undefined,
  id: string,
): Promise<boolean> {
  const isLocked = isObject(error) && error["code"] === "session_locked";
  if (!isLocked || shared === undefined) return false;
  const { holder, takesCommands: takes } = await shared.holderOf(id);
  return holder === undefined || takes;
}
