/** The only place where an event gets its envelope. */

import type { LoggedEvent } from "../../base/events/index.ts";
import { type Clock, codedError, createIdSource, type IdSource, isoTime } from "../../base/support/index.ts";
import type { AppendDraft } from "./log.ts";

export const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export function assertSessionId(id: string): void {
  if (SESSION_ID.test(id)) return;
  throw codedError(
    "session_id_invalid",
    `"${id.slice(0, 80)}" is not a session id: use 1 to 64 letters, digits, "_" or "-", not beginning with "_" or "-"`,
  );
}

export interface Stamper {
  stamp(drafts: readonly AppendDraft[], nextSeq: number, epoch: number): readonly LoggedEvent[];
}

export function createStamper(clock: Clock, ids: IdSource = createIdSource(() => clock.now())): Stamper {
  return {
    stamp(drafts, nextSeq, epoch) {
      const now = isoTime(clock.now());
      return drafts.map((given, index): LoggedEvent => {
        const draft = isPlainDraft(given) ? given : plainDraft(given);
        const {
          turn,
          response,
          type,
          id = ids.next("ev"),
          at = now,
        } = draft as AppendDraft & Partial<LoggedEvent>;
        const seq = nextSeq + index;
        // The order of a line. What the draft repeats of it stays where it stands and is the same; taking it out of the
        // draft, or Object.assign, costs several times as much (Node 20: 9 µs an event).
        const fields: object = draft;
        if (turn === undefined) return { v: 1, seq, id, at, epoch, type, ...fields } as LoggedEvent;
        if (response === undefined) return { v: 1, seq, id, at, epoch, turn, type, ...fields } as LoggedEvent;
        return { v: 1, seq, id, at, epoch, turn, response, type, ...fields } as LoggedEvent;
      });
    },
  };
}

const ENVELOPE: ReadonlySet<string> = new Set(["v", "seq", "epoch"]);

function isPlainDraft(draft: AppendDraft): boolean {
  for (const key in draft) if (ENVELOPE.has(key)) return false;
  return isPlain(draft);
}

/** Holds nothing that is undefined, however deep. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value !== undefined;
  for (const key in value) if (!isPlain(value[key as keyof typeof value])) return false;
  return true;
}

/**
 * An event in memory has exactly the fields of its line, so none that is undefined. Whoever hands over an event of
 * another log must not bring its place there along.
 */
function plainDraft(draft: AppendDraft): AppendDraft {
  const fields = Object.entries(draft).filter(([key]) => !ENVELOPE.has(key));
  return plain(Object.fromEntries(fields)) as AppendDraft;
}

function plain(value: unknown): unknown {
  if (isPlain(value)) return value;
  if (Array.isArray(value)) return value.map(plain);
  const fields = Object.entries(value as object).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, plain(field)]));
}

/** The epoch of the next writer: one above any that wrote before. */
export function nextEpoch(events: readonly LoggedEvent[]): number {
  return (events.at(-1)?.epoch ?? 0) + 1;
}
