/** Messages that were sent into the running turn and are not in the log yet. */

import type { Turn } from "../../base/api/index.ts";

export class Steering {
  readonly #pending = new Map<string, { readonly turn: Turn; readonly text: string }>();

  /** In the order in which they were sent. */
  get texts(): readonly string[] {
    return [...this.#pending.values()].map(({ text }) => text);
  }

  add(turn: Turn, text: string): void {
    this.#pending.set(turn.id, { turn, text });
  }

  /** Called when the log has the message, or its turn has ended. Returns whether it was still pending. */
  done(turn: string): boolean {
    return this.#pending.delete(turn);
  }

  /** Keeps the messages from joining. Use it only when the running turn is stopped too: one may have joined by now. */
  withdraw(): void {
    for (const { turn } of this.#pending.values()) turn.cancel();
  }
}
