/**
 * Waiting for turns, cancelling them and answering their questions, wherever they run. A request to a node that does not
 * hold the session goes through the store's inbox and is answered when the log shows its effect.
 */

import type { TurnResult, TurnState } from "../../base/api/index.ts";
import type { LoggedEvent } from "../../base/events/index.ts";
import { codedError, onAbort } from "../../base/support/index.ts";
import type { SharedStore } from "../../runtime/log/index.ts";
import {
  cancelCommand,
  decide,
  decideCommand,
  type Decision,
  EFFECT_MS,
  takesCommands,
  unconfirmed,
} from "./commands.ts";
import type { HostedSession } from "./hosted-session.ts";
import { turnState } from "./turn-promises.ts";

/** Returns the state when the turn has ended, wherever it runs, or the current one when the signal aborts. */
export function turnEnded(hosted: HostedSession, turn: string, signal: AbortSignal): Promise<TurnState> {
  return untilSeen(hosted, signal, async () => {
    const state = await turnState(hosted, turn);
    return { found: state.state === "done" ? state : undefined, last: state };
  });
}

const INBOX_MS = 100;

/** Looks whenever something happens in the session, here or elsewhere, until something is found. */
export async function untilSeen<T>(
  hosted: HostedSession,
  signal: AbortSignal,
  look: () => Promise<{ readonly found: T | undefined; readonly last: T }>,
): Promise<T> {
  const over = new AbortController();
  const leave = hosted.join();
  let wake: (() => void) | undefined;
  const ring = (): void => wake?.();
  const unlisten = [hosted.onChange(ring), onAbort(signal, ring)];
  // The inbox of another node changes without an event.
  const timer = hosted.shared === undefined ? undefined : setInterval(ring, INBOX_MS).unref();
  let listening = false;
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const { found, last } = await look();
      if (found !== undefined || signal.aborted) return found ?? last;
      if (!listening) {
        listening = true;
        listen(hosted, over.signal).catch(ring);
      }
      await changed;
    }
  } finally {
    clearInterval(timer);
    over.abort();
    leave();
    for (const one of unlisten) one();
  }
}

/** Follows what another process does with the session until the signal aborts; `onChange` listeners then see it. */
async function listen(hosted: HostedSession, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !hosted.gone) {
    const { session, swapped } = await hosted.attach();
    const stopped = new AbortController();
    const stop = (): void => stopped.abort();
    const forget = [signal, swapped].map((one) => onAbort(one, stop));
    try {
      if (signal.aborted || swapped.aborted) stop();
      const news = session.followBatches({ after: session.lastSeq, signal: stopped.signal });
      const each = news[Symbol.asyncIterator]();
      while ((await each.next()).done !== true);
    } finally {
      for (const one of forget) one();
    }
  }
}

/** Resolves once the turn is certain to be cancelled; otherwise throws the reason. */
export async function cancelTurn(hosted: HostedSession, turn: string | undefined): Promise<void> {
  const { shared } = hosted;
  if (shared !== undefined && (await isLeftOpen(hosted, turn))) return cancelElsewhere(hosted, shared, turn);
  try {
    await cancelHere(hosted, turn);
  } catch (error) {
    if (shared === undefined || !(await takesCommands(error, shared, hosted.id))) throw error;
    await cancelElsewhere(hosted, shared, turn);
  }
}

/** A node that is gone left the turn open. The next one goes on with it and then finds the command. */
function isLeftOpen(hosted: HostedSession, turn: string | undefined): Promise<boolean> {
  return hosted.withSession("read", async (session) => {
    const { openTurn } = await hosted.factsOf(session);
    return session.interrupted && (turn ?? openTurn) === openTurn && (await hosted.state.wakes());
  });
}

async function cancelHere(hosted: HostedSession, turn: string | undefined): Promise<void> {
  if (turn === undefined) {
    if (await hosted.whereItRuns((session) => session.cancel())) return;
    throw codedError("nothing_to_cancel", `nothing is running in session "${hosted.id}"`);
  }
  if (await hosted.turns.cancel(turn)) return;
  let { state, result } = await turnState(hosted, turn);
  if (state === "queued") {
    await hosted.whereItRuns(() => undefined);
    await hosted.beginWaiting(); // it is then held here and can be cancelled
    if (await hosted.turns.cancel(turn)) return;
    ({ state, result } = await turnState(hosted, turn));
  }
  if (result?.status === "cancelled") return;
  if (state !== "done" && (await hosted.whereItRuns((session) => session.cancel()))) return;
  throw alreadyEnded(result);
}

