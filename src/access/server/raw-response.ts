/**
 * Streams are written to node's own response: its buffer is the one place that tells how far behind a client is.
 */

import { once } from "node:events";
import type { ServerResponse } from "node:http";

import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";

import type { RouteContext } from "./context.ts";

const BACKLOG = 256 * 1024;

/** Runs the stream to its end. What fails before its first byte is an ordinary error; after it, the stream breaks off. */
export async function startStream(c: RouteContext, run: () => Promise<void>): Promise<Response> {
  const { outgoing } = c.env;
  try {
    await run();
  } catch (error) {
    if (!outgoing.headersSent) throw error;
    outgoing.destroy(); // an end would look like the whole
  }
  return RESPONSE_ALREADY_SENT;
}

/** A client that takes nothing for so long is taken for gone: it would hold the session open for ever. */
async function drained(response: ServerResponse, stuckMs: number): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const stuck = setTimeout(() => response.destroy(), stuckMs);
  try {
    await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
  } finally {
    clearTimeout(stuck);
    over.abort();
  }
}

/** As fast as the client reads. */
export function sendPieces(
  c: RouteContext,
  mediaType: string,
  pieces: AsyncIterable<string> | Iterable<Uint8Array>,
  stuckMs: number,
): Promise<Response> {
  const response = c.env.outgoing;
  return startStream(c, async () => {
    response.on("error", () => undefined);
    response.writeHead(200, { "content-type": mediaType });
    for await (const piece of pieces) {
      if (response.destroyed) return;
      if (!response.write(piece) && response.writableLength > BACKLOG) await drained(response, stuckMs);
    }
    response.end();
  });
}
