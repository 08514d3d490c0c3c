/**
 * The lifetime of one HTTP exchange, and its only owner: the caller's abort, the time limits, the limit of bytes, and the
 * end of whatever carries the request. It settles exactly once with a response or an error, and the body it hands out ends
 * exactly once, whatever the carrier (Node's client or a `fetch`) does, repeats or never does. Limits and aborts settle it
 * directly. They never wait for the carrier to say that it has stopped.
 */

import type { Readable } from "node:stream";

import { codedError, onAbort } from "../../base/support/index.ts";
import { connectionFailure, hostOf } from "./connection-failure.ts";
import type { HttpRequest, HttpResponse } from "./http.ts";
import { type ChunkWatch, readChunks, type StoppableChunks } from "./read-chunks.ts";

/** A host that is there answers within seconds, from the other side of the world too. */
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
  /** Why the exchange was stopped: what every reader is told, whatever the stream says afterwards. */
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

  /** No answer has come yet, and one is still wanted. */
  get asking(): boolean {
    return this.#state === "asking";
  }

  /** How to end what carries the request. Called at once when nobody wants an answer any more. */
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

  /** The head of an answer. Only the first one counts, and none that comes too late. */
  answered(status: number, headers: Readonly<Record<string, string>>, stream: Readable): void {
    if (!this.asking) {
      stream.on("error", ignore).destroy();
      return;
    }
    // Node keeps to itself what is not final, except a 101 that does not say to which protocol it switches.
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

  /** Not retried (class OTHER): the same request would get the same answer from a wrong address or a broken proxy. */
  switchedProtocols(status = 101): void {
    const what = status === 101 ? "answered 101 and switched to another protocol" : `answered only ${status}`;
    const message = `${hostOf(this.#request.url)} ${what}, which the request did not ask for: check the base URL and any proxy`;
    this.fail(codedError("bad_response", message));
  }

  /** No answer will come. Once there is one, its body tells how it ends. */
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
    return codedError("stream_limit", `the answer is longer than ${most} bytes`);
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

  /** With every piece that arrives: winding up a timer that is there already costs less than making a new one. */
  #expect(limit: Limit): void {
    this.#paused = false;
    if (this.#limit === limit) {
      this.#timer?.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#limit = limit;
    this.#timer = setTimeout(() => {
      // While it is paused the reader is waited for, not the server.
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
