/**
 * A `fetch` for the agent that passes every request to a provider and its answer to a sink, in any dialect. It sends with
 * node:http, as the agent itself does, and passes on the answer chunk by chunk as it arrives.
 */

import { codeOf, messageOf } from "../../base/support/index.ts";
import { postStream } from "../../runtime/wire/index.ts";

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface SeenError {
  readonly code: string;
  readonly message: string;
}

/** For each number the calls are: one request, then a response with its bytes or none, then one end. */
export interface WireSink {
  request(n: number, request: SeenRequest): void;
  response(n: number, status: number, headers: Readonly<Record<string, string>>): void;
  data(n: number, bytes: Uint8Array): void;
  end(n: number, error?: SeenError): void;
}

/** The caller has its own time-outs. These only have to be longer. */
const NO_TIMEOUT = { firstByteMs: 2 ** 31 - 1, idleMs: 2 ** 31 - 1 };

export function tapFetch(sink: WireSink): typeof fetch {
  let count = 0;
  return async (input, init = {}) => {
    count += 1;
    const n = count;
    const signal = init.signal ?? new AbortController().signal;
    const request = {
      method: init.method ?? "POST",
      url: input instanceof Request ? input.url : String(input),
      headers: Object.fromEntries(new Headers(init.headers)),
      body: bytesOf(init.body),
    };
    sink.request(n, request);
    try {
      const response = await postStream({
        url: request.url,
        headers: request.headers,
        body: [request.body],
        signal,
        timeouts: NO_TIMEOUT,
      });
      sink.response(n, response.status, response.headers);
      return answerOf(response.status, response.headers, told(response.body, sink, n, signal));
    } catch (error) {
      sink.end(n, seenError(error, signal));
      throw error;
    }
  };
}

async function* told(
  body: AsyncIterable<Uint8Array>,
  sink: WireSink,
  n: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let error: SeenError | undefined;
  try {
    for await (const bytes of body) {
      sink.data(n, bytes);
      yield bytes;
    }
  } catch (thrown) {
    error = seenError(thrown, signal);
    throw thrown;
  } finally {
    // Even if the reader stops early, as it does after the last event it needs.
    sink.end(n, error);
  }
}

/** The part of a Response that postStream reads. A real Response refuses some statuses that servers do send. */
export function answerOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: AsyncIterable<Uint8Array>,
): Response {
  return { status, headers: new Headers(headers), body } as unknown as Response;
}

function bytesOf(body: RequestInit["body"]): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return typeof body === "string" ? Buffer.from(body) : new Uint8Array();
}

/** A time-out aborts with its code. Any other abort counts as a stop by the reader. */
function seenError(error: unknown, signal: AbortSignal): SeenError {
  if (!signal.aborted) return { code: codeOf(error) ?? "connection_lost", message: messageOf(error) };
  const code = codeOf(signal.reason);
  return code?.startsWith("timeout_") === true
    ? { code, message: messageOf(signal.reason) }
    : { code: "aborted", message: "the reader stopped" };
}
