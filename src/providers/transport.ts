/**
 * One request and its stream of events, in any dialect. Never rejects: what goes wrong is the `end`.
 *
 * @module
 */

import { ThroughlineError } from "../support/index.ts";
import { type HttpResponse, postStream, readText, SseDecoder } from "../wire/index.ts";
import { connectionError, httpError } from "./errors.ts";
import type { SendOptions, StreamDecoder, StreamEvent } from "./provider.ts";

export interface Endpoint {
  /** As each ecosystem writes it: with `/v1` for OpenAI, without for Anthropic. */
  readonly baseUrl: () => Promise<string>;
  readonly path: string;
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  readonly createDecoder: () => StreamDecoder;
  readonly apiKey: () => Promise<string | undefined>;
  /** Named in the error when the key is missing. */
  readonly keyName: string;
}

const MAX_ERROR_BODY = 64 * 1024;
const MAX_JSON_BODY = 64 * 1024 * 1024;

export async function* sendRequest(
  endpoint: Endpoint,
  body: readonly Uint8Array[],
  options: SendOptions,
): AsyncGenerator<readonly StreamEvent[]> {
  let requestId: string | undefined;
  try {
    const response = await post(endpoint, body, options);
    requestId = response.headers["x-request-id"] ?? response.headers["request-id"];
    const decoder = endpoint.createDecoder();
    if (!isStream(response)) {
      yield withRequestId(await wholeAnswer(response, decoder), requestId);
      return;
    }
    // One loop from bytes to events: every generator in between would wait again for each piece.
    const frames = new SseDecoder();
    for await (const chunk of response.body) {
      options.onBytes?.(chunk);
      const events = decoder.feed(frames.feed(chunk));
      if (events.length > 0) yield withRequestId(events, requestId);
      // Nothing after the terminal event is waited for: some servers keep the connection open.
      if (decoder.ended) return;
    }
    yield withRequestId(decoder.close(), requestId);
  } catch (error) {
    const end = options.signal.aborted
      ? ({ status: "cancelled" } as const)
      : ({ status: "cut", error: connectionError(error) } as const);
    yield withRequestId([{ type: "end", end }], requestId);
  }
}

async function post(
  endpoint: Endpoint,
  body: readonly Uint8Array[],
  options: SendOptions,
): Promise<HttpResponse> {
  const key = await endpoint.apiKey();
  if (key === undefined || key === "") {
    throw new ThroughlineError({
      code: "api_key_missing",
      message: `no API key: set ${endpoint.keyName}, or pass apiKey, or use the built-in emulator (no key needed)`,
    });
  }
  return postStream({
    url: `${(await endpoint.baseUrl()).replace(/\/+$/, "")}${endpoint.path}`,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      "accept-encoding": "identity",
      "user-agent": "throughline/0.1",
      ...endpoint.headers(key),
    },
    body,
    signal: options.signal,
    timeouts: options.timeouts,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
}

const typeOf = (response: HttpResponse): string => response.headers["content-type"] ?? "";

/** A page with status 200 is a wrong address. */
const isPage = (response: HttpResponse): boolean => /^text\/html/i.test(typeOf(response));

const isAccepted = (response: HttpResponse): boolean =>
  response.status >= 200 && response.status <= 299 && !isPage(response);

function isStream(response: HttpResponse): boolean {
  return isAccepted(response) && !/^application\/json/i.test(typeOf(response));
}

/** A refusal, or an answer in the form that does not stream. */
async function wholeAnswer(response: HttpResponse, decoder: StreamDecoder): Promise<readonly StreamEvent[]> {
  if (!isAccepted(response)) {
    const text = await readText(response.body, MAX_ERROR_BODY);
    return [{ type: "end", end: { status: "failed", error: refusal(response, text, isPage(response)) } }];
  }
  const text = await readText(response.body, MAX_JSON_BODY);
  return [...decoder.feedResponse(text), ...decoder.close()];
}

function refusal(response: HttpResponse, text: string, html: boolean): ReturnType<typeof httpError> {
  if (response.status >= 300 && response.status < 400) {
    const message = `the server redirects to ${response.headers["location"] ?? "another place"}; a request with a key is not sent elsewhere: correct the base URL`;
    return { code: "redirected", message, class: "OTHER", status: response.status };
  }
  // A page with status 200 is a wrong address, not an outage: it is not retried.
  const info = httpError(
    response.status,
    html && !/^\s*</.test(text) ? `<html>${text}` : text,
    response.headers,
  );
  return html && response.status < 500 ? { ...info, class: "OTHER" } : info;
}

/** The end is the last event there is. */
function withRequestId(batch: readonly StreamEvent[], requestId: string | undefined): readonly StreamEvent[] {
  const last = batch.at(-1);
  if (last?.type !== "end" || requestId === undefined) return batch;
  return [...batch.slice(0, -1), { type: "end", end: { requestId, ...last.end } }];
}
