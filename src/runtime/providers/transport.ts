/** Sends one request and yields its stream events, in any dialect. Never rejects: a failure becomes the `end` event. */

import { codedError, VERSION } from "../../base/support/index.ts";
import { type BodyChunks, type HttpResponse, postStream, readText, SseDecoder } from "../wire/index.ts";
import { connectionError, httpError } from "./errors.ts";
import type { SendOptions, StreamDecoder, StreamEvent } from "./provider.ts";

export interface Endpoint {
  /** Written as each ecosystem expects it: with `/v1` for OpenAI, without for Anthropic. */
  readonly baseUrl: () => Promise<string>;
  readonly path: string;
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  readonly createDecoder: () => StreamDecoder;
  readonly apiKey: () => Promise<string | undefined>;
  /** Named in the error if the key is missing. */
  readonly keyName: string;
}

const MAX_ERROR_BODY = 64 * 1024;
const MAX_JSON_BODY = 64 * 1024 * 1024;

export function sendRequest(
  endpoint: Endpoint,
  body: readonly Uint8Array[],
  options: SendOptions,
): AsyncIterableIterator<readonly StreamEvent[]> {
  return new ResponseStream(endpoint, body, options);
}

type Batch = IteratorResult<readonly StreamEvent[], undefined>;

/**
 * Turns bytes into events in one hand-written loop: each generator in between would add several awaits per chunk, and
 * 500 streams deliver many small chunks.
 */
class ResponseStream implements AsyncIterableIterator<readonly StreamEvent[]> {
  readonly #post: () => Promise<HttpResponse>;
  readonly #options: SendOptions;
  readonly #frames = new SseDecoder();
  readonly #decoder: StreamDecoder;
  #chunks: BodyChunks | undefined;
  #requestId: string | undefined;
  #over = false;

  constructor(endpoint: Endpoint, body: readonly Uint8Array[], options: SendOptions) {
    this.#post = () => post(endpoint, body, options);
    this.#options = options;
    this.#decoder = endpoint.createDecoder();
  }

  next(): Promise<Batch> {
    if (this.#over) return Promise.resolve(DONE);
    return this.#chunks === undefined ? this.#begin() : this.#readMore(this.#chunks);
  }

  async return(): Promise<Batch> {
    this.#over = true;
    await this.#chunks?.return();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #begin(): Promise<Batch> {
    try {
      const response = await this.#post();
      this.#requestId = response.headers["x-request-id"] ?? response.headers["request-id"];
      this.#chunks = response.body;
      if (!isStream(response)) return this.#last(await readWholeBody(response, this.#decoder));
    } catch (error) {
      return this.#failed(error);
    }
    return this.#readMore(this.#chunks);
  }

  /** Not an async function: with many streams at a slow pace, nearly every event is a chunk, and has its cost. */
  #readMore(chunks: BodyChunks): Promise<Batch> {
    return chunks.next().then(this.#take, this.#failed);
  }

  readonly #take = (chunk: IteratorResult<Uint8Array, undefined>): Batch | Promise<Batch> => {
    try {
      if (chunk.done === true) return this.#last(this.#decoder.close());
      this.#options.onBytes?.(chunk.value);
      const events = this.#decoder.feed(this.#frames.feed(chunk.value));
      if (this.#decoder.ended) {
        // Do not wait for more after the terminal event: some servers keep the connection open.
        this.#chunks?.release();
        return this.#last(events);
      }
      return events.length > 0 || this.#chunks === undefined
        ? { value: events, done: false }
        : this.#readMore(this.#chunks);
    } catch (error) {
      return this.#failed(error);
    }
  };

  readonly #failed = async (error: unknown): Promise<Batch> => {
    await this.#chunks?.return();
    const end = this.#options.signal.aborted
      ? ({ status: "cancelled" } as const)
      : ({ status: "cut", error: connectionError(error) } as const);
    return this.#last([{ type: "end", end }]);
  };

  /** Adds the request id to the `end` event, which is always the last. */
  #last(events: readonly StreamEvent[]): Batch {
    this.#over = true;
    const last = events.at(-1);
    if (last?.type !== "end" || this.#requestId === undefined) return { value: events, done: false };
    const end = { requestId: this.#requestId, ...last.end };
    return { value: [...events.slice(0, -1), { type: "end", end }], done: false };
  }
}

const DONE = { value: undefined, done: true } as const;

async function post(
  endpoint: Endpoint,
  body: readonly Uint8Array[],
  options: SendOptions,
): Promise<HttpResponse> {
  const { key, url } = await unlessAborted(resolveTarget(endpoint), options.signal);
  return postStream({
    url,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      "accept-encoding": "identity",
      "user-agent": `throughline/${VERSION}`,
      ...endpoint.headers(key),
    },
    body,
    signal: options.signal,
    timeouts: options.timeouts,
    fetch: options.fetch,
  });
}

async function resolveTarget(endpoint: Endpoint): Promise<{ readonly key: string; readonly url: string }> {
  const key = await endpoint.apiKey();
  if (key === undefined || key === "") {
    throw codedError(
      "api_key_missing",
      `no API key: set ${endpoint.keyName}, or pass apiKey, or use the built-in emulator (no key needed)`,
    );
  }
  return { key, url: `${(await endpoint.baseUrl()).replace(/\/+$/, "")}${endpoint.path}` };
}

/** The key and the URL may come from user functions; a stop does not wait for those. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

const typeOf = (response: HttpResponse): string => response.headers["content-type"] ?? "";

/** An HTML page with status 200 means a wrong URL. */
const isPage = (response: HttpResponse): boolean => /^text\/html/i.test(typeOf(response));

const isAccepted = (response: HttpResponse): boolean =>
  response.status >= 200 && response.status <= 299 && !isPage(response);

function isStream(response: HttpResponse): boolean {
  return isAccepted(response) && !/^application\/json/i.test(typeOf(response));
}

/** Reads a refusal, or a response in the non-streaming form. */
async function readWholeBody(
  response: HttpResponse,
  decoder: StreamDecoder,
): Promise<readonly StreamEvent[]> {
  if (!isAccepted(response)) {
    const text = await readText(response.body, MAX_ERROR_BODY);
    return [{ type: "end", end: { status: "failed", error: refusal(response, text, isPage(response)) } }];
  }
  const text = await readText(response.body, MAX_JSON_BODY);
  return [...decoder.feedResponse(text), ...decoder.close()];
}

function refusal(response: HttpResponse, text: string, html: boolean): ReturnType<typeof httpError> {
  if (response.status >= 300 && response.status < 400) {
    const message = `the server redirects to ${response.headers["location"] ?? "another address"}; a request with a key does not follow redirects: correct the base URL`;
    return { code: "redirected", message, class: "OTHER", status: response.status };
  }
  // A page with status 200 means a wrong URL, not an outage, so it is not retried.
  const info = httpError(
    response.status,
    html && !/^\s*</.test(text) ? `<html>${text}` : text,
    response.headers,
  );
  return html && response.status < 500 ? { ...info, class: "OTHER" } : info;
}
