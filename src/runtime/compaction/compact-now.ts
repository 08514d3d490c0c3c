/** A compaction that a person requested. */

import { type CompactOptions, type TurnResult, turnResult } from "../../base/api/index.ts";
import { errorInfoOf, type EventDraft, NO_USAGE } from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import { opensTurn } from "../fold/index.ts";
import type { TurnContext } from "../turn/index.ts";
import { summaryLength } from "./compact-around-turn.ts";
import { runCompaction } from "./run-compaction.ts";

export function assertKeepTurns(keepTurns: number | undefined): void {
  if (keepTurns === undefined || (Number.isSafeInteger(keepTurns) && keepTurns >= 0)) return;
  throw codedError("keep_turns_invalid", "keepTurns must be a whole number, 0 or more");
}

/** Keeps the last turn verbatim by default. If there is only one turn, it is summarised. */
export async function compactNow(
  context: TurnContext,
  opening: readonly EventDraft[],
  options: CompactOptions,
): Promise<TurnResult> {
  const { instructions, keepTurns } = options;
  try {
    // Before the turns are counted: a crash may have left the session off its own path.
    if (opening.length > 0) await context.live.append(opening);
  } catch (error) {
    return { text: "", steps: 0, usage: NO_USAGE, status: "failed", error: errorInfoOf(error) };
  }
  const messages = context.live.fold.entries.filter(opensTurn).length;
  const turns = keepTurns ?? (messages > 1 ? 1 : 0);
  const { contextTokens } = context.setup().settings.capabilities;
  const { status, usage, error } = await runCompaction(context, {
    keep: { turns },
    ask: true,
    maxLength: summaryLength(contextTokens),
    instructions,
  });
  const base = { text: "", steps: 0, usage };
  if (status === "nothing")
    return {
      ...base,
      status: "failed",
      error: {
        code: "nothing_to_compact",
        message: `there is nothing to compact: ${turns === 0 ? "every message is already in a summary" : `nothing comes before the last ${turns === 1 ? "turn" : `${turns} turns`}`}`,
      },
    };
  return turnResult({ ...base, status, error });
}
