/**
 * The same over a `fetch` that was handed in. It is somebody else's code: whether it heeds the signal or not, what
 * is stopped has ended, and what took too long has.
 */

import { Readable } from "node:stream";

import type { HttpRequest, HttpResponse } from "./http.ts";
import { type ChunkWatch, readChunks } from "./read-chunks.ts";

export async function viaFetch(
  request: HttpRequest,
  fetcher: typeof fetch,
  signal: AbortSignal,
  watch: ChunkWatch,
): Promise<HttpResponse> {
  const answer = fetcher(request.url, {
    method: "POST",
    headers: request.headers,
    body: Buffer.concat(request.body),
    redirect: "manual",
    signal,
  });
  const response = await unlessAborted(answer, signal);
  const body = streamOf((response.body ?? nothing()) as AsyncIterable<Uint8Array>);
  const stop = (): void => void body.destroy(new Error("stopped"));
  signal.addEventListener("abort", stop, { once: true });
  body.once("close", () => signal.removeEventListener("abort", stop));
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: readChunks(body, watch),
  };
}

async function unlessAborted(answer: Promise<Response>, signal: AbortSignal): Promise<Response> {
  const { promise: stopped, reject } = deferred();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([answer, stopped]);
  } catch (error) {
    void discard(answer);
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function deferred(): { readonly promise: Promise<never>; readonly reject: (reason: unknown) => void } {
  let reject: ((reason: unknown) => void) | undefined;
  const promise = new Promise<never>((_resolve, refuse) => {
    reject = refuse;
  });
  return { promise, reject: (reason) => reject?.(reason) };
}

/** An answer that comes after all is not read. */
async function discard(answer: Promise<Response>): Promise<void> {
  try {
    await (await answer).body?.cancel();
  } catch {
    // It failed, which is as good.
  }
}

/** Not Readable.from, whose end waits for a source that may never answer again. */
function streamOf(pieces: AsyncIterable<Uint8Array>): Readable {
  const source = pieces[Symbol.asyncIterator]();
  return new Readable({
    objectMode: true,
    highWaterMark: 1,
    read() {
      source.next().then(
        ({ done, value }) => this.push(done === true ? null : value),
        (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
      );
    },
    destroy(error, done) {
      void leave(source);
      done(error);
    },
  });
}

async function leave(source: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await source.return?.();
  } catch {
    // Nobody reads it any more.
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // No body: nothing to yield.
}
