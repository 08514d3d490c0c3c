/**
 * The events of a turn, kept for readers that come later. They get every event in its order, with one difference: deltas
 * of the same part that follow one another are one delta. So a long answer keeps its text, not an object per token.
 */

import type { SessionEvent } from "../../base/events/index.ts";
import { stayCompiled } from "../../base/support/index.ts";

type Delta = Extract<SessionEvent, { readonly delta: string }>;

export class KeptEvents {
  readonly #events: SessionEvent[] = [];
  /** The first of the last deltas, and the texts of all of them. Joined when they are needed: a delta costs a pointer. */
  #first: Delta | undefined;
  #texts: string[] = [];

  add(events: readonly SessionEvent[]): void {
    for (const event of events) {
      if (!isDelta(event)) {
        this.#closeRun();
        this.#events.push(event);
        continue;
      }
      if (this.#first === undefined || !isSamePart(this.#first, event)) {
        this.#closeRun();
        this.#first = event;
      }
      this.#texts.push(event.delta);
    }
  }

  /** A list of its own: it does not grow with this one. */
  all(): readonly SessionEvent[] {
    const last = this.#run();
    return last === undefined ? [...this.#events] : [...this.#events, last];
  }

  #closeRun(): void {
    const last = this.#run();
    if (last === undefined) return;
    this.#events.push(last);
    this.#first = undefined;
    this.#texts = [];
  }

  #run(): Delta | undefined {
    if (this.#first === undefined || this.#texts.length === 1) return this.#first;
    return { ...this.#first, delta: this.#texts.join("") };
  }
}

stayCompiled(new KeptEvents());

function isDelta(event: SessionEvent): event is Delta {
  const { type } = event;
  return type === "text_delta" || type === "reasoning_delta" || type === "tool_call_delta";
}

function isSamePart(a: Delta, b: Delta): boolean {
  return (
    a.type === b.type &&
    a.outputIndex === b.outputIndex &&
    a.response === b.response &&
    (a.type !== "reasoning_delta" || b.type !== "reasoning_delta" || a.part === b.part)
  );
}
