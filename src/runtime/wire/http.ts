/**
 * One POST and its streamed response. Uses node:http, because global fetch costs 2.45 times as much on streams; a
 * `fetch` can be supplied instead. No retries (the turn decides) and no redirects (a POST with a key must not go
 * elsewhere).
 */

import { Exchange } from "./exchange.ts";
import { sendByFetch } from "./given-fetch.ts";
import type { BodyChunks } from "./read-chunks.ts";
import { sendByNode } from "./via-node.ts";

export interface HttpTimeouts {
  /** Until there is a connection, including TLS. With a supplied `fetch`, only the first-byte limit applies. */
  readonly connectMs?: number;
  /** Until the first byte of the response head. */
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
  /** Fails with a coded error if the connection fails, or with the signal's reason. */
  readonly body: BodyChunks;
}

export function postStream(request: HttpRequest): Promise<HttpResponse> {
  const exchange = new Exchange(request);
  try {
    if (request.fetch === undefined) sendByNode(exchange, request);
    else void sendByFetch(exchange, request, request.fetch);
  } catch (error) {
    exchange.fail(error);
  }
  return exchange.answer;
}

/** Reads at most `maxBytes` of a body as text; the rest stays unread. */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
}
