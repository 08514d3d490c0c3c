/**
 * One POST and its streamed answer. node:http, because global fetch costs 2.45 times as much on streams; a `fetch` can be
 * given instead. No retries here (the turn decides), no redirects (a POST with a key follows nobody).
 */

import type { IncomingMessage, RequestOptions } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { urlToHttpOptions } from "node:url";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { codedError, codeOf, messageOf, onAbort, ThroughlineError } from "../../base/support/index.ts";
import { viaFetch } from "./given-fetch.ts";
import { nodeHttp, nodeHttps } from "./node-http.ts";
import { type BodyChunks, type ChunkWatch, readChunks } from "./read-chunks.ts";

export interface HttpTimeouts {
  /** Until there is a connection, TLS included. Where a `fetch` was handed in, only the first byte can be waited for. */
  readonly connectMs?: number;
  /** Until the first byte of the answer's head. */
  readonly firstByteMs: number;
  /** Between any two bytes after that. */
  readonly idleMs: number;
}

export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
  readonly signal: AbortSignal;
  readonly timeouts: HttpTimeouts;
  readonly fetch?: typeof fetch | undefined;
  readonly maxResponseBytes?: number;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Fails with a coded error when the connection does, or with the signal's reason. */
  readonly body: BodyChunks;
}

/** A host that is there answers within seconds, from the other side of the world too. */
const CONNECT_MS = 30_000;

const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

export async function postStream(request: HttpRequest): Promise<HttpResponse> {
  if (request.signal.aborted) throw request.signal.reason;
  const watchdog = new Watchdog(request.signal);
  watchdog.expect("timeout_first_byte", request.timeouts.firstByteMs);
  try {
    const watch = new BodyWatch(request, watchdog);
    return await (request.fetch === undefined
      ? viaNode(request, watchdog, watch)
      : viaFetch(request, request.fetch, watchdog.signal, watch));
  } catch (error) {
    watchdog.stop();
    throw toCodedError(error, request, watchdog);
  }
}

/** Reads at most `maxBytes` of a body as text; the rest is left unread. */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    pieces.push(piece);
    size += piece.length;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(pieces).subarray(0, maxBytes).toString("utf8");
}

const httpAgent = new nodeHttp.Agent({ keepAlive: true });
let httpsAgent: HttpsAgent | undefined;

function viaNode(
  request: HttpRequest,
  watchdog: Watchdog,
  watch: ChunkWatch,
  connection: "any" | "new" = "any",
): Promise<HttpResponse> {
  const { signal } = watchdog;
  return new Promise((resolve, reject) => {
    let answered = false;
    const where = addressOf(request.url);
    const secure = where.protocol === "https:";
    if (secure) httpsAgent ??= new (nodeHttps().Agent)({ keepAlive: true });
    const outgoing = (secure ? nodeHttps() : nodeHttp).request({
      ...where,
      method: "POST",
      agent: connection === "any" && (secure ? httpsAgent : httpAgent),
      headers: {
        ...request.headers,
        "content-length": String(request.body.reduce((sum, part) => sum + part.length, 0)),
      },
    });
    outgoing.on("response", (incoming) => {
      answered = true;
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(incoming.headers))
        headers[name] = Array.isArray(value) ? value.join(", ") : (value ?? "");
      const body = decompressed(incoming, headers["content-encoding"]);
      if (body !== undefined)
        resolve({ status: incoming.statusCode ?? 0, headers, body: readChunks(body, watch) });
      else {
        incoming.destroy();
        reject(
          coded(
            "bad_response",
            `the answer is encoded as "${headers["content-encoding"]}", which was not asked for`,
          ),
        );
      }
    });
    outgoing.on("error", (error) => {
      // A connection that was kept may be closed by the server in the very moment it is used again: no answer is lost by
      // asking once more on a new one, and it is no failure that anybody has to wait or read about.
      const closedBefore = outgoing.reusedSocket && !answered && isReset(error);
      if (closedBefore && connection === "any" && !signal.aborted)
        resolve(viaNode(request, watchdog, watch, "new"));
      else reject(error);
    });
    outgoing.once("socket", (socket) => {
      keepQuiet(socket);
      const { connectMs = CONNECT_MS, firstByteMs } = request.timeouts;
      if (!socket.connecting || connectMs >= firstByteMs) return;
      watchdog.expect("timeout_connect", connectMs);
      socket.once(secure ? "secureConnect" : "connect", () =>
        watchdog.expect("timeout_first_byte", firstByteMs),
      );
    });
    // Not the `signal` option, which destroys the socket with an error: once the whole answer has arrived nobody listens
    // for it any more, and it would end the process. Why it stopped is known from the signal.
    const abort = (): void => void outgoing.destroy();
    signal.addEventListener("abort", abort, { once: true });
    outgoing.on("close", () => signal.removeEventListener("abort", abort));
    if (signal.aborted) abort();
    for (const part of request.body) outgoing.write(part);
    outgoing.end();
  });
}

function isReset(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ECONNRESET" || code === "EPIPE";
}

const addresses = new Map<string, RequestOptions>();
const MAX_ADDRESSES = 64;

/** Taken apart once: a session sends to one address. */
function addressOf(url: string): RequestOptions {
  let known = addresses.get(url);
  if (known === undefined) {
    if (addresses.size === MAX_ADDRESSES) addresses.clear();
    addresses.set(url, (known = urlToHttpOptions(new URL(url))));
  }
  return known;
}

