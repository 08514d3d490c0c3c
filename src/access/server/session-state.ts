/** The state of a hosted session as clients see it, and as a frame of their streams. */

import { type QueuedTurn, queuedTurn, type SessionState } from "../../base/api/index.ts";
import type { SessionFacts } from "../../runtime/facts/index.ts";
import type { SharedStore, Waiting, WaitingTurn } from "../../runtime/log/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import type { OnNodeLoss } from "./hosted-inbox.ts";
import type { HostedTurns } from "./hosted-turns.ts";
import type { TurnRequest } from "./turn-request.ts";

/** The state as a frame of a stream. */
export interface StateFrame {
  /** Equal keys mean nothing new to send. `lastSeq` is excluded: every event carries it. */
  readonly key: string;
  /** No buffer: one of this size is a slice of a large block, which would stay in memory with it. */
  readonly text: string;
}

export interface HostedStateParts {
  readonly id: string;
  readonly shared: SharedStore | undefined;
  readonly onNodeLoss: OnNodeLoss;
  readonly turns: HostedTurns;
  readonly waiting: Waiting;
  readonly factsOf: (session: Session) => Promise<SessionFacts>;
  /** Runs the work with the session open. */
  readonly withSession: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
}

export class HostedState {
  readonly #parts: HostedStateParts;
  #frame: Promise<StateFrame> | undefined;

  constructor(parts: HostedStateParts) {
    this.#parts = parts;
  }

  now(): Promise<SessionState> {
    const { turns, factsOf, withSession } = this.#parts;
    return withSession(async (session) => {
      // The list is read before the log: a turn leaves it only when the log has its end.
      const list = session.access === "write" ? undefined : await this.#parts.waiting.list();
      // Only a session that nobody writes, or that another node writes, is looked up.
      const isElsewhere = session.interrupted || (session.access === "read" && session.writer === "live");
      const elsewhere = isElsewhere ? await this.#elsewhere() : NOWHERE_ELSE;
      const facts = await factsOf(session);
      const queued = list === undefined ? session.queued : queuedIn(list, facts);
      return stateOf(session, turns, facts, { ...elsewhere, queued });
    });
  }

  /** For all followers: computed and serialized once per change, however many there are. */
  frame(): Promise<StateFrame> {
    if (this.#frame !== undefined) return this.#frame;
    const made = this.now().then(stateFrameOf);
    this.#frame = made;
    made.catch(() => {
      if (this.#frame === made) this.#frame = undefined; // the next caller tries again
    });
    return made;
  }

  /** Whether another node goes on with the session without being asked. */
  async wakes(): Promise<boolean> {
    return (await this.#elsewhere()).wakes;
  }

  /** The next frame is computed anew. */
  changed(): void {
    this.#frame = undefined;
  }

  async #elsewhere(): Promise<Elsewhere> {
    const { id, shared, onNodeLoss } = this.#parts;
    if (shared === undefined) return NOWHERE_ELSE;
    const { holder, takesCommands, wakes } = await shared.holderOf(id);
    return {
      wakes: wakes && onNodeLoss === "resume",
      takesCommands: holder === undefined || takesCommands,
    };
  }
}

/** What other nodes do with the session, in a store that several machines share. */
interface Elsewhere {
  /** Another node goes on with the interrupted turn without being asked. */
  readonly wakes: boolean;
  /** The node that writes it takes turns and commands from this one. */
  readonly takesCommands: boolean;
}

const NOWHERE_ELSE: Elsewhere = { wakes: false, takesCommands: false };

function stateOf(
  session: Session,
  { running, waiting }: HostedTurns,
  { cwd, costUsd }: SessionFacts,
  { wakes, takesCommands, queued }: Elsewhere & { readonly queued: readonly QueuedTurn[] },
): SessionState {
  const { id, title, usage, model, context, rules, interrupted, writer } = session;
  const { target, capabilities, effort } = model.settings;
  return {
    id,
    title,
    cwd,
    usage,
    costUsd,
    model: { label: model.label, settings: { target, capabilities, effort } },
    context,
    rules,
    interrupted: interrupted && !wakes,
    // Open for reading with no writer: the server would take the lock for a request that writes.
    access: session.access === "read" && writer === "live" && !takesCommands ? "read" : "write",
    writer,
    turn: running,
    waiting,
    queued,
    lastSeq: session.lastSeq,
  };
}

/** The messages of a session that another process writes, or nobody, in the order in which they begin. */
function queuedIn(list: readonly WaitingTurn[], facts: SessionFacts): readonly QueuedTurn[] {
  const queued = list.flatMap(({ turn, request, cancelled }) => {
    const asked = request as unknown as TurnRequest; // validated when it begins
    if (cancelled || facts.has(turn) || !("input" in asked)) return [];
    return [queuedTurn(turn, asked.input, asked.kind === "send" && asked.whenBusy === "steer")];
  });
  return [...queued.filter(({ steers }) => steers), ...queued.filter(({ steers }) => !steers)];
}

function stateFrameOf(state: SessionState): StateFrame {
  const { lastSeq: _lastSeq, ...rest } = state;
  return { key: JSON.stringify(rest), text: `event: state\ndata: ${JSON.stringify(state)}\n\n` };
}
