/**
 * What the status line and the questions need of the events, gathered as they come.
 *
 * @module
 */

import {
  addUsage,
  NO_USAGE,
  type Origin,
  type PermissionRequest,
  type SessionEvent,
  type Usage,
} from "../../base/events/index.ts";

/** What a response costs; undefined where the price is not known. */
export type CostOf = (origin: Origin, usage: Usage) => number | undefined;

export class Facts {
  readonly #costOf: CostOf;
  readonly #origins = new Map<string, Origin>();
  readonly #questions = new Map<string, PermissionRequest>();
  usage: Usage = NO_USAGE;
  /** Of all responses so far; undefined as soon as one has no known price. */
  costUsd: number | undefined = 0;
  /** Turns that are open, by id: something is under way. */
  openTurn: string | undefined;
  /** The last message of a person, and where it stands. */
  lastMessage: { readonly seq: number; readonly text: string } | undefined;

  constructor(costOf: CostOf) {
    this.#costOf = costOf;
  }

  get question(): PermissionRequest | undefined {
    return this.#questions.values().next().value;
  }

  add(event: SessionEvent): void {
    if (event.type === "user_message") {
      this.openTurn = event.turn;
      const text = event.content
        .map((part) => (part.type === "text" ? part.text : `[${part.type}]`))
        .join("\n");
      if (event.by === "person") this.lastMessage = { seq: event.seq, text };
    } else if (event.type === "response_start") {
      this.openTurn = event.turn;
      this.#origins.set(event.response, event.origin);
    } else if (event.type === "response_end") {
      if (event.usage !== undefined) this.#spend(event.response, event.usage);
    } else if (event.type === "permission_request") {
      this.#questions.set(event.requestId, event);
    } else if (event.type === "permission_decision" || event.type === "tool_result") {
      for (const [id, asked] of this.#questions)
        if (asked.callId === event.callId) this.#questions.delete(id);
    } else if (event.type === "turn_end") {
      this.openTurn = undefined;
      this.#questions.clear();
    }
  }

  #spend(response: string, usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
    const origin = this.#origins.get(response);
    const cost = origin === undefined ? undefined : this.#costOf(origin, usage);
    this.costUsd = cost === undefined || this.costUsd === undefined ? undefined : this.costUsd + cost;
  }
}
