/**
 * A session's events as server-sent events. `id:` is the seq of a canonical event. Deltas between them have no id, so
 * `Last-Event-ID` always names an event that can be found again. A new client gets what it has missed, then the items
 * in progress, then live events.
 *
 * A client never holds anything up. History is sent as fast as the client reads it. Live events are written at once; a
 * client that lets more than `MAX_BACKLOG` of them pile up is dropped, and catches up from the log when it returns.
 */

import type { ServerResponse } from "node:http";

import { eventFrame } from "../../base/api/index.ts";
import type { SessionEvent } from "../../base/events/index.ts";
import { onAbort } from "../../base/support/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import { Backlog } from "./backlog.ts";
import { sharedFrames } from "./event-frames.ts";
import type { HostedSession } from "./hosted-session.ts";
import type { StateFrame } from "./session-state.ts";

/** How many bytes of live events may wait for one client. Anything it misses is in the log. */
const MAX_BACKLOG = 256 * 1024;
/** How many bytes of history may wait for the client at a time. */
const HISTORY_BACKLOG = 256 * 1024;
const KEEP_ALIVE_MS = 20_000;
const STUCK_MS = 30_000;
const RECONNECT_MS = 1000;
const STILL_HERE = Buffer.from(": still here\n\n");
/** The same as a complete chunk of HTTP/1.1. */
const STILL_HERE_CHUNK = Buffer.from(`${STILL_HERE.length.toString(16)}\r\n${STILL_HERE.toString()}\r\n`);

/** How many event streams are open, and how many were dropped because their client did not read. */
export interface StreamCounters {
  open: number;
  dropped: number;
}

/** Resolves when the client has left or was dropped, or the session was removed. */
export async function streamEvents(
  hosted: HostedSession,
  response: ServerResponse,
  after: number,
  counters: StreamCounters,
): Promise<void> {
  const client = await beginStream(hosted, response, after, counters);
  counters.open += 1;
  try {
    await client.run();
  } finally {
    counters.open -= 1;
    client.end();
  }
}

/** A function of its own: the first state would stay in memory with one that waits until the client leaves. */
async function beginStream(
  hosted: HostedSession,
  response: ServerResponse,
  after: number,
  counters: StreamCounters,
): Promise<EventClient> {
  // Before anything is written: a session that cannot be opened is an ordinary error, not a broken stream.
  const state = await hosted.state.frame();
  response.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no" });
  response.write(`retry: ${RECONNECT_MS}\n\n`);
  const client = new EventClient(hosted, response, after, counters);
  client.sendState(state);
  return client;
}

class EventClient {
  readonly #hosted: HostedSession;
  readonly #response: ServerResponse;
  readonly #counters: StreamCounters;
  readonly #leave: () => void;
  readonly #unlisten: () => void;
  readonly #pings: NodeJS.Timeout;
  readonly #backlog = new Backlog();
  /** Frames added in this round of the event loop. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** The socket accepts no more for now, so frames go to the backlog. */
  #full = false;
  #after: number;
  /** The largest batch sent. One larger than the limit does not mean that the client is slow. */
  #largest = 0;
  #gone = false;
  #sentState = "";
  #stateWanted = false;
  /** Stops following the session that is open now. */
  #stop: (() => void) | undefined;
  #resume: (() => void) | undefined;

