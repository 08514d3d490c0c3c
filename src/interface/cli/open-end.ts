/**
 * A last turn that has no end, as a reader tells it: what was seen of it and is not in the log yet, and how to go on
 * (law 9: what a person saw is shown again, also after a crash). Nothing is written: closing it is the next writer's.
 */

import type { LoggedEvent } from "../../base/events/index.ts";
import { Fold } from "../../runtime/fold/index.ts";
import type { Log } from "../../runtime/log/index.ts";
import { closeResponses, endsWithItsTurn, findOpenTurn } from "../../runtime/turn/index.ts";

export interface OpenEnd {
  readonly turn: string;
  /** A process is writing it right now. */
  readonly live: boolean;
  /** The log, and behind it what the next writer would put there of the response that was under way. */
  readonly events: readonly LoggedEvent[];
  /** For a person: what happened, and what to do. */
  readonly text: string;
}

export async function openEndOf(log: Log): Promise<OpenEnd | undefined> {
  // In this order: whoever learns that the writer is gone then reads all that it wrote.
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
      ? "under way: another process is writing it"
      : `interrupted: throughline -p -r ${log.session} finishes it; a new message goes on without it`,
  };
}
