/** The state of a hosted session as clients see it, and as a frame of their streams. */

import type { SessionState } from "../../base/api/index.ts";
import type { SessionFacts } from "../../runtime/facts/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import type { HostedTurns } from "./hosted-turns.ts";

/** The state as a frame of a stream. */
export interface StateFrame {
  /** Equal keys mean nothing new to send. `lastSeq` is excluded: every event carries it. */
  readonly key: string;
  readonly bytes: Buffer;
}

/** What other nodes do with the session, in a store that several machines share. */
export interface Elsewhere {
  /** Another node goes on with the interrupted turn without being asked. */
  readonly wakes: boolean;
  /** The node that writes it takes turns and commands from this one. */
  readonly takesCommands: boolean;
}

export const NOWHERE_ELSE: Elsewhere = { wakes: false, takesCommands: false };

export function stateOf(
  session: Session,
  { running, waiting }: HostedTurns,
  { cwd, costUsd }: SessionFacts,
  { wakes, takesCommands }: Elsewhere,
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
    lastSeq: session.lastSeq,
  };
}

export function stateFrameOf(state: SessionState): StateFrame {
  const { lastSeq: _lastSeq, ...rest } = state;
  return {
    key: JSON.stringify(rest),
    bytes: Buffer.from(`event: state\ndata: ${JSON.stringify(state)}\n\n`),
  };
}
