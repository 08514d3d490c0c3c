/**
 * What the API promises about turns. An accepted turn (202) is durable. The same request sent again, at any time and to
 * any process, is answered with the state of the first. An acknowledged cancel (200) holds, whatever happens to this
 * process. Every process reads a turn's state from the log; memory only adds what the log cannot say.
 */

import { type TurnResult, turnResult, type TurnState } from "../../base/api/index.ts";
import {
  codedError,
  codeOf,
  createIdSource,
  isObject,
  type JsonObject,
  tryParseJson,
} from "../../base/support/index.ts";
import type { TurnFacts } from "../../runtime/facts/index.ts";
import { assertInput, type Session } from "../../runtime/session/index.ts";
import { takesCommands } from "./commands.ts";
import type { HostedSession } from "./hosted-session.ts";
import { CANCELLED } from "./hosted-turns.ts";
import { publicResult } from "./http-errors.ts";
import {
  type BeginOptions,
  differenceFromLog,
  differenceFromMessage,
  differenceOf,
  type TurnRequest,
} from "./turn-request.ts";

interface KnownTurn {
  readonly state: TurnState;
  /** Describes the difference; undefined if the request is the same. */
  differsFrom(request: TurnRequest): Promise<string | undefined>;
}

export interface AcceptOptions {
  /** Chosen by the client, so that it can send the request again. */
  readonly turn: string | undefined;
  readonly whenBusy?: "queue" | "reject" | "steer" | undefined;
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
  if (known === undefined) {
    try {
      return await begin(hosted, request, options);
    } catch (error) {
      // The same request arrived at another node too, and that one was faster.
      const begun = codeOf(error) === "turn_exists" ? await findTurn(hosted, options.turn) : undefined;
      if (begun === undefined) throw error;
      return answerAgain(begun, request, options);
    }
  }
  return answerAgain(known, request, options);
}

async function answerAgain(
  known: KnownTurn,
  request: TurnRequest,
  options: BeginOptions,
): Promise<TurnState> {
  const difference = await known.differsFrom(request);
  if (difference === undefined) return known.state;
  throw codedError(
    "turn_exists",
    `turn "${options.turn}" already exists, and ${difference}. Give a new turn its own id`,
  );
}

/** Begins the turn here, or hands it to the node that holds the session. Durable in either case. */
async function begin(hosted: HostedSession, request: TurnRequest, options: BeginOptions): Promise<TurnState> {
  hosted.assertTakesTurns();
  const { shared } = hosted;
  try {
    return await hosted.withSession("write", (session) => hosted.turns.promise(session, request, options));
  } catch (error) {
    if (shared === undefined || !(await takesCommands(error, shared, hosted.id))) throw error;
  }
  if (options.whenBusy === "reject")
    throw codedError("session_busy", `session "${hosted.id}" is in the middle of a turn on another node`);
  if (request.kind !== "retry") assertInput(request.input); // the node that begins it could only log its failure
  const { holder } = await shared.admitTurn(hosted.id, options.turn, { ...request });
  if (holder === undefined) hosted.owes(); // its holder left at that moment, so this node begins it
  hosted.asked();
  return { turn: options.turn, state: "queued" };
}

/** Continues the interrupted turn. It is already in the log, so it does not have to wait in the list. */
export async function resumeTurn(
  hosted: HostedSession,
  { turn, output }: { readonly turn: string | undefined; readonly output: JsonObject | undefined },
): Promise<TurnState> {
  const known = turn === undefined ? undefined : await turnState(hosted, turn);
  if (known !== undefined && known.result?.status !== "interrupted") return known; // sent again
  return hosted.withSession("write", (session) =>
    hosted.turns.add(session.resume({ bufferEvents: false, output })),
  );
}

/** Every process gives the same answer at any time. */
export async function turnState(hosted: HostedSession, turn: string): Promise<TurnState> {
  const known = await findTurn(hosted, turn);
  if (known === undefined) throw codedError("turn_unknown", "there is no such turn in this session");
  return known.state;
}

