/**
 * An exchange over Node's own client. Every event that ends a request goes to the exchange, which decides what counts.
 * A kept-alive connection that turns out to be closed is replaced once by a new one.
 */

import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import { pipeline, type Readable } from "node:stream";
import { urlToHttpOptions } from "node:url";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { codedError, codeOf } from "../../base/support/index.ts";
import type { Exchange } from "./exchange.ts";
import type { HttpRequest } from "./http.ts";
import { nodeHttp, nodeHttps } from "./node-http.ts";

/** Node's `request`, or a test double that plays its events. */
export type Ask = (options: RequestOptions, connection: "any" | "new") => ClientRequest;

export function sendByNode(
  exchange: Exchange,
  request: HttpRequest,
  ask: Ask = askNode,
  connection: "any" | "new" = "any",
): void {
  if (!exchange.asking) return;
  const where = addressOf(request.url);
  const length = String(request.body.reduce((sum, part) => sum + part.length, 0));
  const headers = { ...request.headers, "content-length": length };
  const outgoing = ask({ ...where, method: "POST", headers }, connection);
  let incoming: IncomingMessage | undefined;
  let heard = false;
  let replaced = false;

  // The error listener stays as long as the request: without one, a late error would end the process.
  outgoing.on("error", (error) => {
    if (replaced) return;
    // A server may close a kept-alive connection at the very moment it is reused. Sending once more on a new connection
    // loses no answer, and the user need not wait for a retry or hear about it.
    replaced = connection === "any" && outgoing.reusedSocket && !heard && exchange.asking && isReset(error);
    if (!replaced) exchange.fail(error);
    else {
      outgoing.destroy();
      sendAgain(exchange, request, ask);
    }
  });
  outgoing.on("close", () => {
    if (replaced) return;
    exchange.fail(new Error("it was closed before an answer arrived"));
    // Node marks a response that arrived whole. Any other will deliver nothing more.
    if (incoming?.complete === false) incoming.destroy();
  });
  outgoing.on("information", () => (heard = true));
  outgoing.on("response", (response) => {
    heard = true;
    incoming ??= response;
    if (replaced) response.destroy();
    else take(exchange, outgoing, response);
  });
  // On these two events Node hands the connection over and considers the request done.
  const switched = (_response: IncomingMessage, socket: Socket): void => {
    heard = true;
    keepQuiet(socket);
    socket.destroy();
    if (!replaced) exchange.switchedProtocols();
  };
  outgoing.on("upgrade", switched);
  outgoing.on("connect", switched);
  outgoing.on("socket", (socket) => {
    keepQuiet(socket);
    if (replaced || !socket.connecting) return;
    exchange.connecting();
    socket.once(where.protocol === "https:" ? "secureConnect" : "connect", () => {
      if (!replaced) exchange.connected();
    });
  });
  // Not Node's `signal` option: it destroys the socket with an error even if the response has arrived whole.
  exchange.carriedBy(() => void outgoing.destroy());
  for (const part of request.body) outgoing.write(part);
  outgoing.end();
}

function sendAgain(exchange: Exchange, request: HttpRequest, ask: Ask): void {
  try {
    sendByNode(exchange, request, ask, "new");
  } catch (error) {
    exchange.fail(error);
  }
}

function take(exchange: Exchange, outgoing: ClientRequest, incoming: IncomingMessage): void {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers))
    headers[name] = Array.isArray(value) ? value.join(", ") : (value ?? "");
  const body = decompressed(incoming, headers["content-encoding"]);
  if (body === undefined) {
    incoming.destroy();
    const message = `the response uses the unsupported encoding "${headers["content-encoding"]}"`;
    exchange.fail(codedError("bad_response", message));
    return;
  }
  // The server answered before reading the request. If it never reads the rest, the connection would stay open forever.
  incoming.once("end", () => {
    if (!outgoing.writableFinished) outgoing.destroy();
  });
  exchange.answered(incoming.statusCode ?? 0, headers, body);
}

const httpAgent = new nodeHttp.Agent({ keepAlive: true });
let httpsAgent: HttpsAgent | undefined;

function askNode(options: RequestOptions, connection: "any" | "new"): ClientRequest {
  const secure = options.protocol === "https:";
  if (secure) httpsAgent ??= new (nodeHttps().Agent)({ keepAlive: true });
  const agent = connection === "any" && (secure ? httpsAgent : httpAgent);
  return (secure ? nodeHttps() : nodeHttp).request({ ...options, agent });
}

function isReset(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ECONNRESET" || code === "EPIPE";
}

const addresses = new Map<string, RequestOptions>();
const MAX_ADDRESSES = 64;

/** Parsed once per URL: a session sends to one address. */
function addressOf(url: string): RequestOptions {
  let known = addresses.get(url);
  if (known === undefined) {
    if (addresses.size === MAX_ADDRESSES) addresses.clear();
    addresses.set(url, (known = urlToHttpOptions(new URL(url))));
  }
  return known;
}

/**
 * An endpoint may answer before it has read the request and then reset the connection. Node returns the socket to its
 * pool when the response ends, so the write that fails afterwards has no listener and would end the process.
 */
function keepQuiet(socket: Socket): void {
  if (!socket.listeners("error").includes(ignoreError)) socket.on("error", ignoreError);
}

const ignoreError = (): void => undefined;

/** Returns undefined for an unknown encoding. */
function decompressed(incoming: IncomingMessage, encoding: string | undefined): Readable | undefined {
  switch (encoding) {
    case undefined:
    case "":
    case "identity":
      return incoming;
    case "gzip":
      return decoded(incoming, createGunzip());
    case "br":
      return decoded(incoming, createBrotliDecompress());
    case "deflate":
      return decoded(incoming, createInflate());
    default:
      return undefined;
  }
}

/** Each stream ends with the other: a reader that leaves early must not leave the connection open. */
function decoded(incoming: Readable, decoder: Readable & NodeJS.WritableStream): Readable {
  pipeline(incoming, decoder, ignoreError);
  incoming.once("aborted", () => decoder.destroy(new Error("aborted")));
  return decoder;
}
