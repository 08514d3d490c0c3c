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
    for (let at = 0; at < events.length; at += 1) {
      const event = events[at] as SessionEvent;
      if (this.#first !== undefined && continues(this.#first, event)) this.#texts.push(event.delta);
      else this.#other(event);
    }
  }

  #other(event: SessionEvent): void {
    this.#closeRun();
    if (!isDelta(event)) {
      this.#events.push(event);
      return;
    }
    this.#first = event;
    this.#texts.push(event.delta);
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

/** Whether the event is the next delta of the same part. */
function continues(first: Delta, event: SessionEvent): event is Delta {
  return (
    event.type === first.type &&
    event.outputIndex === first.outputIndex &&
    event.response === first.response &&
    (event.type !== "reasoning_delta" || first.type !== "reasoning_delta" || event.part === first.part)
  );
}
