/**
 * Turns stream events into canonical events in the log and live events for viewers, in order of arrival.
 * An item is logged when it is done. Unfinished items become `partial` events when their response closes. If another
 * answer begins in the middle of a response, the response is closed as cut, and the other answer is the next attempt
 * without a new request.
 */

import type { ErrorInfo, EventDraft } from "../../base/events/index.ts";
import { assertNever, isoTime } from "../../base/support/index.ts";
import type { ItemDraft, StreamEnd, StreamEvent } from "../providers/index.ts";
import { contextUse } from "./context-use.ts";
import type { TurnContext } from "./context.ts";
import type { LiveItem } from "./live-item.ts";
import { OpenItems } from "./open-items.ts";
import { withServerCalls } from "./server-calls.ts";

/** Logs the start of the next attempt of a request that was already sent. Resolves to its id. */
export type OpenAgain = () => Promise<string>;

const SPLICED: StreamEnd = {
  status: "cut",
  error: {
    code: "stream_spliced",
    message: "another answer began in the middle of this one and replaced it",
    class: "TRUNC",
  },
};

export class ResponseRecorder {
  readonly #context: TurnContext;
  readonly #openAgain: OpenAgain;
  #response: string;
  #startedMonotonic = 0;
  #open: OpenItems;
  #end: StreamEnd | undefined;

  constructor(context: TurnContext, response: string, openAgain: OpenAgain) {
    this.#context = context;
    this.#openAgain = openAgain;
    this.#response = response;
    this.#open = this.#begin();
  }

  #begin(): OpenItems {
    const open = new OpenItems(this.#context.turn, this.#response);
    this.#startedMonotonic = this.#context.clock.monotonic();
    this.#context.live.snapshot = () => open.snapshot();
    return open;
  }

  /** Undefined until the stream has ended. */
  get end(): StreamEnd | undefined {
    return this.#end;
  }

  /** Returns a promise only if an item was logged; most batches are just text. */
  take(batch: readonly StreamEvent[], from = 0): Promise<void> | undefined {
    for (let index = from; index < batch.length; index += 1) {
      index = this.#open.takeDeltas(batch, index);
      const event = batch[index];
      const logged = event === undefined ? undefined : this.#event(event);
      if (logged !== undefined) return logged.then(() => this.take(batch, index + 1));
    }
    this.#flush();
    return undefined;
  }

  #event(sent: StreamEvent): Promise<void> | undefined {
    const event = withServerCalls(sent, this.#context.live.fold.settings);
    switch (event.type) {
      case "item_start":
        this.#start(event);
        return undefined;
      case "delta": // taken together with those that follow it
        return undefined;
      case "item_done":
        return this.#done(event.draft);
      case "restart":
        return this.#restart();
      case "end":
        this.#end = withoutSecrets(event.end, (text) => this.#context.redact(text));
        return undefined;
      default:
        return assertNever(event, "stream event");
    }
  }

  /** Records how the response ended. Not durable by itself; the next sync covers it. */
  async close(end: StreamEnd): Promise<void> {
    const { turn, clock } = this.#context;
    const drafts: EventDraft[] = this.#open
      .abandon()
      .flatMap(([outputIndex, item]) => this.#partial(outputIndex, item));
    const { status, ...facts } = end;
    drafts.push({
      type: "response_end",
      turn,
      response: this.#response,
      status,
      durationMs: Math.round(clock.monotonic() - this.#startedMonotonic),
      ...facts,
    });
    await this.#context.live.append(drafts);
    this.#context.live.log.scratch.clear();
    this.#context.live.snapshot = undefined;
    if (end.usage !== undefined) {
      const { fold } = this.#context.live;
      const context = contextUse(fold, fold.settings?.capabilities.contextTokens);
      this.#context.live.publish([
        { type: "usage", turn, response: this.#response, usage: end.usage, context },
      ]);
    }
  }

  /** Ends a response when the log has no room for the rest of it, nor for its partial items. */
  async abandon(error: ErrorInfo): Promise<void> {
    this.#open.abandon();
    await this.close({ status: "failed", error });
  }

  /** Logged items stay in the log; the fold omits those that a later attempt superseded. */
  async #restart(): Promise<void> {
    this.#flush();
    await this.close(SPLICED);
    this.#response = await this.#openAgain();
    this.#open = this.#begin();
  }

  #start(event: Extract<StreamEvent, { type: "item_start" }>): void {
    const { clock } = this.#context;
    this.#open.start(event, { now: clock.now(), monotonic: clock.monotonic() });
  }

  async #done(draft: ItemDraft): Promise<void> {
    const { turn, clock } = this.#context;
    const monotonic = clock.monotonic();
    const item = this.#open.end(draft.outputIndex, monotonic);
    const durationMs = Math.round(monotonic - (item?.startedMonotonic ?? monotonic));
    // Viewers get their turn after the append has begun, so what came together with the end of its item needs no rows.
    const superseded = this.#open.takeRowsOf(draft.outputIndex);
    this.#flush();
    const base = { ...draft, turn, response: this.#response };
    const started = isoTime(item?.startedAtMs ?? clock.now());
    try {
      await this.#context.live.append([
        base.type === "reasoning" ? { ...base, startedAt: started, durationMs } : base,
      ]);
    } catch (error) {
      this.#context.live.log.scratch.write(superseded.map((row) => JSON.stringify(row)));
      throw error;
    }
  }

  #partial(outputIndex: number, item: LiveItem): readonly EventDraft[] {
    const parts = item.parts.filter((text) => text !== "");
    if (item.kind === "other" || (parts.length === 0 && item.kind !== "tool_call")) return [];
    return [
      {
        type: "partial",
        turn: this.#context.turn,
        response: this.#response,
        outputIndex,
        kind: item.kind === "message" ? "text" : item.kind,
        parts,
        name: item.name,
      },
    ];
  }

  #flush(): void {
    const rows = this.#open.takeRows();
    if (rows.length > 0) this.#context.live.log.scratch.write(rows);
    const live = this.#open.takeLive();
    if (live.length > 0) this.#context.live.publish(live);
  }
}

const MAX_MESSAGE = 2048;

/**
 * A server may echo the key it was sent. Redacts it here, before the log, the retries and every screen get the text,
 * and shortens the message only afterwards, because half a key would not be recognised.
 */
function withoutSecrets(end: StreamEnd, redact: (text: string) => string): StreamEnd {
  const { error, requestId } = end;
  return {
    ...end,
    ...(requestId === undefined ? {} : { requestId: redact(requestId) }),
    ...(error === undefined
      ? {}
      : {
          error: {
            ...error,
            code: redact(error.code),
            message: redact(error.message).slice(0, MAX_MESSAGE),
            ...(error.param === undefined ? {} : { param: redact(error.param) }),
            ...(error.requestId === undefined ? {} : { requestId: redact(error.requestId) }),
          },
        }),
  };
}
