/** A turn in the forms that servers and terminals pass on: its text alone, and a response of server-sent events. */

import { errorInfoOf, type ResponseStart, type SessionEvent } from "../events/index.ts";
import { aRecord, aText, checkOptions, type OptionChecks } from "../support/index.ts";
import { eventFrame } from "./event-frame.ts";
import type { Turn, TurnResponseOptions } from "./turn.ts";

/** Yields the text of a turn's answers as the model writes it. */
export async function* textOf(events: AsyncIterable<SessionEvent>): AsyncGenerator<string, void> {
  const text = new AnswerText();
  for await (const event of events) {
    const piece = text.take(event);
    if (piece !== "") yield piece;
  }
}

/**
 * The text of one step after the other. A request that is sent again answers the same step: what the reader already has
 * is not repeated, and an answer in other words follows after a blank line.
 */
class AnswerText {
  /** The responses that the runtime requested for itself: summaries. */
  readonly #aside = new Set<string>();
  /** Whether an earlier step had text. */
  #spoke = false;
  #step = "";
  /** What the reader has of this step. */
  #shown = "";
  /** What the current response has said. */
  #said = "";
  #repeating = false;
  #item = "";
  #lengthOfItem = 0;

  take(event: SessionEvent): string {
    if (event.type === "response_start") this.#begin(event);
    if (event.type === "text_delta") return this.#add(event, event.delta);
    // A message may arrive whole, or end with text that no delta carried.
    return event.type === "assistant_message"
      ? this.#add(event, event.text.slice(this.#lengthIn(event)))
      : "";
  }

  #begin({ turn = "", step, response, purpose }: ResponseStart): void {
    if (purpose !== undefined) {
      this.#aside.add(response);
      return;
    }
    const name = `${turn}/${step}`;
    this.#repeating = name === this.#step;
    this.#said = "";
    if (this.#repeating) return;
    this.#step = name;
    this.#shown = "";
  }

  #add(at: { readonly response: string; readonly outputIndex: number }, text: string): string {
    if (text === "" || this.#aside.has(at.response)) return "";
    const item = `${at.response}/${at.outputIndex}`;
    const another = item !== this.#item && this.#said !== "";
    this.#lengthOfItem = this.#lengthIn(at) + text.length;
    this.#item = item;
    return this.#say(another ? `${BLANK_LINE}${text}` : text);
  }

  #lengthIn({ response, outputIndex }: { readonly response: string; readonly outputIndex: number }): number {
    return `${response}/${outputIndex}` === this.#item ? this.#lengthOfItem : 0;
  }

  #say(text: string): string {
    this.#said += text;
    if (!this.#repeating) {
      const first = this.#shown === "" && this.#spoke;
      this.#spoke = true;
      this.#shown += text;
      return first ? `${BLANK_LINE}${text}` : text;
    }
    if (this.#shown.startsWith(this.#said)) return "";
    const rest = this.#said.startsWith(this.#shown)
      ? this.#said.slice(this.#shown.length)
      : `${BLANK_LINE}${this.#said}`;
    this.#shown = this.#said;
    this.#repeating = false;
    return rest;
  }
}

const BLANK_LINE = "\n\n";

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no", // nginx would hold events back
};

const RESPONSE_OPTIONS: OptionChecks<TurnResponseOptions> = { headers: aRecord(aText, "strings") };

/** The events of a turn as server-sent events, then its result. A reader that leaves does not stop the turn. */
export function turnResponse(turn: Turn, options: TurnResponseOptions = {}): Response {
  checkOptions("toResponse", options, RESPONSE_OPTIONS);
  const { headers } = options;
  const frames = framesOf(turn);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await frames.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await frames.return();
    },
  });
  const all = new Headers(headers);
  for (const [name, value] of Object.entries(HEADERS)) if (!all.has(name)) all.set(name, value);
  return new Response(body, { headers: all });
}

async function* framesOf(turn: Turn): AsyncGenerator<string, void> {
  try {
    for await (const event of turn) yield eventFrame(event);
    yield `event: result\ndata: ${JSON.stringify(await turn.result())}\n\n`;
  } catch (error) {
    // Only a turn on a server can fail to say how it ended.
    yield `event: error\ndata: ${JSON.stringify(errorInfoOf(error))}\n\n`;
  }
}