/** Answered when the log, or the list of waiting turns, shows that it holds. */
async function cancelElsewhere(
  hosted: HostedSession,
  shared: SharedStore,
  given: string | undefined,
): Promise<void> {
  const running = await hosted.withSession(
    "read",
    async (session) => (await hosted.factsOf(session)).openTurn,
  );
  const turn = given ?? running;
  if (turn === undefined)
    throw codedError("nothing_to_cancel", `nothing is running in session "${hosted.id}"`);
  const { holder } = await shared.admitCommand(hosted.id, cancelCommand(turn));
  if (holder === undefined) hosted.owes();
  const { state, result } = await turnEnded(hosted, turn, AbortSignal.timeout(EFFECT_MS));
  if (state !== "done") throw unconfirmed(holder);
  if (result?.status !== "cancelled") throw alreadyEnded(result);
}

function alreadyEnded(result: TurnResult | undefined): Error {
  return codedError(
    "turn_ended",
    `the turn has already ended${result === undefined ? "" : ` (${result.status})`}`,
  );
}

/** Answers a question about a call, wherever its turn runs. Resolves once the log has the answer. */
export async function decideCall(hosted: HostedSession, decision: Decision): Promise<void> {
  try {
    await hosted.whereItRuns((session) => decide(session, decision));
  } catch (error) {
    const { shared } = hosted;
    if (shared === undefined || !(await takesCommands(error, shared, hosted.id))) throw error;
    await decideElsewhere(hosted, shared, decision);
  }
}

async function decideElsewhere(
  hosted: HostedSession,
  shared: SharedStore,
  decision: Decision,
): Promise<void> {
  const { request, argumentsHash, forSession } = decision;
  const asked = await openQuestion(hosted, request);
  if (asked === undefined)
    throw codedError(
      "permission_not_pending",
      `no permission request "${request}" is waiting: it was already answered, or its turn has ended`,
    );
  if (argumentsHash !== undefined && argumentsHash !== asked.argumentsHash)
    throw codedError(
      "permission_mismatch",
      `permission request "${request}" has different arguments from those you approved. Read the request again`,
    );
  if (forSession === true && asked.rule === undefined)
    throw codedError(
      "allow_rule_invalid",
      `permission request "${request}" has no rule: no text says exactly what it asks for. Allow it once`,
    );
  const { holder } = await shared.admitCommand(hosted.id, decideCommand(decision));
  if (holder === undefined) hosted.owes();
  const found = await untilSeen(hosted, AbortSignal.timeout(EFFECT_MS), async () => {
    const logged = await decisionInLog(hosted, asked);
    return { found: logged, last: logged };
  });
  if (found === undefined) throw unconfirmed(holder);
  if (found !== decision.decision)
    throw codedError("permission_not_pending", `permission request "${request}" was already answered`);
}

type Question = Extract<LoggedEvent, { readonly type: "permission_request" }>;

/** A question that waits for its answer. A resumed turn asks again under another id, and the first one still answers it. */
async function openQuestion(hosted: HostedSession, request: string): Promise<Question | undefined> {
  return hosted.withSession("read", async (session) => {
    const { question } = await hosted.factsOf(session);
    let asked: Question | undefined;
    for await (const event of session.events())
      if (event.type === "permission_request" && event.requestId === request) asked = event;
    const isOpen = asked?.response === question?.response && asked?.callId === question?.callId;
    return isOpen ? asked : undefined;
  });
}

/** The decision about the exact call of a question. */
async function decisionInLog(
  hosted: HostedSession,
  { response, callId, seq }: Question,
): Promise<"allow" | "deny" | undefined> {
  return hosted.withSession("read", async (session) => {
    for await (const event of session.events({ after: seq }))
      if (event.type === "permission_decision" && event.response === response && event.callId === callId)
        return event.decision ?? "deny";
    return undefined;
  });
}
