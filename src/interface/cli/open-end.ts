/**
 * Describes an unfinished last turn to a reader: the output that was seen but is not in the log yet, and how to
 * continue. What a person saw is shown again, even after a crash (law 9). Writes nothing; the next writer closes the
 * turn.
 */

import type { LoggedEvent } from "../../base/events/index.ts";
import { Fold } from "../../runtime/fold/index.ts";
import type { Log } from "../../runtime/log/index.ts";
import { closeResponses, endsWithItsTurn, findOpenTurn } from "../../runtime/turn/index.ts";

export interface OpenEnd {
  readonly turn: string;
  /** True if a process is writing it now. */
  readonly live: boolean;
  /** The log, followed by what the next writer would append for the unfinished response. */
  readonly events: readonly LoggedEvent[];
  /** For a person: what happened, and what to do. */
  readonly text: string;
}

export async function openEndOf(log: Log): Promise<OpenEnd | undefined> {
  // The order matters: after the writer is found to be gone, the refresh reads everything it wrote.
  const live = await log.hasWriter();
  await log.refresh();
  if (endsWithItsTurn(log.events)) return undefined;
  const fold = new Fold();
  fold.add(log.events);
  const open = findOpenTurn(log.events, fold);
  const last = log.events.at(-1);
  if (open === undefined || last === undefined) return undefined;
  const seen = closeResponses(open, await log.scratch.rows())
    .filter(({ type }) => type === "partial" || !live)
    .map((draft, index): LoggedEvent => ({
      ...draft,
      v: 1,
      seq: last.seq + 1 + index,
      id: "",
      at: last.at,
      epoch: last.epoch,
    }));
  return {
    turn: open.turn,
    live,
    events: [...log.events, ...seen],
    text: live
      ? "running: another process is writing it"
      : `interrupted: throughline -p -r ${log.session} finishes it; a new message continues without it`,
  };
}