/**
 * An endpoint may answer before it has read the request and then reset the connection. Node hands the socket back to its
 * pool with the answer's end, and the write that fails afterwards has no listener: it would end the process.
 */
function keepQuiet(socket: Socket): void {
  if (!socket.listeners("error").includes(ignoreError)) socket.on("error", ignoreError);
}

const ignoreError = (): void => undefined;

/** Undefined for an encoding nobody asked for. */
function decompressed(incoming: IncomingMessage, encoding: string | undefined): Readable | undefined {
  switch (encoding) {
    case undefined:
    case "":
    case "identity":
      return incoming;
    case "gzip":
      return piped(incoming, createGunzip());
    case "br":
      return piped(incoming, createBrotliDecompress());
    case "deflate":
      return piped(incoming, createInflate());
    default:
      return undefined;
  }
}

function piped(incoming: Readable, decoder: Readable & NodeJS.WritableStream): Readable {
  incoming.on("error", (error) => decoder.destroy(error));
  incoming.on("aborted", () => decoder.destroy(new Error("aborted")));
  // A reader that leaves early ends the decoder; without this the connection would stay open behind it.
  decoder.on("close", () => incoming.destroy());
  incoming.pipe(decoder);
  return decoder;
}

/** The time between any two bytes, and how many there may be. */
class BodyWatch implements ChunkWatch {
  readonly #request: HttpRequest;
  readonly #watchdog: Watchdog;
  readonly #limit: number;
  #received = 0;

  constructor(request: HttpRequest, watchdog: Watchdog) {
    this.#request = request;
    this.#watchdog = watchdog;
    this.#limit = request.maxResponseBytes ?? MAX_RESPONSE_BYTES;
  }

  waiting(): void {
    this.#watchdog.expect("timeout_idle", this.#request.timeouts.idleMs);
  }

  given(bytes: number): unknown {
    this.#watchdog.pause();
    this.#received += bytes;
    if (this.#received <= this.#limit) return undefined;
    return coded("stream_limit", `the answer is longer than ${this.#limit} bytes`);
  }

  ended(): unknown {
    this.#watchdog.stop();
    // A stopped answer that had arrived whole ends without an error, but what was not read of it is gone.
    return this.#watchdog.signal.aborted ? this.#watchdog.reason : undefined;
  }

  failed(error: unknown): unknown {
    this.#watchdog.stop();
    return toCodedError(error, this.#request, this.#watchdog);
  }

  left(): void {
    this.#watchdog.stop();
    this.#watchdog.abandon();
  }
}

/** Aborts the connection when the caller does or when an expected byte does not come, and remembers which it was. */
class Watchdog {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  #timer: NodeJS.Timeout | undefined;
  #paused = false;
  #expected: { readonly what: string; readonly withinMs: number } | undefined;
  #stopped = false;
  readonly #forget: () => void;
  timedOut: string | undefined;

  constructor(caller: AbortSignal) {
    this.#caller = caller;
    this.#forget = onAbort(caller, () => this.#controller.abort(caller.reason));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get cancelled(): boolean {
    return this.#caller.aborted;
  }

  get reason(): unknown {
    return this.#caller.reason;
  }

  /** With every piece that arrives: a timer that is there already is wound up again, which costs less than a new one. */
  expect(what: string, withinMs: number): void {
    if (this.#stopped) return;
    this.#paused = false;
    if (this.#expected?.what === what && this.#expected.withinMs === withinMs) {
      this.#timer?.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#expected = { what, withinMs };
    this.#timer = setTimeout(() => {
      if (this.#paused) return; // what is waited for is the reader, not the server
      this.timedOut = what;
      this.#controller.abort(new Error(what));
    }, withinMs);
  }

  pause(): void {
    this.#paused = true;
  }

  /** Nobody wants the rest: a request that is still under way is ended. */
  abandon(): void {
    this.#controller.abort();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#forget();
  }
}

function toCodedError(error: unknown, request: HttpRequest, watchdog: Watchdog): unknown {
  if (watchdog.cancelled) return watchdog.reason;
  const where = new URL(request.url).host;
  if (watchdog.timedOut !== undefined) {
    if (watchdog.timedOut === "timeout_connect") {
      const { connectMs = CONNECT_MS } = request.timeouts;
      return coded(
        "timeout_connect",
        `no connection to ${where} within ${connectMs} ms: check the base URL and the network`,
        error,
      );
    }
    const ms = watchdog.timedOut === "timeout_idle" ? request.timeouts.idleMs : request.timeouts.firstByteMs;
    return coded(watchdog.timedOut, `${where} sent nothing for ${ms} ms`, error);
  }
  if (error instanceof ThroughlineError) return error;
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const errno = codeOf(cause) ?? codeOf(error) ?? "";
  if (errno === "ENOTFOUND" || errno === "EAI_AGAIN")
    return coded("dns_failed", `cannot find the host ${where}: check the base URL`, error);
  if (errno === "ECONNREFUSED")
    return coded("connect_refused", `${where} refused the connection: is a server running there?`, error);
  if (errno.startsWith("ERR_TLS") || errno.startsWith("ERR_SSL") || /CERT|SELF_SIGNED|EPROTO/.test(errno)) {
    return coded("tls_failed", `no secure connection to ${where}: ${messageOf(cause)}`, error);
  }
  return coded("connection_lost", `the connection to ${where} was lost: ${messageOf(cause)}`, error);
}

function coded(code: string, message: string, cause?: unknown): ThroughlineError {
  return codedError(code, message, cause);
}
