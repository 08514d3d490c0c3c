/** Reads a copy of an answer while its bytes pass to the client: the items, how it ended, whether anything was seen. */

import type { Dialect, ErrorInfo } from "../../base/events/index.ts";
import { arrayOf, isObject, objectOf, stringOf, tryParseJson } from "../../base/support/index.ts";
import {
  createDecoder,
  type ItemDraft,
  type StreamDecoder,
  type StreamEnd,
  streamError,
} from "../../runtime/providers/index.ts";
import { SseDecoder, type SseFrame } from "../../runtime/wire/index.ts";
import { CopyDecoder, MOST_BODY_BYTES } from "./content-coding.ts";

/** The items of an answer that is complete. */
export interface WatchedAnswer {
  readonly items: readonly ItemDraft[];
  readonly end: StreamEnd;
  /** Payloads as the last event repeats them, by output index: the same items, encrypted anew (failures.md E08). */
  readonly repeated: ReadonlyMap<number, string>;
}

export class AnswerWatch {
  readonly #copy: CopyDecoder;
  readonly #decoder: StreamDecoder;
  readonly #dialect: Dialect;
  readonly #sse: SseDecoder | undefined;
  readonly #body: Buffer[] = [];
  readonly #items = new Map<number, ItemDraft>();
  readonly #repeated = new Map<number, string>();
  #size = 0;
  #open = 0;
  #end: StreamEnd | undefined;
  #error: ErrorInfo | undefined;
  #seen = false;
  #broken = false;
  #begun = false;

  constructor(dialect: Dialect, options: { readonly stream: boolean; readonly coding: string | undefined }) {
    this.#dialect = dialect;
    this.#decoder = createDecoder(dialect);
    this.#copy = new CopyDecoder(options.coding);
    this.#sse = options.stream ? new SseDecoder() : undefined;
  }

  /** How the answer ended; undefined while it goes on. */
  get end(): StreamEnd | undefined {
    return this.#end;
  }

  /** Whether anything that a client shows has arrived. */
  get seen(): boolean {
    return this.#seen;
  }

  /** An event beyond the announcements of a Responses stream has arrived. */
  get begun(): boolean {
    return this.#begun;
  }

  /** What the provider refuses in a stream, before anything can be seen of an answer (failures.md E12). */
  get refusal(): ErrorInfo | undefined {
    if (this.#seen) return undefined;
    return this.#end?.status === "failed" ? this.#end.error : this.#error;
  }

  /** Every item is complete, and only the end is missing. */
  get isWhole(): boolean {
    return this.#items.size > 0 && this.#open === 0;
  }

  /** The answer, if all of it arrived and was understood. */
  get answer(): WatchedAnswer | undefined {
    if (this.#end?.status !== "completed" || this.#broken || this.#copy.failed) return undefined;
    return { items: [...this.#items.values()], end: this.#end, repeated: this.#repeated };
  }

  /** A promise only if the bytes are compressed. */
  feed(chunk: Buffer): void | Promise<void> {
    if (this.#broken) return undefined;
    const bytes = this.#copy.feed(chunk);
    return bytes instanceof Promise ? bytes.then((all) => this.#take(all)) : this.#take(bytes);
  }

  /** No more bytes come. */
  close(): void {
    if (this.#broken || this.#end !== undefined) return;
    try {
      if (this.#sse === undefined) {
        const text = Buffer.concat(this.#body).toString("utf8");
        this.#takeRepeated(objectOf(tryParseJson(text)));
        this.#apply(this.#decoder.feedResponse(text));
      } else {
        this.#apply(this.#decoder.close());
      }
    } catch {
      this.#broken = true;
    }
  }

  #take(bytes: Buffer): void {
    if (this.#broken || bytes.length === 0) return;
    try {
      if (this.#sse === undefined) {
        this.#size += bytes.length;
        if (this.#size > MOST_BODY_BYTES) this.#broken = true;
        else this.#body.push(bytes);
        return;
      }
      const frames = this.#sse.feed(bytes);
      for (const frame of frames) this.#look(frame);
      this.#apply(this.#decoder.feed(frames));
    } catch {
      this.#broken = true; // a stream that we cannot read still reaches the client
    }
  }

  #look({ event, data }: SseFrame): void {
    if (this.#dialect !== "openai-responses") {
      this.#begun = true;
      return;
    }
    if (event === "error") this.#error = streamError(tryParseJson(data));
    if (!ANNOUNCEMENTS.has(event) && !(event === "" && ANNOUNCED.test(data))) this.#begun = true;
    if (event === "response.completed" || (event === "" && data.includes('"response.completed"')))
      this.#takeRepeated(objectOf(objectOf(tryParseJson(data))["response"]));
  }

  #takeRepeated({ output }: Readonly<Record<string, unknown>>): void {
    for (const [index, item] of arrayOf(output).entries()) {
      const payload = isObject(item) ? stringOf(item["encrypted_content"]) : undefined;
      if (payload !== undefined && payload !== "") this.#repeated.set(index, payload);
    }
  }

  #apply(events: ReturnType<StreamDecoder["feed"]>): void {
    for (const event of events) {
      switch (event.type) {
        case "restart":
          this.#items.clear();
          this.#open = 0;
          break;
        case "item_start":
          this.#open += 1;
          break;
        case "delta":
          this.#seen ||= event.channel === "text" || event.channel === "arguments";
          break;
        case "item_done":
          this.#open = Math.max(0, this.#open - 1);
          this.#seen ||= event.draft.type !== "reasoning";
          this.#items.set(event.outputIndex, event.draft);
          break;
        case "end":
          this.#end = event.end;
          for (const { outputIndex, item } of event.end.late ?? []) {
            const draft = this.#items.get(outputIndex);
            if (draft !== undefined) this.#items.set(outputIndex, { ...draft, item });
          }
          break;
      }
    }
  }
}

const ANNOUNCEMENTS: ReadonlySet<string> = new Set([
  "response.created",
  "response.in_progress",
  "response.queued",
  "keepalive",
]);
const ANNOUNCED = /^\{"type":"(?:response\.(?:created|in_progress|queued)|keepalive)"/;
