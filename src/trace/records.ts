/**
 * What stands in a trace or a recording: one record a line. The first says what the file is; the rest are the log's own
 * events and the exchanges with a provider, in the order in which they happened. A trace also has the bodies.
 *
 * @module
 */

import type { LoggedEvent } from "../events/index.ts";

export const FORMAT = 1;

/** What a run was told that is not in its log, and that its playback must know. */
export interface RunFacts {
  readonly session: string;
  readonly permissions: string;
  readonly canAsk: boolean;
  readonly maxSteps?: number;
  readonly maxCostUsd?: number;
  /** What each tool may do: the permission policy looks at it. */
  readonly access: Readonly<Record<string, string>>;
}

export interface HeaderRecord {
  readonly v: typeof FORMAT;
  readonly type: "trace" | "recording";
  readonly program: string;
  readonly at: string;
  readonly run: RunFacts;
}

interface Timed {
  /** Milliseconds since the file was begun. */
  readonly t: number;
}

export interface EventRecord extends Timed {
  readonly type: "event";
  /** Was in the log before the run began. */
  readonly earlier?: true;
  readonly event: LoggedEvent;
}

export interface BlobRecord extends Timed {
  readonly type: "blob";
  readonly name: string;
  readonly base64: string;
}

export interface RequestRecord extends Timed {
  readonly type: "request";
  /** Counts requests of the run, from 1. */
  readonly n: number;
  readonly method: string;
  readonly path: string;
  /** SHA-256 of the body, after redaction. */
  readonly hash: string;
  readonly bytes: number;
}

export interface ResponseRecord extends Timed {
  readonly type: "response";
  readonly n: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface DataRecord extends Timed {
  readonly type: "data";
  readonly n: number;
  readonly bytes: Uint8Array;
}

export interface EndRecord extends Timed {
  readonly type: "end";
  readonly n: number;
  /** `aborted`: the reader stopped it. */
  readonly error?: { readonly code: string; readonly message: string };
}

export type TraceRecord = EventRecord | BlobRecord | RequestRecord | ResponseRecord | DataRecord | EndRecord;
