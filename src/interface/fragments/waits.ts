/** The time that calls wait for a person to answer a question. It is not work, so timers and durations leave it out. */

import { isoMs } from "../../base/support/index.ts";
import type { ToolBlock, TurnEndBlock } from "./block.ts";

export interface Wait {
  readonly callId: string;
  readonly requestId: string;
  readonly askedAt: string;
  readonly from: number;
  /** Undefined while the question is open. */
  to: number | undefined;
}

/** The questions of the calls of one response. */
export class Waits {
  #all: Wait[] = [];

  get all(): readonly Wait[] {
    return this.#all;
  }

  ask(callId: string, requestId: string, askedAt: string): void {
    this.#all.push({ callId, requestId, askedAt, from: isoMs(askedAt), to: undefined });
  }

  /** Ends the waits of a call, or one of them. */
  end(callId: string, at: string, requestId?: string): void {
    for (const wait of this.#all) {
      if (wait.to !== undefined || wait.callId !== callId) continue;
      if (requestId === undefined || wait.requestId === requestId) wait.to = isoMs(at);
    }
  }

  endAll(at: string): void {
    for (const wait of this.#all) wait.to ??= isoMs(at);
  }

  /** The process that asked is gone, and nobody knows when it went. */
  drop(callId: string): void {
    this.#all = this.#all.filter((wait) => wait.callId !== callId || wait.to !== undefined);
  }

  of(callId: string | undefined): readonly Wait[] {
    return this.#all.filter((wait) => wait.callId === callId);
  }
}

/** Adds up waits that have ended, as far as they lie between two times. Waits that overlap count once. */
export function waitedBetween(waits: readonly Wait[], from: number, to: number): number {
  let total = 0;
  let counted = from;
  for (const wait of waits.toSorted((a, b) => a.from - b.from)) {
    const begin = Math.max(wait.from, counted);
    const end = Math.min(wait.to ?? Number.NaN, to);
    if (!(end > begin)) continue; // also if a time cannot be read
    total += end - begin;
    counted = end;
  }
  return total;
}

/**
 * Returns how long a call or a turn has worked, without the waits for a person: undefined for a call that has not started.
 * `now` is the wall time in milliseconds, for a call that is running.
 */
export function workedMs(block: TurnEndBlock): number;
export function workedMs(block: ToolBlock, now?: number): number | undefined;
export function workedMs(block: ToolBlock | TurnEndBlock, now?: number): number | undefined {
  if (block.kind === "turn_end") return Math.max(0, block.durationMs - block.waitedMs);
  const { result, startedAt, askedAt, pausedMs } = block;
  if (result !== undefined)
    return result.durationMs === undefined ? undefined : Math.max(0, result.durationMs - pausedMs);
  if (startedAt === undefined || now === undefined) return undefined;
  const until = askedAt === undefined ? now : isoMs(askedAt);
  return Math.max(0, until - isoMs(startedAt) - pausedMs);
}

/** Returns how long the open question of a call has waited. `now` is the wall time in milliseconds. */
export function openWaitMs({ askedAt }: ToolBlock, now: number): number | undefined {
  return askedAt === undefined ? undefined : Math.max(0, now - isoMs(askedAt));
}
