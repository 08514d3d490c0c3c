/** Writes streams to node's own response, because only its buffer shows how far behind a client is. */

import { once } from "node:events";
import type { ServerResponse } from "node:http";

import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";

import type { RouteContext } from "./context.ts";

const BACKLOG = 256 * 1024;

/**
 * Runs the stream to its end. A failure before the first byte is an ordinary error; after it, the stream breaks off.
 */
export async function startStream(c: RouteContext, run: () => Promise<void>): Promise<Response> {
  const { outgoing } = c.env;
  try {
    await run();
  } catch (error) {
    if (!outgoing.headersSent) throw error;
    outgoing.destroy(); // a regular end would look complete
  }
  return RESPONSE_ALREADY_SENT;
}

/** A client that reads nothing for this long counts as gone: it would hold the session open forever. */
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

/** Sends chunks as fast as the client reads. */
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
