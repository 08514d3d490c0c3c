/** What the run counts and what it was promised: the truth that the logs are compared with at the end. */

import { appendFileSync } from "node:fs";
import { join } from "node:path";

export const FAULT_NAMES = [
  "stops",
  "kills",
  "backends",
  "cuts",
  "swallowed",
  "silences",
  "terms",
  "restarts",
  "promotions",
] as const;

/** What became of a request to cancel. */
export type CancelState = "none" | "sent" | "acknowledged";

export interface PromisedTurn {
  readonly session: string;
  readonly turn: string;
  readonly input: string;
  /** Sent to join the running turn. */
  readonly steers: boolean;
  /** When a 202 arrived. */
  acceptedAt: number | undefined;
  cancel: CancelState;
  /** When a cancel was acknowledged. */
  cancelledAt: number | undefined;
}

/** A decision about a call that was acknowledged (200). */
export interface PromisedDecision {
  readonly session: string;
  readonly response: string;
  readonly callId: string;
  readonly decision: "allow" | "deny";
  readonly at: number;
}

/** Longer than the longest stop of a node. */
const LATE_ANSWER_MS = 4000;

export class Ledger {
  readonly folder: string;
  readonly counts = new Map<string, number>();
  /** When each was acknowledged. */
  readonly sessions = new Map<string, number>();
  readonly turns = new Map<string, PromisedTurn>();
  readonly decisions: PromisedDecision[] = [];
  readonly violations: { readonly what: string; readonly afterMs: number }[] = [];
  readonly #started = performance.now();
  readonly #losses: { readonly from: number; readonly to: number }[] = [];
  readonly #violated = new AbortController();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Aborted by the first violation. */
  get violated(): AbortSignal {
    return this.#violated.signal;
  }

  get elapsedMs(): number {
    return performance.now() - this.#started;
  }

  add(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  count(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  /**
   * A promotion lost what was acknowledged since then. An answer that was on its way, or in a stopped node, still
   * arrives for a while.
   */
  lost(since: number): void {
    this.#losses.push({ from: since, to: Date.now() + LATE_ANSWER_MS });
  }

  /** Whether what was acknowledged at this time may be missing. */
  mayBeLost(at: number | undefined): boolean {
    return at !== undefined && this.#losses.some(({ from, to }) => from <= at && at <= to);
  }

  /** Told at once, with the time, and kept in a file. */
  violate(what: string, details?: unknown): void {
    const afterMs = Math.round(this.elapsedMs);
    this.violations.push({ what, afterMs });
    this.write(
      "violations.txt",
      `${afterMs} ms: ${what}${details === undefined ? "" : `\n${text(details)}`}`,
    );
    this.note(`violation: ${what}`);
    this.#violated.abort();
  }

  /** A line in the diary of the run. */
  note(line: string): void {
    this.write("diary.txt", `${(this.elapsedMs / 1000).toFixed(3)} ${line}`);
  }

  write(file: string, line: string): void {
    appendFileSync(join(this.folder, file), `${line}\n`);
  }
}

function text(details: unknown): string {
  return typeof details === "string" ? details : JSON.stringify(details, undefined, 2);
}
