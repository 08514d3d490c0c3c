/**
 * The only place where an event gets its envelope.
 *
 * @module
 */

import type { LoggedEvent } from "../events/index.ts";
import { type Clock, createIdSource, type IdSource, isoTime, ThroughlineError } from "../support/index.ts";
import type { AppendDraft } from "./log.ts";

export const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export function assertSessionId(id: string): void {
  if (SESSION_ID.test(id)) return;
  throw new ThroughlineError({
    code: "session_id_invalid",
    message: `"${id.slice(0, 80)}" is not a session id: use 1 to 64 letters, digits, "_" or "-", not beginning with "_" or "-"`,
  });
}

export interface Stamper {
  stamp(drafts: readonly AppendDraft[], nextSeq: number, epoch: number): readonly LoggedEvent[];
}

export function createStamper(clock: Clock, ids: IdSource = createIdSource(() => clock.now())): Stamper {
  return {
    stamp(drafts, nextSeq, epoch) {
      const now = isoTime(clock.now());
      return drafts.map((draft, index): LoggedEvent => {
        // Whoever hands over an event of another log must not bring its place there along.
        const {
          v: _v,
          seq: _seq,
          epoch: _epoch,
          id,
          at,
          turn,
          response,
          type,
          ...fields
        } = draft as AppendDraft & Partial<LoggedEvent>;
        return {
          v: 1,
          seq: nextSeq + index,
          id: id ?? ids.next("ev"),
          at: at ?? now,
          epoch,
          ...(turn === undefined ? {} : { turn }),
          ...(response === undefined ? {} : { response }),
          type,
          ...fields,
        } as LoggedEvent;
      });
    },
  };
}

/** The epoch of the next writer: one above any that wrote before. */
export function nextEpoch(events: readonly LoggedEvent[]): number {
  return (events.at(-1)?.epoch ?? 0) + 1;
}
