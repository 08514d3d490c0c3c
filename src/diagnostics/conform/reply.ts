/** Sends one request and reads the answer, with limits for time and size. It judges nothing. */

import {
  type Clock,
  codeOf,
  isObject,
  type JsonObject,
  messageOf,
  stringOf,
  tryParseJson,
  codedError,
  VERSION,
} from "../../base/support/index.ts";
import { type HttpResponse, postStream, readText, SseDecoder } from "../../runtime/wire/index.ts";

export interface Frame {
  /** The `event:` line; empty if there was none. */
  readonly name: string;
  /** The exact text of the data. */
  readonly data: string;
  /** `undefined` if it is not a JSON object. */
  readonly body: JsonObject | undefined;
  /** `type` inside the data, or the event's name. */
  readonly type: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the answer was sent as server-sent events. */
  readonly streamed: boolean;
  readonly frames: readonly Frame[];
  /** The body, if it was not a stream. */
  readonly text: string;
  /** How the body broke off, if it did. */
  readonly broken: { readonly code: string; readonly message: string } | undefined;
}

export interface EndpointOptions {
  readonly url: string;
  readonly key: string | undefined;
  /** The time limit for a whole request. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

export interface PostOptions {
  /** Replaces the endpoint's own key. */
  readonly key?: string;
  /** Returns true to stop reading the stream. */
  readonly enough?: (frame: Frame) => boolean;
}

const MAX_BODY = 4 * 1024 * 1024;
const MAX_FRAMES = 50_000;
const MAX_WAITS = 2;
const LONGEST_WAIT_MS = 30_000;

export async function post(
  endpoint: EndpointOptions,
  body: string,
  options: PostOptions = {},
): Promise<Reply> {
  for (let waits = 0; ; waits += 1) {
    const reply = await postOnce(endpoint, body, options);
    const wait = waitOf(reply);
    if (wait === undefined || waits === MAX_WAITS) return reply;
    await endpoint.clock.sleep(wait, endpoint.signal);
  }
}

/** A busy server says when to retry. That it is busy says nothing about its protocol. */
function waitOf({ status, headers }: Reply): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const seconds = Number(headers["retry-after"] ?? Number.NaN);
  const ms = Number(headers["retry-after-ms"] ?? seconds * 1000);
  return ms >= 0 && ms <= LONGEST_WAIT_MS ? ms : undefined;
}

async function postOnce(endpoint: EndpointOptions, body: string, options: PostOptions): Promise<Reply> {
  const { signal, timeoutMs } = endpoint;
  const key = options.key ?? endpoint.key;
  const limit = AbortSignal.timeout(timeoutMs);
  const told = (error: unknown): unknown =>
    limit.aborted && !signal.aborted
      ? codedError("timeout", `no complete answer within ${timeoutMs} ms`)
      : error;
  let response: HttpResponse;
  try {
    response = await postStream({
      url: endpoint.url,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "accept-encoding": "identity",
        "user-agent": `throughline-conform/${VERSION}`,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: [Buffer.from(body)],
      signal: AbortSignal.any([signal, limit]),
      timeouts: { firstByteMs: timeoutMs, idleMs: timeoutMs },
      maxResponseBytes: MAX_BODY * 4,
    });
  } catch (error) {
    throw told(error);
  }
  const { status, headers } = response;
  const streamed = /^text\/event-stream/i.test(headers["content-type"] ?? "");
  const frames: Frame[] = [];
  let text = "";
  try {
    if (streamed) await readFrames(response, frames, options.enough);
    else text = await readText(response.body, MAX_BODY);
    return { status, headers, streamed, frames, text, broken: undefined };
  } catch (error) {
    if (signal.aborted) throw error;
    const cause = told(error);
    const broken = { code: codeOf(cause) ?? "connection_lost", message: messageOf(cause) };
    return { status, headers, streamed, frames, text, broken };
  }
}

async function readFrames(
  response: HttpResponse,
  into: Frame[],
  enough: PostOptions["enough"],
): Promise<void> {
  const decoder = new SseDecoder();
  for await (const chunk of response.body) {
    for (const { event, data } of decoder.feed(chunk)) {
      if (data === "[DONE]") continue;
      const parsed = tryParseJson(data);
      const body = isObject(parsed) ? parsed : undefined;
      const frame = { name: event, data, body, type: stringOf(body?.["type"]) ?? event };
      into.push(frame);
      if (enough?.(frame) === true || into.length >= MAX_FRAMES) return;
    }
  }
}
