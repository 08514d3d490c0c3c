/**
 * A `fetch` that answers from a recording: the nth request gets the nth recorded answer, byte for byte and with the
 * recorded timing. It sends nothing.
 */

import { asErrorCode, type Clock, codedError, type ThroughlineError } from "../../base/support/index.ts";
import type { RecordedRequest, Recording } from "./read-recording.ts";
import { hashOf } from "./trace-writer.ts";
import { answerOf } from "./wire-tap.ts";

interface RequestDifference {
  readonly n: number;
  readonly recorded: { readonly path: string; readonly hash: string };
  readonly made: { readonly path: string; readonly hash: string };
}

export interface PlaybackOptions {
  readonly clock: Clock;
  /** Skips the recorded waits. */
  readonly fast: boolean;
  readonly onDifference: (difference: RequestDifference) => void;
  /** Called when the run makes more requests than were recorded. */
  readonly onExhausted: (recorded: number) => void;
  /** Called where the recorded reader stopped. */
  readonly onStopped: () => void;
}

export function playbackFetch(recording: Recording, options: PlaybackOptions): typeof fetch {
  let next = 0;
  return async (input, init = {}) => {
    const request = recording.requests[next];
    next += 1;
    if (request === undefined) {
      options.onExhausted(recording.requests.length);
      throw codedError(
        "playback_exhausted",
        `the recording holds ${recording.requests.length} requests; this run makes more`,
      );
    }
    compare(request, input instanceof Request ? input.url : input.toString(), init, options);
    const pace = new Pace(options, init.signal ?? undefined);
    const { answer, error } = request;
    if (answer === undefined) {
      if (error?.code === "aborted") await stopHere(options, init.signal ?? undefined);
      throw failure(error);
    }
    await pace.until(answer.after);
    return answerOf(
      answer.status,
      answer.headers,
      played(request, answer, pace, options, init.signal ?? undefined),
    );
  };
}

function compare(
  { n, path, hash }: RecordedRequest,
  url: string,
  init: RequestInit,
  options: PlaybackOptions,
): void {
  const { pathname, search } = new URL(url);
  const body = init.body instanceof Uint8Array ? Buffer.from(init.body).toString("utf8") : "";
  const made = { path: `${pathname}${search}`, hash: hashOf(body) };
  // The playback has no host and no base path.
  if (made.hash !== hash || !path.endsWith(made.path))
    options.onDifference({ n, recorded: { path, hash }, made });
}

async function* played(
  { error }: RecordedRequest,
  { pieces }: NonNullable<RecordedRequest["answer"]>,
  pace: Pace,
  options: PlaybackOptions,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for (const { after, bytes } of pieces) {
    await pace.until(after);
    yield bytes;
  }
  if (error?.code === "aborted") await stopHere(options, signal);
  if (error !== undefined) throw failure(error);
}

/** Requests the recorded stop and waits until it has taken effect. */
async function stopHere(options: PlaybackOptions, signal: AbortSignal | undefined): Promise<void> {
  options.onStopped();
  if (signal === undefined || signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function failure(error: RecordedRequest["error"]): ThroughlineError {
  return codedError(asErrorCode(error?.code, "connection_lost"), error?.message ?? "the recording ends here");
}

class Pace {
  readonly #options: PlaybackOptions;
  readonly #signal: AbortSignal | undefined;
  readonly #started: number;

  constructor(options: PlaybackOptions, signal: AbortSignal | undefined) {
    this.#options = options;
    this.#signal = signal;
    this.#started = options.clock.monotonic();
  }

  async until(after: number): Promise<void> {
    if (this.#options.fast) return;
    const wait = after - (this.#options.clock.monotonic() - this.#started);
    if (wait > 0) await this.#options.clock.sleep(wait, this.#signal);
  }
}