async function findTurn(hosted: HostedSession, turn: string): Promise<KnownTurn | undefined> {
  await hosted.shared?.confirmLease(); // a node that was stopped may think that it still runs its turns
  const [state, request] = [viewHere(hosted, turn), hosted.turns.requestOf(turn)];
  if (state !== undefined && request !== undefined)
    return { state, differsFrom: async (now) => differenceOf(now, request) };
  const code = state?.result?.error?.code;
  if (
    state !== undefined &&
    (code === "log_replaced" || (code === "event_invalid" && state.firstSeq === undefined))
  )
    return { state, differsFrom: async () => undefined };
  return hosted.withSession("read", async (session) => {
    // The list is read before the log: a turn leaves it only when the log has its end.
    const list = session.access === "read" ? await hosted.waiting.list() : undefined;
    const all = await hosted.factsOf(session);
    const facts = all.turns.get(turn);
    const here = viewHere(hosted, turn); // read now, because the turn may have begun here while the log was read
    if (facts !== undefined)
      return {
        state: here ?? (await stateInLog(hosted, facts, session, all.openTurn)),
        differsFrom: (now) => differenceFromLog(now, facts),
      };
    const message = all.steered.get(turn);
    if (message?.turn !== undefined) {
      const host = all.turns.get(message.turn) as TurnFacts;
      const joined =
        viewHere(hosted, message.turn) ?? (await stateInLog(hosted, host, session, all.openTurn));
      return {
        state: here ?? { ...joined, turn, joined: message.turn, firstSeq: message.seq },
        differsFrom: (now) => differenceFromMessage(now, message),
      };
    }
    if (here !== undefined) return { state: here, differsFrom: async () => undefined };
    // For a session held here, memory knows the waiting turns, except those that could not begin.
    const waiting = (list ?? (await hosted.waiting.list())).find((one) => one.turn === turn);
    if (waiting === undefined) {
      await assertCurrent(hosted, session);
      return undefined;
    }
    if (list === undefined || session.writer === "none") hosted.owes(); // no other process will begin it
    return {
      state: waiting.cancelled ? { turn, state: "done", result: CANCELLED } : { turn, state: "queued" },
      differsFrom: async (now) => differenceOf(now, waiting.request as unknown as TurnRequest),
    };
  });
}

/**
 * Rejects if another node may have gone on with the session. A process that was stopped for longer than its lease does
 * not know that yet, and what it has in memory is old.
 */
async function assertCurrent({ id, shared }: HostedSession, session: Session): Promise<void> {
  if (session.access === "read") return;
  await shared?.confirmLease();
  if (session.writer === "live") return;
  throw codedError(
    "session_fenced",
    `another node may have gone on with session "${id}". Send the request again`,
  );
}

/** What this process knows of a turn. A turn that it has not ended is its own only while it writes the session. */
function viewHere({ turns, isWriter }: HostedSession, turn: string): TurnState | undefined {
  const state = turns.view(turn);
  return state?.state === "done" || isWriter ? state : undefined;
}

/** The state of a turn that this process does not run. */
async function stateInLog(
  hosted: HostedSession,
  facts: TurnFacts,
  session: Session,
  open: string | undefined,
): Promise<TurnState> {
  const { turn, firstSeq, lastSeq, end } = facts;
  // Work that runs here without being requested as a turn is a compaction, or continues after one.
  const runs = session.access === "read" ? session.writer === "live" : session.busy && open === turn;
  if (end === undefined && (runs || (open === turn && (await hosted.state.wakes()))))
    return { turn, state: "running", firstSeq };
  return { turn, state: "done", firstSeq, result: resultOf(facts), lastSeq };
}

/** The same before and after the next writer has closed the turn. */
function resultOf(facts: TurnFacts): TurnResult {
  const { end, text, usage, steps } = facts;
  if (end === undefined) return { status: "interrupted", text, usage, steps };
  const { status, reason, error } = end;
  const output = outputOf(facts);
  return publicResult(
    turnResult({ status, text, usage: end.usage, steps: end.steps, reason, error, output }),
  );
}

/** The value of a structured answer. It was validated before the turn could complete. */
function outputOf({ output, text }: TurnFacts): JsonObject | undefined {
  const value = output && tryParseJson(text.trim());
  return isObject(value) ? value : undefined;
}
