/**
 * Plays a script into an HTTP response: one write per event, deltas at a pace, and the ending the fault requires.
 * Reports how it ended; never throws and never waits for a client that has left.
 */

import type { ServerResponse } from "node:http";

import type { Clock } from "../base/support/index.ts";
import type { Script } from "./faults/apply.ts";
import type { Outcome } from "./report.ts";

/** The number of events sent before other streams get a turn. */
const burst = 64;

export async function playScript(
  response: ServerResponse,
  script: Script,
  options: {
    readonly paceMs: number;
    readonly clock: Clock;
    readonly closing: AbortSignal;
    /** Called before the connection ends: a client that has read the end may send its next request immediately. */
    readonly settled: (outcome: Outcome) => void;
  },
): Promise<void> {
  const pace = script.delayMs ?? options.paceMs;
  const left = new AbortController();
  const leave = (): void => left.abort();
  let told = false;
  const settle = (outcome: Outcome): void => {
    if (!told) options.settled(outcome);
    told = true;
  };
  const due = paceFrom(options.clock.monotonic(), pace, options.clock);
  response.once("close", leave);
  options.closing.addEventListener("abort", leave, { once: true });
  try {
    response.flushHeaders();
    for (const [index, frame] of script.frames.entries()) {
      if (frame.delta && pace > 0) await waitFor(due(), options.clock, left.signal);
      else if (index % burst === burst - 1) await new Promise((resolve) => setImmediate(resolve));
      if (left.signal.aborted) break;
      const ready = write(response, frame.partial ?? frame.text, script.splitBytes);
      // Before any waiting: a client that has read the terminal event may send its next request immediately.
      if (index === script.terminalAt) settle(outcomeOf(script));
      if (!ready && !(await drained(response, left.signal))) break;
    }
    settle(left.signal.aborted ? "client_left" : outcomeOf(script));
    if (!left.signal.aborted) await finish(response, script.ending, left.signal);
  } catch {
    settle("client_left"); // only an aborted sleep gets here
  } finally {
    response.off("close", leave);
    options.closing.removeEventListener("abort", leave);
  }
}

/**
 * Returns when each delta is due. Uses the clock instead of adding up sleeps, which are always a little late, so a
 * stream keeps its pace over minutes. After a long pause (a client that does not read) it continues from now instead of
 * catching up.
 */
function paceFrom(start: number, paceMs: number, clock: Clock): () => number {
  let next = start;
  return () => {
    const now = clock.monotonic();
    next = next + paceMs < now - 5000 ? now : next + paceMs;
    return next;
  };
}

async function waitFor(due: number, clock: Clock, left: AbortSignal): Promise<void> {
  const wait = due - clock.monotonic();
  if (wait > 0) await clock.sleep(wait, left);
}

function outcomeOf(script: Script): Outcome {
  if (script.terminal !== undefined) return script.terminal;
  if (script.ending === "end") return "no_terminal";
  return script.ending === "stall" ? "stalled" : "cut";
}

async function finish(response: ServerResponse, ending: Script["ending"], left: AbortSignal): Promise<void> {
  if (ending === "end") {
    response.end();
  } else if (ending === "stall") {
    if (left.aborted) return;
    await new Promise<void>((resolve) => {
      left.addEventListener("abort", () => resolve(), { once: true });
    });
  } else {
    await flushed(response);
    if (ending === "cut") response.socket?.end(); // FIN without the last chunk: the body ends early
    else response.socket?.resetAndDestroy();
  }
}

/** Written bytes must reach the client before the connection ends, so that the cut is where the fault says. */
function flushed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed || response.socket === null) resolve();
    else response.write("", () => setImmediate(resolve));
  });
}

function drained(response: ServerResponse, left: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (ready: boolean): void => {
      response.off("drain", onDrain);
      left.removeEventListener("abort", onLeave);
      resolve(ready);
    };
    const onDrain = (): void => settle(true);
    const onLeave = (): void => settle(false);
    response.once("drain", onDrain);
    left.addEventListener("abort", onLeave, { once: true });
    if (left.aborted) settle(false);
  });
}

function write(response: ServerResponse, bytes: string | Buffer, size: number | undefined): boolean {
  if (size === undefined) return response.write(bytes);
  const all = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  let ready = true;
  for (let at = 0; at < all.length; at += size) ready = response.write(all.subarray(at, at + size));
  return ready;
}
