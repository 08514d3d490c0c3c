/** What all tenants of one store share in this process: connections, the node with its lease, appender and watcher. */

import type { Clock } from "../../base/support/index.ts";
import { Appender } from "./appender.ts";
import { Connections } from "./connections.ts";
import { Health } from "./health.ts";
import { Hints, NOTIFY } from "./hints.ts";
import { Identity } from "./identity.ts";
import { LiveWriter } from "./live-writer.ts";
import { type NodeOptions, StoreNode } from "./node.ts";
import { Releases } from "./releases.ts";
import { type Statements, statementsFor } from "./statements.ts";
import type { StoreAddress } from "./store-url.ts";
import { PostgresTokens } from "./tokens.ts";
import { Watcher } from "./watcher.ts";

export interface EngineOptions extends NodeOptions {
  readonly address: StoreAddress;
  /** For LISTEN, where `address` leads to a pooler in transaction mode. */
  readonly direct?: StoreAddress | undefined;
  readonly clock: Clock;
}

/** How long a statement may take before it is given up and repeated. */
const LEAST_ATTEMPT_MS = 250;
const MOST_ATTEMPT_MS = 10_000;
/** Reads of whole logs and large appends take longer, and nothing that must be quick waits for them. */
const LEAST_LONG_MS = 3000;
const MOST_LONG_MS = 30_000;

let serials = 0;

export class Engine {
  /** Tells the stores of this process apart. */
  readonly serial = (serials += 1);
  readonly clock: Clock;
  readonly schema: string;
  readonly connections: Connections;
  readonly statements: Statements;
  readonly identity: Identity;
  readonly node: StoreNode;
  readonly appender: Appender;
  readonly live: LiveWriter;
  readonly watcher: Watcher;
  readonly hints: Hints;
  readonly releases: Releases;
  readonly health: Health;
  readonly tokens: PostgresTokens;
  /** Open turns of dead nodes that this one took over. */
  takeovers = 0;
  readonly #closing = new AbortController();
  /** Logs that are open. Connections last as long as they do. */
  #logs = 0;
  readonly #opening = new Map<string, Promise<unknown>>();

  constructor(options: EngineOptions) {
    const { address, clock, leaseMs } = options;
    this.clock = clock;
    this.schema = address.schema;
    const attemptMs = Math.min(Math.max(leaseMs / 3, LEAST_ATTEMPT_MS), MOST_ATTEMPT_MS);
    const longMs = Math.min(Math.max(leaseMs * 2, LEAST_LONG_MS), MOST_LONG_MS);
    this.connections = new Connections(address, { attemptMs, longMs }, clock);
    this.statements = statementsFor(address.schema);
    const { connections, statements } = this;
    this.identity = new Identity(connections, statements);
    this.node = new StoreNode({ connections, statements, identity: this.identity, clock }, options);
    this.appender = new Appender(connections, statements, this.node, clock);
    this.live = new LiveWriter(connections, statements);
    this.watcher = new Watcher(connections, statements, this.node, () => this.hints);
    this.hints = new Hints({
      address: options.direct ?? address,
      attemptMs,
      clock,
      closing: connections.closed,
      notify: (channel, payload) => connections.ask({ text: NOTIFY }, [channel, payload]),
      heard: (sessions) => this.watcher.heard(sessions),
    });
    this.health = new Health(this);
    this.tokens = new PostgresTokens(connections, address.schema, clock);
    this.releases = new Releases(
      {
        connections,
        statements,
        node: this.node,
        clock,
        openingAlone: (key, work) => this.openingAlone(key, work),
        fenceOf: (tenant, session) => this.watcher.held(tenant, session)?.hold?.fence,
      },
      this.hint,
    );
    this.node.onRenewed = () => void this.releases.pay();
    this.appender.onWritten = (batches) => this.hint(batches.map(({ session }) => session));
    this.live.onFlushed = (sessions) => this.hint(sessions);
  }

  /** Aborted when the store is closed. Open logs stay open. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  readonly hint = (sessions: readonly string[]): void => this.hints.tell(sessions);

  /** Acquires a session once at a time, so that a lost answer to an acquisition can be told from another log's. */
  async openingAlone<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#opening.get(key);
    const result = (before ?? Promise.resolve()).then(work, work);
    this.#opening.set(key, result);
    try {
      return await result;
    } finally {
      if (this.#opening.get(key) === result) this.#opening.delete(key);
    }
  }

  opened(): void {
    this.#logs += 1;
  }

  async logClosed(): Promise<void> {
    this.#logs -= 1;
    await this.#endIfUnused();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.watcher.close();
    await this.#endIfUnused();
  }

  async #endIfUnused(): Promise<void> {
    if (!this.closing.aborted || this.#logs > 0) return;
    await this.live.flushed();
    await this.hints.flush();
    await this.node.leave();
    this.connections.close();
  }
}
