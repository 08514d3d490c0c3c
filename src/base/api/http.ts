/**
 * The types used over HTTP in addition to those of the handle itself (docs/http-api.md). Server and client share them,
 * so neither can drift alone.
 */

import type { ContextUse, ResponseStatus, Usage } from "../events/index.ts";
import type { SessionSummary } from "./agent-handle.ts";
import type { ModelView } from "./session-handle.ts";
import type { TurnResult } from "./turn.ts";

/** Changes when an old client can no longer work with the server. */
export const HTTP_API_VERSION = 1;

export interface ServerInfo {
  readonly name: "throughline";
  readonly api: number;
  /** The model of a new session. */
  readonly model: string;
  /** Model names to offer. The server accepts any other name it understands. */
  readonly models: readonly string[];
  /** The directory in which new sessions work. */
  readonly cwd?: string | undefined;
}

/** The properties of a session; sent again whenever they change (`event: state`). */
export interface SessionState {
  readonly id: string;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  readonly usage: Usage;
  /** The cost of all requests so far. Absent if a price is not known. */
  readonly costUsd?: number | undefined;
  readonly model: ModelView;
  readonly context?: ContextUse | undefined;
  readonly interrupted: boolean;
  readonly access: "write" | "read";
  readonly writer: "live" | "none";
  /** The running turn, and how many wait after it. Only turns of this server count. */
  readonly turn?: string | undefined;
  readonly waiting: number;
  /** The seq of the last event of the log; -1 if there is none. */
  readonly lastSeq: number;
}

export interface SessionListing extends SessionSummary {
  readonly usage?: Usage | undefined;
  /** Absent if a price is not known. */
  readonly costUsd?: number | undefined;
  readonly turns?: number | undefined;
  /** `provider/model` of its last request. */
  readonly model?: string | undefined;
}

export interface TurnState {
  readonly turn: string;
  readonly state: "queued" | "running" | "done";
  /** The first event of the turn, once there is one. */
  readonly firstSeq?: number | undefined;
  /** Its last event, once it is done. */
  readonly lastSeq?: number | undefined;
  readonly result?: TurnResult | undefined;
}

/** One line of the list of requests. */
export interface RequestSummary {
  /** Counted from 1 over the whole log. */
  readonly request: number;
  /** The seq of the `response_start` event. */
  readonly seq: number;
  readonly turn?: string | undefined;
  readonly response: string;
  readonly step: number;
  readonly attempt: number;
  readonly model: string;
  readonly at: string;
  /** `open` while it is running. */
  readonly status: ResponseStatus | "open";
  readonly usage?: Usage | undefined;
  readonly durationMs?: number | undefined;
}

export interface HttpError {
  readonly error: { readonly code: string; readonly message: string };
}
