/**
 * What a reader is told of a log that another writes, whatever the store: somebody rings when anything may be new, and one
 * look after another tells what is. A ring during a look is never lost: it leads to one more look.
 */

import type { LoggedEvent } from "../../base/events/index.ts";
import { onAbort } from "../../base/support/index.ts";
import type { LogChange } from "./log.ts";

export interface ChangeSource {
  /** Of the log: they grow with a look, or with whoever else reads. */
  readonly events: readonly LoggedEvent[];
  /** Calls back when something may be new, until the result is called. */
  listen(ring: () => void): () => void;
  /** Before the first look: finds out whether somebody writes. */
  prepare?(): Promise<unknown>;
  readonly writer: Writer;
  /** Those that came since it was last asked; `more` when there are others to ask for. */
  rows(): NewRows;
  refresh(): Promise<unknown>;
  /** Any of them ends the changes. */
  readonly ends: readonly (AbortSignal | undefined)[];
}

export interface Writer {
  readonly lives: boolean;
  /** How often that has changed: one that came and went between two looks is told, too. */
  readonly flips: number;
}

export interface NewRows {
  readonly rows: readonly string[];
  readonly more: boolean;
}

/** `from`: how many events the log had when it was asked for its changes. */
export async function* changesOf(source: ChangeSource, from: number): AsyncGenerator<LogChange> {
  const bell = new Bell();
  const over = (): boolean => source.ends.some((signal) => signal?.aborted === true);
  if (over()) return;
  const forget = source.ends.map((signal) => signal && onAbort(signal, () => bell.ring()));
  const leave = source.listen(() => bell.ring());
  let told = from;
  let flips: number | undefined;
  try {
    await source.prepare?.();
    while (!over()) {
      bell.hush(); // before the look: what comes during it rings again
      // First: whoever learns that the writer is gone is given all that it wrote.
      const writer = source.writer;
      // Rows before events: a row is written behind the `response_start` of its response.
      const { rows, more } = source.rows();
      await source.refresh();
      if (over()) return;
      if (more) bell.ring();
      const events = source.events.slice(told);
      told += events.length;
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

  hush(): void {
    this.#rings = false;
  }

  rung(): Promise<void> {
    if (this.#rings) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
