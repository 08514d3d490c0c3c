/**
 * Takes back a message that waits for its turn, wherever the session is held. The answer is given when the message can
 * no longer begin, whatever happens to any process. A turn that has begun is left alone.
 */

import type { Input, TurnState } from "../../base/api/index.ts";
import type { Command, SharedStore } from "../../runtime/log/index.ts";
import { messageJoined, noMessage, turnBegun, turnOver } from "../../runtime/session/index.ts";
import { EFFECT_MS, takesCommands, unconfirmed } from "./commands.ts";
import type { HostedSession } from "./hosted-session.ts";
import { untilSeen } from "./turn-commands.ts";
import { turnState } from "./turn-promises.ts";
import type { TurnRequest } from "./turn-request.ts";

/** A kind that the table knows: a node of an earlier version takes the row, finds no decision in it, and removes it. */
function withdrawCommand(turn: string): Command {
  return { key: `withdraw:${turn}`, kind: "decide", body: { withdraw: turn } };
}

/** The turn whose message a command takes back. */
export function withdrawnTurn({ kind, body }: Command): string | undefined {
  return kind === "decide" && typeof body["withdraw"] === "string" ? body["withdraw"] : undefined;
}

export async function withdrawTurn(hosted: HostedSession, turn: string): Promise<Input> {
  try {
    return await withdrawHere(hosted, turn);
  } catch (error) {
    const { shared } = hosted;
    if (shared === undefined || !(await takesCommands(error, shared, hosted.id))) throw error;
    return withdrawElsewhere(hosted, shared, turn);
  }
}

async function withdrawHere(hosted: HostedSession, turn: string): Promise<Input> {
  const { turns } = hosted;
  const taken = await hosted.whereItRuns((session) => turns.withdraw(session, turn));
  if (taken !== undefined) return taken;
  const input = await waitingInput(hosted, turn);
  if (input !== undefined) {
    // No process holds it. Whoever opens the session to write begins its waiting turns, this one excepted.
    await turns.withholding(turn, () => hosted.beginWaiting());
    if (await isWithdrawn(hosted, turn)) return input;
  }
  const state = await turnState(hosted, turn);
  const late = await hosted.whereItRuns((session) => turns.withdraw(session, turn)); // another request has begun it
  if (late !== undefined) return late;
  throw tooLate(state);
}

/** Answered when the log, or the list of waiting turns, shows that it holds. */
async function withdrawElsewhere(hosted: HostedSession, shared: SharedStore, turn: string): Promise<Input> {
  const input = await waitingInput(hosted, turn);
  if (input === undefined) throw tooLate(await turnState(hosted, turn));
  const { holder } = await shared.admitCommand(hosted.id, withdrawCommand(turn));
  if (holder === undefined) hosted.owes();
  const state = await untilSeen(hosted, AbortSignal.timeout(EFFECT_MS), async () => {
    const last = await turnState(hosted, turn);
    return { found: last.state === "queued" ? undefined : last, last };
  });
  if (state.state === "queued") throw unconfirmed(holder);
  if (!(await isWithdrawn(hosted, turn))) throw tooLate(state);
  hosted.asked();
  return input;
}

/** The message of a turn in the list that the log does not have. */
async function waitingInput(hosted: HostedSession, turn: string): Promise<Input | undefined> {
  const waiting = (await hosted.waiting.list()).find((one) => one.turn === turn);
  if (waiting === undefined || (await isInLog(hosted, turn))) return undefined;
  const asked = waiting.request as unknown as TurnRequest;
  if (!("input" in asked)) throw noMessage(turn);
  return asked.input;
}

function isInLog(hosted: HostedSession, turn: string): Promise<boolean> {
  return hosted.withSession("read", async (session) => (await hosted.factsOf(session)).has(turn));
}

/** It will never begin: it is cancelled, and the log has no message of it. */
async function isWithdrawn(hosted: HostedSession, turn: string): Promise<boolean> {
  const { result } = await turnState(hosted, turn);
  if (result?.status !== "cancelled") return false;
  return hosted.withSession("read", async (session) => {
    const { turns, steered } = await hosted.factsOf(session);
    return turns.get(turn)?.message === undefined && !steered.has(turn);
  });
}

function tooLate({ turn, state, joined }: TurnState): Error {
  if (state === "done") return turnOver(turn);
  return joined === undefined ? turnBegun(turn) : messageJoined();
}
