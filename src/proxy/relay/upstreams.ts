/** Connections to providers: any method, the client's headers in their order, raw bytes both ways. */

import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

import { codeOf } from "../../base/support/index.ts";

export interface Sending {
  readonly url: URL;
  readonly method: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

/** They concern one connection, not the message (RFC 9110 §7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The headers that go on, doubled ones included. `replace`: a new value, or undefined to leave a header out. */
export function passedHeaders(
  raw: readonly string[],
  replace: Readonly<Record<string, ((value: string) => string | undefined) | undefined>> = {},
): string[] {
  const dropped = new Set(HOP_BY_HOP);
  for (let at = 0; at < raw.length; at += 2)
    if (raw[at]?.toLowerCase() === "connection")
      for (const name of (raw[at + 1] ?? "").split(",")) dropped.add(name.trim().toLowerCase());
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? "";
    const value = raw[at + 1] ?? "";
    if (dropped.has(name.toLowerCase())) continue;
    const change = replace[name.toLowerCase()];
    const changed = change === undefined ? value : change(value);
    if (changed !== undefined) kept.push(name, changed);
  }
  return kept;
}

/** Node takes 16 KiB; providers send more. */
const MOST_HEAD_BYTES = 256 * 1024;

export class Upstreams {
  readonly #http = new HttpAgent({ keepAlive: true });
  readonly #https = new HttpsAgent({ keepAlive: true });

  /** Resolves when the head of the answer arrived. The signal ends the request and its answer. */
  async send(sending: Sending, body: Buffer, signal: AbortSignal): Promise<IncomingMessage> {
    const first = this.#once(sending, signal);
    let read = 0;
    first.on("socket", (socket) => {
      read = socket.bytesRead;
    });
    try {
      return await answerTo(first, body);
    } catch (error) {
      // The server closed a connection it had kept open, and no byte of an answer came: nothing has happened yet.
      const isUntouched = first.reusedSocket && (first.socket?.bytesRead ?? read) === read;
      if (!isUntouched || codeOf(error) !== "ECONNRESET" || signal.aborted) throw error;
      return answerTo(this.#once(sending, signal), body);
    }
  }

  /** For a body that is not read: the caller pipes it. */
  open(sending: Sending, signal: AbortSignal): ClientRequest {
    return this.#once(sending, signal);
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #once({ url, method, path, headers }: Sending, signal: AbortSignal): ClientRequest {
    const secure = url.protocol === "https:";
    const options = {
      agent: secure ? this.#https : this.#http,
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
      method,
      path,
      headers: ["host", url.host, ...headers] as readonly string[],
      signal,
      setDefaultHeaders: false,
      maxHeaderSize: MOST_HEAD_BYTES,
    };
    return (secure ? httpsRequest : httpRequest)(options);
  }
}

function answerTo(request: ClientRequest, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on("response", resolve);
    request.on("error", reject);
    request.end(body);
  });
}
