/** Where handles come from: an agent in this process, or a server. */

import type { SessionHandle } from "./session-handle.ts";

/** A session in a list. */
export interface SessionSummary {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
  /** The size of the log. */
  readonly bytes: number;
  readonly title?: string | undefined;
  /** The directory in which the session was started. */
  readonly cwd?: string | undefined;
  /** The session that called it, if it is a sub-agent's. */
  readonly subAgentOf?: string | undefined;
  /** Why the session cannot be read, if so. */
  readonly problem?: string | undefined;
}

/** Options of `open` on a handle. */
export interface OpenHandleOptions {
  /** Default: a new session. */
  readonly id?: string | undefined;
  /** Default: "write". */
  readonly mode?: "write" | "read" | undefined;
}

/** Opens and lists sessions, local or remote. */
export interface AgentHandle {
  /** Opens a session, or creates it. Starts no turn. */
  open(options?: OpenHandleOptions): Promise<SessionHandle>;
  /** Lists all sessions, newest first. */
  sessions(): AsyncIterable<SessionSummary>;
}
