/**
 * The changes of a log that another process writes, for every store: a ring says that something may be new, and a look
 * finds out what. A ring during a look is never lost: it leads to one more look.
 */

import type { LoggedEvent } from "../../base/events/index.ts";
import { onAbort } from "../../base/support/index.ts";
import type { LogChange } from "./log.ts";

export interface ChangeSource {
  /** The log's events. They grow with each look, or when another reader of the log refreshes it. */
  readonly events: readonly LoggedEvent[];
  /** Calls `ring` when something may be new, until the returned function is called. */
  listen(ring: () => void): () => void;
  /** Called before the first look, to find out whether there is a writer. */
  prepare?(): Promise<unknown>;
  readonly writer: Writer;
  /** Rows added since the last call. `more` is true if there are others to fetch. */
  rows(): NewRows;
  refresh(): Promise<unknown>;
  /** If any of these aborts, the changes end. */
  readonly ends: readonly (AbortSignal | undefined)[];
}

export interface Writer {
  readonly lives: boolean;
  /** How often `lives` has changed, so that a writer that appeared and left between two looks is reported too. */
  readonly flips: number;
}

export interface NewRows {
  readonly rows: readonly string[];
  readonly more: boolean;
}

/** `from` is the number of events the log had when `changes` was called. */
export async function* changesOf(source: ChangeSource, from: number): AsyncGenerator<LogChange> {
  const bell = new Bell();
  const hasEnded = (): boolean => source.ends.some((signal) => signal?.aborted === true);
  if (hasEnded()) return;
  const forget = source.ends.map((signal) => signal && onAbort(signal, () => bell.ring()));
  const leave = source.listen(() => bell.ring());
  let reported = from;
  let flips: number | undefined;
  try {
    await source.prepare?.();
    while (!hasEnded()) {
      bell.reset(); // before the look, so that changes during it ring again
      // Read first, so that a reader that sees the writer gone has everything it wrote.
      const writer = source.writer;
      // Rows before events: a row is written after the `response_start` of its response.
      const { rows, more } = source.rows();
      await source.refresh();
      if (hasEnded()) return;
      if (more) bell.ring();
      const events = source.events.slice(reported);
      reported += events.length;
      const isNew = events.length > 0 || rows.length > 0 || writer.flips !== flips;
      ({ flips } = writer);
      if (isNew) yield { events, rows, hasWriter: writer.lives };
      await bell.rung();
    }
  } finally {
    leave();
    for (const one of forget) one?.();
  }
}

class Bell {
  #rings = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rings = true;
    this.#wake?.();
  }

  reset(): void {
    this.#rings = false;
  }

  rung(): Promise<void> {
    if (this.#rings) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
