/** Where handles come from: an agent in this process, or a server. */

import type { SessionHandle } from "./session-handle.ts";

export interface SessionSummary {
  readonly id: string;
  readonly modifiedAt: number;
  readonly bytes: number;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  /** Why it cannot be read, if it cannot. */
  readonly problem?: string | undefined;
}

export interface OpenHandleOptions {
  /** Default: a new session. */
  readonly id?: string | undefined;
  readonly mode?: "write" | "read" | undefined;
}

export interface AgentHandle {
  open(options?: OpenHandleOptions): Promise<SessionHandle>;
  sessions(): AsyncIterable<SessionSummary>;
}
