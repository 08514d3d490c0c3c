/**
 * The lifetime of one HTTP exchange and its only owner: it handles the caller's abort, the time limits, the byte limit,
 * and the end of the carrier. It settles exactly once, with a response or an error, and the body it returns ends
 * exactly once, whatever the carrier (Node's client or a `fetch`) does, repeats or never does. Limits and aborts settle
 * it directly; they never wait for the carrier to confirm that it has stopped.
 */

import type { Readable } from "node:stream";

import { codedError, onAbort } from "../../base/support/index.ts";
import { connectionFailure, hostOf } from "./connection-failure.ts";
import type { HttpRequest, HttpResponse } from "./http.ts";
import { type ChunkWatch, readChunks, type StoppableChunks } from "./read-chunks.ts";

/** A reachable host connects within seconds, even from the other side of the world. */
const CONNECT_MS = 30_000;

const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

type Limit = "timeout_connect" | "timeout_first_byte" | "timeout_idle";

export class Exchange implements ChunkWatch {
  readonly answer: Promise<HttpResponse>;
  readonly #request: HttpRequest;
  #resolve: (response: HttpResponse) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #state: "asking" | "reading" | "over" = "asking";
  #body: StoppableChunks | undefined;
  #endCarrier: ((reason: unknown) => void) | undefined;
  /** Why the exchange was stopped. Every reader gets this, whatever the stream reports afterwards. */
  #stopped: { readonly why: unknown } | undefined;
  #received = 0;
  #timer: NodeJS.Timeout | undefined;
  #limit: Limit | undefined;
  #paused = false;
  readonly #stopListening: () => void;

  constructor(request: HttpRequest) {
    this.#request = request;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { signal } = request;
    this.#stopListening = onAbort(signal, () => this.#stop(signal.reason));
    if (signal.aborted) this.#stop(signal.reason);
    else this.#expect("timeout_first_byte");
  }

  /** Whether an answer is still awaited. */
  get asking(): boolean {
    return this.#state === "asking";
  }

  /** Sets the function that ends the carrier, and calls it immediately if the exchange is already over. */
  carriedBy(end: (reason: unknown) => void): void {
    this.#endCarrier = end;
    if (this.#state === "over") end(this.#stopped?.why);
  }

  connecting(): void {
    const { firstByteMs } = this.#request.timeouts;
    if (this.asking && this.#msOf("timeout_connect") < firstByteMs) this.#expect("timeout_connect");
  }

  connected(): void {
    if (this.asking && this.#limit === "timeout_connect") this.#expect("timeout_first_byte");
  }

  /** Takes the head of an answer. Only the first counts, and a late one is discarded. */
  answered(status: number, headers: Readonly<Record<string, string>>, stream: Readable): void {
    if (!this.asking) {
      stream.on("error", ignore).destroy();
      return;
    }
    // Node hides informational responses, except a 101 that does not name the new protocol.
    if (status >= 100 && status < 200) {
      stream.on("error", ignore).destroy();
      this.switchedProtocols(status);
      return;
    }
    this.#state = "reading";
    this.#paused = true;
    this.#body = readChunks(stream, this);
    this.#resolve({ status, headers, body: this.#body });
  }

  /** Not retried (class OTHER): a wrong address or a broken proxy would answer the same request in the same way. */
  switchedProtocols(status = 101): void {
    const what = status === 101 ? "switched to another protocol (status 101)" : `sent only status ${status}`;
    const message = `${hostOf(this.#request.url)} ${what} instead of responding: check the base URL and any proxy`;
    this.fail(codedError("bad_response", message));
  }

  /** Reports that no answer will arrive. Once there is one, its body reports how it ends. */
  fail(error: unknown): void {
    if (this.asking) this.#stop(connectionFailure(error, this.#request.url));
  }

  waiting(): void {
    if (this.#state === "reading") this.#expect("timeout_idle");
  }

  given(bytes: number): unknown {
    this.#paused = true;
    this.#received += bytes;
    const most = this.#request.maxResponseBytes ?? MAX_RESPONSE_BYTES;
    if (this.#received <= most) return undefined;
    return codedError("stream_limit", `the response is longer than ${most} bytes`);
  }

  ended(): void {
    this.#state = "over";
    clearTimeout(this.#timer);
    this.#stopListening();
  }

  failed(error: unknown): unknown {
    this.left();
    return this.#stopped === undefined ? connectionFailure(error, this.#request.url) : this.#stopped.why;
  }

  left(): void {
    this.ended();
    this.#endCarrier?.(this.#stopped?.why);
  }

  #stop(why: unknown): void {
    if (this.#state === "over") return;
    this.#stopped = { why };
    this.left();
    this.#reject(why);
    this.#body?.stop(why);
  }

  /** Called for every chunk that arrives: refreshing an existing timer is cheaper than creating one. */
  #expect(limit: Limit): void {
    this.#paused = false;
    if (this.#limit === limit) {
      this.#timer?.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#limit = limit;
    this.#timer = setTimeout(() => {
      // While paused, the exchange waits for the reader, not for the server.
      if (!this.#paused) this.#stop(this.#overdue(limit));
    }, this.#msOf(limit));
  }

  #msOf(limit: Limit): number {
    const { connectMs = CONNECT_MS, firstByteMs, idleMs } = this.#request.timeouts;
    if (limit === "timeout_connect") return connectMs;
    return limit === "timeout_idle" ? idleMs : firstByteMs;
  }

  #overdue(limit: Limit): unknown {
    const [host, ms] = [hostOf(this.#request.url), this.#msOf(limit)];
    const message =
      limit === "timeout_connect"
        ? `no connection to ${host} within ${ms} ms: check the base URL and the network`
        : `${host} sent nothing for ${ms} ms`;
    return codedError(limit, message);
  }
}

const ignore = (): void => undefined;
