/** One turn of a session: its position, its request and its outcome. */

import {
  addUsage,
  type Branch,
  type EventHead,
  eventOf,
  type LoggedEvent,
  NO_USAGE,
  type Origin,
  sameOrigin,
  type Settings,
  type TurnEnd,
  type Usage,
  type UserMessage,
} from "../../base/events/index.ts";
import type { RequestFacts } from "./request-facts.ts";

export class TurnFacts {
  readonly turn: string;
  readonly firstSeq: number;
  #first: EventHead | undefined;
  #last: EventHead | undefined;
  /** From the last event before its process died to the first after it was resumed. */
  readonly pauses: { readonly from: string; readonly to: string }[] = [];
  readonly requests: RequestFacts[] = [];
  lastSeq: number;
  /** The first message. A retried turn has none of its own, and a message that joined the turn is not one. */
  message: UserMessage | undefined;
  /** The branch with which a retried or edited turn left the previous path. */
  branch: Branch | undefined;
  end: TurnEnd | undefined;
  /** The schema of its answer: that of its last request or, before the first, the one it was opened with. */
  output: Settings["output"];
  /** The settings of the fallback models that the turn changed to, in order. */
  readonly fallbacks: Settings[] = [];
  /** The fallback model in use: undefined if the turn's own model is. */
  fellBackTo: Origin | undefined;
  /** A fallback was announced, and its settings follow. */
  #fallsBack = false;

  constructor(turn: string, firstSeq: number) {
    this.turn = turn;
    this.firstSeq = firstSeq;
    this.lastSeq = firstSeq;
  }

  /** ISO 8601, wall time. Undefined before its first event. */
  get startedAt(): string | undefined {
    return this.#first?.at;
  }

  /** The time of its end or, until then, of its last event. */
  get lastAt(): string | undefined {
    return this.#last?.at;
  }

  /** The text of the last response that has any. */
  get text(): string {
    return this.requests.findLast(({ text }) => text !== "")?.text ?? "";
  }

  /** All attempts count: a failed one costs too (failures.md K06). */
  get usage(): Usage {
    return this.requests.reduce(
      (sum, { end }) => (end?.usage === undefined ? sum : addUsage(sum, end.usage)),
      NO_USAGE,
    );
  }

  /** The step of its last request; attempts of the same step count once. */
  get steps(): number {
    return this.requests.at(-1)?.step ?? 0;
  }

  /** `settings` are those in force at the event. */
  add(head: EventHead, settings: Settings | undefined): void {
    this.lastSeq = head.seq;
    if (this.end === undefined) this.#passTime(head);
    if (SAYS_OUTPUT.has(head.type)) this.output = settings?.output;
    if (SAYS_MORE.has(head.type)) this.#add(eventOf(head));
  }

  #add(event: LoggedEvent): void {
    if (event.type === "user_message") {
      if (event.steer === undefined) this.message ??= event;
    } else if (event.type === "branch") this.branch ??= event;
    else if (event.type === "turn_end") this.end ??= event;
    else if (event.type === "notice" && event.code === "model_fallback") this.#fallsBack = true;
    else if (event.type === "settings") {
      const { target } = event.settings;
      const stays = this.fellBackTo !== undefined && sameOrigin(this.fellBackTo, target);
      if (!stays) this.fellBackTo = this.#fallsBack ? target : undefined;
      if (this.#fallsBack) this.fallbacks.push(event.settings);
      this.#fallsBack = false;
    }
  }

  /** Another writer goes on with the turn, so nothing ran since the last event. */
  #passTime(head: EventHead): void {
    this.#first ??= head;
    if (this.#last !== undefined && head.epoch !== this.#last.epoch)
      this.pauses.push({ from: this.#last.at, to: head.at });
    this.#last = head;
  }
}

const SAYS_MORE: ReadonlySet<LoggedEvent["type"]> = new Set([
  "user_message",
  "branch",
  "turn_end",
  "notice",
  "settings",
]);

const SAYS_OUTPUT: ReadonlySet<LoggedEvent["type"]> = new Set([
  "branch",
  "settings",
  "user_message",
  "response_start",
]);
