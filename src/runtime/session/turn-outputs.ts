/**
 * The schemas of a session's turns. The log holds each turn's JSON Schema, so a turn keeps it when it is resumed,
 * retried or edited. While the caller's schema object is in memory, it is used instead: it also has refinements,
 * defaults and transforms.
 */

import type { EventDraft, Settings } from "../../base/events/index.ts";
import type { LiveLog } from "../turn/index.ts";
import { type OutputFormat, outputFromLog } from "./output-schema.ts";

export class TurnOutputs {
  readonly #live: LiveLog;
  /** By turn. */
  readonly #given = new Map<string, OutputFormat>();

  constructor(live: LiveLog) {
    this.#live = live;
  }

  /** Remembers the schema object of a turn, and returns the turn. */
  keep(turn: string, output: OutputFormat | undefined): string {
    if (output !== undefined) this.#given.set(turn, output);
    return turn;
  }

  /** Throws `schema_invalid` if the log has a schema that this version cannot check. */
  of(turn: string | undefined): OutputFormat | undefined {
    if (turn === undefined) return undefined;
    const given = this.#given.get(turn);
    if (given !== undefined) return given;
    const logged = this.#live.facts.turns.get(turn)?.output;
    return logged && outputFromLog(logged);
  }
}

/**
 * The settings event of a turn whose schema differs from the one in force. It is part of the turn's opening, so that a
 * crash before the first request does not lose the schema.
 */
export function settingsAhead(
  turn: string,
  settings: Settings,
  before: Settings | undefined,
): readonly EventDraft[] {
  const isSame = JSON.stringify(settings.output) === JSON.stringify(before?.output);
  return isSame ? [] : [{ type: "settings", turn, settings }];
}
