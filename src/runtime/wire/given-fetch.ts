/**
 * An exchange over a `fetch` that the user supplied. It may ignore its signal, never answer, or return an endless body.
 * The exchange settles anyway; this module only passes the answer on or abandons it.
 */

import { Readable } from "node:stream";

import type { Exchange } from "./exchange.ts";
import type { HttpRequest } from "./http.ts";

export async function sendByFetch(
  exchange: Exchange,
  request: HttpRequest,
  fetcher: typeof fetch,
): Promise<void> {
  if (!exchange.asking) return;
  const controller = new AbortController();
  exchange.carriedBy((reason) => controller.abort(reason));
  try {
    const response = await fetcher(request.url, {
      method: "POST",
      headers: request.headers,
      body: Buffer.concat(request.body),
      redirect: "manual",
      signal: controller.signal,
    });
    const body = streamOf((response.body ?? emptyBody()) as AsyncIterable<Uint8Array>);
    exchange.answered(response.status, Object.fromEntries(response.headers), body);
  } catch (error) {
    exchange.fail(error);
  }
}

/** A source that always has a chunk ready would starve timers and aborts, so they get a turn every so many chunks. */
const CHUNKS_PER_TURN = 64;

/** Not Readable.from: its end waits for a source that may never respond. */
function streamOf(chunks: AsyncIterable<Uint8Array>): Readable {
  const source = chunks[Symbol.asyncIterator]();
  let taken = 0;
  return new Readable({
    objectMode: true,
    highWaterMark: 1,
    read() {
      taken += 1;
      if (taken % CHUNKS_PER_TURN === 0) setImmediate(() => void passOn(source, this));
      else void passOn(source, this);
    },
    destroy(error, done) {
      void abandon(source);
      done(error);
    },
  });
}

async function passOn(source: AsyncIterator<unknown>, to: Readable): Promise<void> {
  try {
    const { done, value } = await source.next();
    if (done !== true && !ArrayBuffer.isView(value))
      throw new TypeError("the body contained a chunk that is not bytes");
    to.push(done === true ? null : value);
  } catch (error) {
    to.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

async function abandon(source: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await source.return?.();
  } catch {
    // The reader has left, so a failure here no longer matters.
  }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {
  // No body: nothing to yield.
}
