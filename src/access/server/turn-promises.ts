/**
 * What the API promises of turns. One that was accepted (202) is durable; the same request sent again, at any time and to
 * any process, is answered with the state of the first; a cancel that was answered (200) holds, whatever happens to this
 * process. The state of a turn is read from the log by all alike; memory only adds what the log cannot tell.
 */

import type { TurnResult, TurnState } from "../../base/api/index.ts";
import { codedError, createIdSource, onAbort } from "../../base/support/index.ts";
import type { TurnFacts } from "../../runtime/facts/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import type { HostedSession } from "./hosted-session.ts";
import { CANCELLED } from "./hosted-turns.ts";
import { publicResult } from "./http-errors.ts";
import { type BeginOptions, differenceFromLog, differenceOf, type TurnRequest } from "./turn-request.ts";

interface KnownTurn {
  readonly state: TurnState;
  /** In words; undefined when the request is the same. */
  differsFrom(request: TurnRequest): Promise<string | undefined>;
}

export interface AcceptOptions {
  /** Chosen by the client, so that the request can be sent again. */
  readonly turn: string | undefined;
  readonly whenBusy?: "queue" | "reject" | undefined;
}

const ids = createIdSource(() => Date.now());

export async function acceptTurn(
  hosted: HostedSession,
  request: TurnRequest,
  options: AcceptOptions,
): Promise<TurnState> {
  const { turn, whenBusy } = options;
  if (turn === undefined) return begin(hosted, request, { turn: ids.next("tn"), whenBusy });
  return hosted.turns.oneAtATime(turn, () => beginOnce(hosted, request, { turn, whenBusy }));
}

async function beginOnce(
  hosted: HostedSession,
  request: TurnRequest,
  options: BeginOptions,
): Promise<TurnState> {
  const known = await findTurn(hosted, options.turn);
  if (known === undefined) return begin(hosted, request, options);
  const difference = await known.differsFrom(request);
  if (difference === undefined) return known.state;
  throw codedError(
    "turn_exists",
    `there is a turn "${options.turn}" already, and ${difference}: give a new turn an id of its own`,
  );
}

function begin(hosted: HostedSession, request: TurnRequest, options: BeginOptions): Promise<TurnState> {
  hosted.turns.assertRoom();
  return hosted.withSession("write", (session) => hosted.turns.promise(session, request, options));
}

/** Goes on with the interrupted turn. It is in the log already, so that nothing has to wait for it. */
export async function resumeTurn(hosted: HostedSession, turn: string | undefined): Promise<TurnState> {
  const known = turn === undefined ? undefined : await turnState(hosted, turn);
  if (known !== undefined && known.result?.status !== "interrupted") return known; // sent again
  return hosted.withSession("write", (session) => hosted.turns.add(session.resume({ bufferEvents: false })));
}

/** Whoever is asked, and whenever: the answer is the same. */
export async function turnState(hosted: HostedSession, turn: string): Promise<TurnState> {
  const known = await findTurn(hosted, turn);
  if (known === undefined) throw codedError("turn_unknown", "there is no such turn in this session");
  return known.state;
}

async function findTurn(hosted: HostedSession, turn: string): Promise<KnownTurn | undefined> {
  const [state, request] = [hosted.turns.view(turn), hosted.turns.requestOf(turn)];
  if (state !== undefined && request !== undefined)
    return { state, differsFrom: async (now) => differenceOf(now, request) };
  if (state?.result?.error?.code === "log_replaced") return { state, differsFrom: async () => undefined };
  return hosted.withSession("read", async (session) => {
    // The list is read before the log: a turn leaves it only when the log has its end.
    const list = session.access === "read" ? await hosted.waiting.list() : undefined;
    const all = await hosted.factsOf(session);
    const facts = all.turns.get(turn);
    const here = hosted.turns.view(turn); // now: it may have begun here while the log was read
    if (facts !== undefined)
      return {
        state: here ?? stateInLog(facts, session, all.openTurn),
        differsFrom: (now) => differenceFromLog(now, facts),
      };
    if (here !== undefined) return { state: here, differsFrom: async () => undefined };
    // Of a session that is held here memory knows what waits, all but what could not begin.
    const waiting = (list ?? (await hosted.waiting.list())).find((one) => one.turn === turn);
    if (waiting === undefined) return undefined;
    if (list === undefined || session.writer === "none") hosted.owes(); // nobody else begins it
    return {
      state: waiting.cancelled ? { turn, state: "done", result: CANCELLED } : { turn, state: "queued" },
      differsFrom: async (now) => differenceOf(now, waiting.request as unknown as TurnRequest),
    };
  });
}

/** A turn that this process does not run. */
function stateInLog(facts: TurnFacts, session: Session, open: string | undefined): TurnState {
  const { turn, firstSeq, lastSeq, end } = facts;
  // What runs here and was not asked for as a turn is a compaction, or goes on after one.
  const runs = session.access === "read" ? session.writer === "live" : session.busy && open === turn;
  if (end === undefined && runs) return { turn, state: "running", firstSeq };
  return { turn, state: "done", firstSeq, result: resultOf(facts), lastSeq };
}

/** The same before and after the next writer has closed it. */
function resultOf({ end, text, usage, steps }: TurnFacts): TurnResult {
  if (end === undefined) return { status: "interrupted", text, usage, steps };
  const { status, reason, error } = end;
  return publicResult({ status, text, usage: end.usage, steps: end.steps, reason, error });
}

/** The state when the turn has ended, wherever it runs, or as it is when the signal aborts. */
export async function turnEnded(
  hosted: HostedSession,
  turn: string,
  signal: AbortSignal,
): Promise<TurnState> {
  const over = new AbortController();
  const leave = hosted.join();
  let wake: (() => void) | undefined;
  const look = (): void => wake?.();
  const unlisten = [hosted.onChange(look), onAbort(signal, look)];
  let listening = false;
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const state = await turnState(hosted, turn);
      if (state.state === "done" || signal.aborted) return state;
      if (hosted.turns.view(turn) === undefined && !listening) {
        listening = true;
        listen(hosted, over.signal).catch(look);
      }
      await Promise.race([changed, ...(listening ? [] : [hosted.turns.ended(turn)])]);
    }
  } finally {
    over.abort();
    leave();
    for (const one of unlisten) one();
  }
}

/** Hears what another process does with the session until the signal aborts; `onChange` tells what that was. */
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

/** Resolves when it holds; otherwise says why it cannot. */
export async function cancelTurn(hosted: HostedSession, turn: string | undefined): Promise<void> {
  if (turn === undefined) {
    if (await hosted.whereItRuns((session) => session.cancel())) return;
    throw codedError("nothing_to_cancel", `nothing is under way in session "${hosted.id}"`);
  }
  if (await hosted.turns.cancel(turn)) return;
  let { state, result } = await turnState(hosted, turn);
  if (state === "queued") {
    await hosted.whereItRuns(() => undefined);
    await hosted.beginWaiting(); // it is held here then, and can be stopped
    if (await hosted.turns.cancel(turn)) return;
    ({ state, result } = await turnState(hosted, turn));
  }
  if (result?.status === "cancelled") return;
  if (state !== "done" && (await hosted.whereItRuns((session) => session.cancel()))) return;
  throw codedError(
    "turn_ended",
    `the turn is over: it ended ${result?.status ?? "before it could be stopped"}`,
  );
}
