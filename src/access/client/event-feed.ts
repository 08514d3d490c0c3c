/**
 * A session's events over a connection that may break. It resumes after the last canonical event that arrived, so each
 * is seen exactly once and in order, by its seq. The server repeats the items in progress, and the whole log if it has
 * fewer events than were seen (`reset`).
 */

import type { SessionState } from "../../base/api/index.ts";
import { parseLine, type SessionEvent } from "../../base/events/index.ts";
import { codedError, onAbort, type ThroughlineError } from "../../base/support/index.ts";
import { type Http, statusOf, waitBefore } from "./http.ts";
import { readMessages, type SseMessage } from "./sse-reader.ts";

export interface FeedOptions {
  readonly path: string;
  readonly after: number;
  readonly signal: AbortSignal;
  readonly onState: (state: SessionState) => void;
  /** The log now ends with this event, which is before the last one seen. */
  readonly onReset: (lastSeq: number) => void;
  readonly onConnection: (open: boolean) => void;
}

/** The server sends something every 20 s. A connection that is silent for longer is dead, whatever TCP says. */
const SILENCE_MS = 45_000;

export async function* followFeed(http: Http, options: FeedOptions): AsyncGenerator<SessionEvent> {
  const { signal, onState, onReset, onConnection } = options;
  let { after } = options;
  let attempt = 0;
  while (!signal.aborted) {
    try {
      for await (const { event, id, data } of connection(http, `${options.path}?after=${after}`, signal)) {
        attempt = 0;
        onConnection(true);
        if (event === "state") onState(JSON.parse(data) as SessionState);
        if (event === "reset") {
          after = -1;
          onReset((JSON.parse(data) as { readonly seq: number }).seq);
          yield { type: "reset" };
        }
        if (event !== "message") continue;
        if (id === undefined) {
          yield JSON.parse(data) as SessionEvent;
          continue;
        }
        const logged = parseLine(data);
        if (logged.seq <= after) continue;
        if (logged.seq !== after + 1) throw outOfOrder(after, logged.seq);
        after = logged.seq;
        yield logged;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isFinal(error)) throw error;
    }
    if (signal.aborted) return;
    attempt += 1;
    onConnection(false);
    await http.clock.sleep(waitBefore(attempt), signal).catch(() => undefined);
  }
}

/** Yields the messages of one connection until it ends, breaks or falls silent. */
async function* connection(http: Http, path: string, signal: AbortSignal): AsyncGenerator<SseMessage> {
  const own = new AbortController();
  const stop = (): void => own.abort();
  const forget = onAbort(signal, stop);
  if (signal.aborted) stop();
  let timer = setTimeout(stop, SILENCE_MS);
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(stop, SILENCE_MS);
  };
  try {
    const { body } = await http.open(path, "text/event-stream", own.signal);
    if (body !== null) yield* readMessages(body, heard, own.signal);
  } finally {
    clearTimeout(timer);
    forget();
    stop();
  }
}

/** Errors that a retry will not change: the session is gone, or we may not see it. */
function isFinal(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function outOfOrder(after: number, seq: number): ThroughlineError {
  return codedError("stream_order", `event ${seq} arrived after event ${after}, so events are missing`);
}
