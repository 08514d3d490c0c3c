/** What a log in PostgreSQL is made of. */

import type { LoggedEvent } from "../../base/events/index.ts";
import type { Clock } from "../../base/support/index.ts";
import type { AppendDraft } from "../log/index.ts";
import type { Appender } from "./appender.ts";
import type { Connections } from "./connections.ts";
import type { LiveWriter } from "./live-writer.ts";
import type { StoreNode } from "./node.ts";
import type { Releases } from "./releases.ts";
import type { Statements } from "./statements.ts";
import type { Watcher } from "./watcher.ts";

/** What an acquisition gave this writer. */
export interface Hold {
  readonly holder: string;
  readonly fence: string;
  readonly incarnation: string;
  readonly asked: string;
  /** How many nodes in a row ended while they ran the open turn. */
  readonly takeovers: number;
  readonly restored: boolean;
}

export interface PostgresLogParts {
  readonly tenant: string;
  readonly id: string;
  readonly connections: Connections;
  readonly statements: Statements;
  readonly node: StoreNode;
  readonly appender: Appender;
  readonly live: LiveWriter;
  readonly watcher: Watcher;
  readonly clock: Clock;
  readonly storeClosing: AbortSignal;
  readonly releases: Releases;
  /** Tells the log that was opened from one that took its place: made again under the same id, or restored. */
  readonly born: string;
  readonly made: boolean;
  /** Undefined for a reader. */
  readonly hold: Hold | undefined;
  readonly largestLogBytes?: number | undefined;
  /** Called when the log is closed, whether or not it could be released. */
  readonly closed: () => Promise<void>;
}

/** An append that was called for and not yet sent. */
export interface Pending {
  readonly drafts: readonly AppendDraft[];
  readonly done: (events: readonly LoggedEvent[]) => void;
  readonly failed: (error: unknown) => void;
}

/** What is in the statement that was sent and not yet answered. */
export interface Flying {
  readonly own: readonly Pending[];
  /** The events of each of them. */
  readonly added: readonly (readonly LoggedEvent[])[];
  /** All of them, with those that the log adds itself. */
  readonly stamped: readonly LoggedEvent[];
  readonly bytes: number;
}
