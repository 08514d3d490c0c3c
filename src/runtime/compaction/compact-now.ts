/** A compaction that a person asked for. */

import type { CompactOptions, TurnResult } from "../../base/api/index.ts";
import { errorInfoOf, type EventDraft, NO_USAGE } from "../../base/events/index.ts";
import { codedError } from "../../base/support/index.ts";
import type { TurnContext } from "../turn/index.ts";
import { summaryLength } from "./compact-around-turn.ts";
import { isPersons, runCompaction } from "./run-compaction.ts";

export function assertKeepTurns(keepTurns: number | undefined): void {
  if (keepTurns === undefined || (Number.isSafeInteger(keepTurns) && keepTurns >= 0)) return;
  throw codedError("keep_turns_invalid", "keepTurns must be a whole number, 0 or more");
}

/** The last turn stays word for word unless told otherwise; where there is only one, it is summarised. */
export async function compactNow(
  context: TurnContext,
  opening: readonly EventDraft[],
  options: CompactOptions,
): Promise<TurnResult> {
  const { instructions, keepTurns } = options;
  try {
    // Before the turns are counted: a crash may have left the session aside of its own path.
    if (opening.length > 0) await context.live.append(opening);
  } catch (error) {
    return { text: "", steps: 0, usage: NO_USAGE, status: "failed", error: errorInfoOf(error) };
  }
  const messages = context.live.fold.entries.filter(isPersons).length;
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
        message: `${turns === 0 ? "nothing was said that is not in a summary already" : `nothing stands before the last ${turns === 1 ? "turn" : `${turns} turns`}`}: there is nothing to compact`,
      },
    };
  return { ...base, status, error };
}
