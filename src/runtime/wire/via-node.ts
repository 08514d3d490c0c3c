/**
 * An exchange over Node's own client. Every event that ends a request is passed on to the exchange, which decides what
 * counts. A connection that was kept and turns out to be closed is replaced once by a new one.
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

/** What Node's `request` does. Given by tests that play its events. */
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

  // A listener for errors stays as long as the request does: without one, a late error would end the process.
  outgoing.on("error", (error) => {
    if (replaced) return;
    // The server may close a kept connection in the very moment it is used again. No answer is lost by asking once more
    // on a new one, and no person has to wait for that or read about it.
    replaced = connection === "any" && outgoing.reusedSocket && !heard && exchange.asking && isReset(error);
    if (!replaced) exchange.fail(error);
    else {
      outgoing.destroy();
      sendAgain(exchange, request, ask);
    }
  });
  outgoing.on("close", () => {
    if (replaced) return;
    exchange.fail(new Error("it was closed before an answer came"));
    // Node marks an answer that has come whole. Nothing more comes of any other.
    if (incoming?.complete === false) incoming.destroy();
  });
  outgoing.on("information", () => (heard = true));
  outgoing.on("response", (response) => {
    heard = true;
    incoming ??= response;
    if (replaced) response.destroy();
    else take(exchange, outgoing, response);
  });
  // Node gives the connection away with these two and then counts the request as done.
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
  // Not the `signal` option of Node, which destroys the socket with an error even when the answer has arrived whole.
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
    const message = `the answer is encoded as "${headers["content-encoding"]}", which was not asked for`;
    exchange.fail(codedError("bad_response", message));
    return;
  }
  // The server answered before it had read the request. One that never reads on would hold the connection for ever.
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

/** Undefined for an encoding that was not asked for and is not known. */
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

/** Each ends with the other, however it ends: a reader that leaves early must not leave the connection open. */
function decoded(incoming: Readable, decoder: Readable & NodeJS.WritableStream): Readable {
  pipeline(incoming, decoder, ignoreError);
  incoming.once("aborted", () => decoder.destroy(new Error("aborted")));
  return decoder;
}