  constructor(hosted: HostedSession, response: ServerResponse, after: number, counters: StreamCounters) {
    this.#hosted = hosted;
    this.#response = response;
    this.#after = after;
    this.#counters = counters;
    this.#leave = hosted.join();
    this.#unlisten = hosted.onChange(() => this.#wantState());
    this.#pings = setInterval(() => this.#ping(), KEEP_ALIVE_MS);
    this.#pings.unref();
    response.on("drain", () => this.#drained());
    response.on("error", () => undefined); // a client that left is not an error of ours
    response.on("close", () => this.#close());
  }

  async run(): Promise<void> {
    while (!this.#gone && !this.#hosted.gone) {
      const { session, swapped } = await this.#hosted.attach();
      await this.#resetIfAhead(session);
      for await (const event of session.events({ after: this.#after })) {
        if (!(await this.#hasRoom())) return;
        this.#after = event.seq;
        this.#send(Buffer.from(eventFrame(event)));
      }
      this.#write(Buffer.from(`event: live\ndata: {"seq":${this.#after}}\n\n`));
      await this.#follow(session, swapped);
    }
  }

  /**
   * A client that has seen more events than exist has seen another log. It gets a reset and this log from the start.
   */
  async #resetIfAhead(session: Session): Promise<void> {
    if (this.#after <= session.lastSeq) return;
    await session.refresh();
    if (this.#after <= session.lastSeq) return;
    this.#after = -1;
    this.#write(Buffer.from(`event: reset\ndata: {"seq":${session.lastSeq}}\n\n`));
  }

  /**
   * Follows until the session is reopened or the client leaves. The signal outlives many clients, so each must detach
   * from it.
   */
  async #follow(session: Session, swapped: AbortSignal): Promise<void> {
    const stopped = new AbortController();
    const stop = (): void => stopped.abort();
    this.#stop = stop;
    const forget = onAbort(swapped, stop);
    try {
      if (this.#gone || swapped.aborted) stop();
      for await (const batch of session.followBatches({ after: this.#after, signal: stopped.signal })) {
        this.#sendBatch(batch);
        if (this.#behind > MAX_BACKLOG + this.#largest) this.#drop();
        if (this.#gone) return;
      }
    } finally {
      forget();
    }
  }

  end(): void {
    clearInterval(this.#pings);
    this.#unlisten();
    this.#leave();
    if (this.#gone) return;
    this.#writePending();
    this.#flush();
    this.#response.end();
  }

  /** Nothing in it was sent before: `seq` separates history from later batches. */
  #sendBatch(batch: readonly SessionEvent[]): void {
    for (const event of batch) if ("seq" in event) this.#after = event.seq;
    this.#send(sharedFrames(batch));
  }

  #send(frames: Buffer): void {
    this.#largest = Math.max(this.#largest, frames.length);
    this.#write(frames);
  }

  /**
   * Bypasses the response's own bookkeeping when nothing is pending: that was most of the cost of thousands of idle
   * streams.
   */
  #ping(): void {
    const { socket, chunkedEncoding, writableCorked } = this.#response;
    const isIdle = !this.#gone && !this.#full && this.#behind === 0 && writableCorked === 0;
    if (isIdle && chunkedEncoding && socket !== null) socket.write(STILL_HERE_CHUNK);
    else this.#write(STILL_HERE);
  }

  /** Several changes at once are reported once, after the work that caused them. */
  #wantState(): void {
    if (this.#stateWanted || this.#gone) return;
    this.#stateWanted = true;
    setImmediate(() => {
      this.#stateWanted = false;
      if (this.#gone || this.#hosted.gone) return;
      this.#hosted.state.frame().then(
        (state) => this.sendState(state),
        () => undefined, // it can no longer be opened; the stream itself reports that
      );
    });
  }

  sendState({ key, text }: StateFrame): void {
    const isNew = key !== this.#sentState;
    this.#sentState = key; // an equal key too: then only one copy of it stays in memory
    if (isNew) this.#write(Buffer.from(text));
  }

  /** Bytes that this client has not read yet. */
  get #behind(): number {
    return this.#response.writableLength + this.#backlog.length + this.#pendingBytes;
  }

  /** Frames of one round of the event loop are written together: a write costs more than an event. */
  #write(frames: Buffer): void {
    if (this.#gone) return;
    if (this.#pending.length === 0) setImmediate(() => this.#writePending());
    this.#pending.push(frames);
    this.#pendingBytes += frames.length;
  }

  #writePending(): void {
    const pending = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    const [first] = pending;
    if (this.#gone || first === undefined) return;
    if (this.#full) for (const frames of pending) this.#backlog.add(frames);
    else this.#full = !this.#response.write(pending.length === 1 ? first : Buffer.concat(pending));
  }

  #flush(): void {
    for (const piece of this.#backlog.take()) if (!this.#response.write(piece)) this.#full = true;
  }

  #drained(): void {
    this.#full = false;
    this.#flush();
    this.#resume?.();
  }

  /** Returns false if the client has left, or has read nothing for so long that it counts as gone. */
  async #hasRoom(): Promise<boolean> {
    while (!this.#gone && this.#behind > HISTORY_BACKLOG) {
      const stuck = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), STUCK_MS);
        this.#resume = () => {
          clearTimeout(timer);
          resolve(false);
        };
      });
      if (stuck) this.#drop();
    }
    return !this.#gone;
  }

  #drop(): void {
    this.#counters.dropped += 1;
    this.#close();
    this.#response.destroy();
  }

  #close(): void {
    this.#gone = true;
    this.#stop?.();
    this.#resume?.();
  }
}
