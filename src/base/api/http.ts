/**
 * The types used over HTTP in addition to those of the handle itself (docs/http-api.md). Server and client share them,
 * so neither can drift alone.
 */

import type { ContextUse, ResponseStatus, Usage } from "../events/index.ts";
import type { SessionSummary } from "./agent-handle.ts";
import type { QueuedTurn } from "./queued-turn.ts";
import type { ModelView, RuleView } from "./session-handle.ts";
import type { TurnResult } from "./turn.ts";

/** The version of the HTTP API. It changes when older clients can no longer work with the server. */
export const HTTP_API_VERSION = 1;

/** What a server says about itself: `GET /api/server`. */
export interface ServerInfo {
  readonly name: "throughline";
  /** The server's `HTTP_API_VERSION`. */
  readonly api: number;
  /** The model of a new session. */
  readonly model: string;
  /** Model names to offer. The server accepts any other name that it understands. */
  readonly models: readonly string[];
  /** The directory in which new sessions work. */
  readonly cwd?: string | undefined;
}

/** A session's state apart from its events. The server sends it again whenever it changes (`event: state`). */
export interface SessionState {
  readonly id: string;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  readonly usage: Usage;
  /** The cost of all requests so far in USD. Absent if a price is not known. */
  readonly costUsd?: number | undefined;
  readonly model: ModelView;
  readonly context?: ContextUse | undefined;
  /** The rules in force. Absent on servers of earlier versions. */
  readonly rules?: readonly RuleView[] | undefined;
  readonly interrupted: boolean;
  readonly access: "write" | "read";
  readonly writer: "live" | "none";
  /** The running turn of this server. */
  readonly turn?: string | undefined;
  /** How many turns of this server wait behind it. */
  readonly waiting: number;
  /** The messages that wait for their turn, in the order in which they begin. Absent on servers of earlier versions. */
  readonly queued?: readonly QueuedTurn[] | undefined;
  /** The `seq` of the last event in the log, or -1 if there is none. */
  readonly lastSeq: number;
}

/** A session in the list of a server. */
export interface SessionListing extends SessionSummary {
  readonly usage?: Usage | undefined;
  /** In USD. Absent if a price is not known. */
  readonly costUsd?: number | undefined;
  /** How many turns have begun. */
  readonly turns?: number | undefined;
  /** `provider/model` of the last request. */
  readonly model?: string | undefined;
  /** `running`: this server runs a turn of it. `asks`: that turn waits for a person's answer. Absent otherwise. */
  readonly state?: "running" | "asks" | undefined;
}

/** One page of the list of a server: `GET /api/sessions`. */
export interface SessionPage {
  readonly sessions: readonly SessionListing[];
  /** How many sessions match, on all pages. */
  readonly total: number;
}

/** The state of a turn on a server. */
export interface TurnState {
  readonly turn: string;
  readonly state: "queued" | "running" | "done";
  /** Set if the message joined another turn: that turn's id. The fields below then describe that turn from the message on. */
  readonly joined?: string | undefined;
  /** The first event of the turn. Absent until the turn begins. */
  readonly firstSeq?: number | undefined;
  /** The last event of the turn. Absent until the turn is done. */
  readonly lastSeq?: number | undefined;
  /** Absent until the turn is done. */
  readonly result?: TurnResult | undefined;
}

/** A request in the list of requests of a session. */
export interface RequestSummary {
  /** Counted from 1 over the whole log. */
  readonly request: number;
  /** The `seq` of its `response_start` event. */
  readonly seq: number;
  readonly turn?: string | undefined;
  readonly response: string;
  readonly step: number;
  readonly attempt: number;
  readonly model: string;
  readonly at: string;
  /** `open` while the response is being received. */
  readonly status: ResponseStatus | "open";
  readonly usage?: Usage | undefined;
  readonly durationMs?: number | undefined;
}

/** The body of every error response of the HTTP API. */
export interface HttpError {
  readonly error: { readonly code: string; readonly message: string };
}
