/** The only place where events get their envelope. */

import { type LoggedEvent, typedEvent } from "../../base/events/index.ts";
import {
  type Clock,
  codedError,
  createIdSource,
  type IdSource,
  isOneValue,
  isoTime,
  tryParseJson,
} from "../../base/support/index.ts";
import type { AppendDraft } from "./log.ts";

export const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export function assertSessionId(id: string): void {
  if (SESSION_ID.test(id)) return;
  throw codedError(
    "session_id_invalid",
    `"${id.slice(0, 80)}" is not a session id: use 1 to 64 letters, digits, "_" or "-", not starting with "_" or "-"`,
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
        const seq = nextSeq + index;
        const draft = readable(isPlainDraft(given) ? given : plainDraft(given), seq);
        const {
          turn,
          response,
          type,
          id = ids.next("ev"),
          at = now,
        } = draft as AppendDraft & Partial<LoggedEvent>;
        // Field order of a line. Fields that the draft repeats keep their position and value. Removing them from the
        // draft first, or Object.assign, costs several times as much (Node 20: 9 µs an event).
        const fields: object = draft;
        if (turn === undefined) return { v: 1, seq, id, at, epoch, type, ...fields } as LoggedEvent;
        if (response === undefined) return { v: 1, seq, id, at, epoch, turn, type, ...fields } as LoggedEvent;
        return { v: 1, seq, id, at, epoch, turn, response, type, ...fields } as LoggedEvent;
      });
    },
  };
}

/** An event that a reader would refuse must not be written: the session could not be opened again. */
function readable(draft: AppendDraft, seq: number): AppendDraft {
  const typed = typedEvent(draft, seq);
  const problem = typeof typed === "string" ? typed : itemProblem(typed);
  if (typeof typed === "string" || problem !== undefined)
    throw codedError("event_invalid", `cannot log an event that is not valid: ${problem}`);
  return typed;
}

/** An item goes into its line as it is, so it must look like the text of one JSON value. It is not parsed: some are large. */
function itemProblem(draft: AppendDraft): string | undefined {
  const items =
    "item" in draft ? [draft.item] : "late" in draft ? (draft.late ?? []).map(({ item }) => item) : [];
  return items.every(looksLikeJson) ? undefined : `${draft.type}: item is not the text of a JSON value`;
}

function looksLikeJson(item: unknown): boolean {
  if (typeof item !== "string" || !isOneValue(item)) return false;
  return ["{}", "[]", '""'].includes(`${item.at(0)}${item.at(-1)}`) || tryParseJson(item) !== undefined;
}

const ENVELOPE: ReadonlySet<string> = new Set(["v", "seq", "epoch"]);

function isPlainDraft(draft: AppendDraft): boolean {
  for (const key in draft) if (ENVELOPE.has(key)) return false;
  return isPlain(draft);
}

/** Whether no value in it is undefined, at any depth. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value !== undefined;
  for (const key in value) if (!isPlain(value[key as keyof typeof value])) return false;
  return true;
}

/**
 * An event in memory has exactly the fields of its line, so undefined fields are removed. An event copied from another
 * log must not bring its position there along.
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

/** The epoch of the next writer: one above that of any earlier writer. */
export function nextEpoch(events: readonly { readonly epoch: number }[]): number {
  return (events.at(-1)?.epoch ?? 0) + 1;
}
