/** What a server gives each session that it hosts. */

import type { Clock } from "../../base/support/index.ts";
import type { CostOf, SessionFacts } from "../../runtime/facts/index.ts";
import type { Store } from "../../runtime/log/index.ts";
import type { Agent, Session } from "../../runtime/session/index.ts";
import type { OnNodeLoss } from "./hosted-inbox.ts";

/** Facts about a session before it is opened: enough to choose its model and the folder of its tools. */
export interface StoredFacts extends Pick<SessionFacts, "cwd" | "settings"> {
  readonly id: string;
}

/** Chooses the agent for a session, for example by its folder. */
export type AgentFor = (facts: StoredFacts) => Agent | Promise<Agent>;

export interface HostedParts {
  readonly id: string;
  readonly store: Store;
  readonly agentFor: AgentFor;
  readonly clock: Clock;
  /** How long after its last use a session stays open for writing. */
  readonly releaseMs: number;
  readonly costOf: CostOf;
  /** Reports that the session has waiting turns that did not begin. The host then calls `beginWaiting`. */
  readonly owes: (id: string) => void;
  /** Reports a problem to the server's terminal. */
  readonly problem: (message: string) => void;
  /** What happens to the open turn of a node that is gone. Only on a store that several machines share. */
  readonly onNodeLoss: OnNodeLoss;
  /** Whether this process is about to end, so that no new turn may begin. */
  readonly isDraining: () => boolean;
}

export interface Attached {
  readonly session: Session;
  /** Aborted when the session was reopened in another mode. Follow it again then. */
  readonly swapped: AbortSignal;
}
