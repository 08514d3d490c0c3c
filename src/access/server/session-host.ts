/** The sessions of a store as the server has them: opened when somebody asks, let go when nobody does. */

import type { SessionListing } from "../../base/api/index.ts";
import { codedError, codeOf, createIdSource, messageOf } from "../../base/support/index.ts";
import { costOfSummary } from "../../runtime/facts/index.ts";
import { type ListOptions, SESSION_ID, type StoredSession } from "../../runtime/log/index.ts";
import { type HostedParts, HostedSession } from "./hosted-session.ts";

const SWEEP_MS = 1000;
/** Opening one again costs little; keeping one costs its whole log. */
const FORGET_MS = 15_000;

export class SessionHost {
  readonly #options: Omit<HostedParts, "id">;
  readonly #hosted = new Map<string, HostedSession>();
  readonly #sweeper: NodeJS.Timeout;
  /** Sessions in which turns wait that an earlier process promised. */
  readonly #owing = new Set<string>();
  #stopping = false;

  constructor(options: Omit<HostedParts, "id">) {
    this.#options = options;
    const sweep = (): void => {
      this.#sweep().catch((error: unknown) => options.problem(messageOf(error)));
    };
    this.#sweeper = setInterval(sweep, SWEEP_MS);
    this.#sweeper.unref();
  }

  /** Begins what an earlier process promised and did not come to. */
  async recover(): Promise<void> {
    for await (const id of this.#options.store.sessionsWithWaiting()) this.#owing.add(id);
    await this.#recoverSome();
  }

  async get(id: string): Promise<HostedSession> {
    assertId(id);
    if (!this.#hosted.has(id) && !(await this.#options.store.exists(id)))
      throw codedError("session_not_found", `there is no session "${id}"`);
    return this.#host(id);
  }

  async create(id: string | undefined): Promise<HostedSession> {
    const { store, clock } = this.#options;
    if (id === undefined) return this.#host(createIdSource(() => clock.now()).next("s"));
    assertId(id);
    if (this.#hosted.has(id) || (await store.exists(id)))
      throw codedError("session_exists", `there is a session "${id}" already`);
    return this.#host(id);
  }

  async discard(hosted: HostedSession): Promise<void> {
    await hosted.end("removed");
    this.#hosted.delete(hosted.id);
  }

  async remove(id: string): Promise<void> {
    const hosted = await this.get(id);
    if (hosted.turns.busy)
      throw codedError("session_busy", `session "${id}" is in the middle of a turn: stop it first`);
    const exists = await this.#options.store.exists(id);
    await this.discard(hosted);
    if (exists) await this.#options.store.remove(id);
  }

  /** Newest first, by what the store keeps for lists. */
  async list(options: ListOptions): Promise<readonly SessionListing[]> {
    const found: SessionListing[] = [];
    for await (const stored of this.#options.store.list(options)) found.push(this.#describe(stored));
    return found;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#sweeper);
    await Promise.all([...this.#hosted.values()].map((hosted) => hosted.end("stopping")));
    this.#hosted.clear();
  }

  #host(id: string): HostedSession {
    if (this.#stopping) throw codedError("server_stopping", "the server is stopping");
    const known = this.#hosted.get(id);
    known?.touch();
    if (known !== undefined && !known.gone) return known;
    const hosted = new HostedSession({ id, ...this.#options });
    this.#hosted.set(id, hosted);
    return hosted;
  }

  /** Opening a session to write begins what waits in it. One that another process writes is tried again later. */
  async #recoverSome(): Promise<void> {
    for (const id of this.#owing) {
      if (this.#stopping) return;
      try {
        await (await this.get(id)).beginWaiting();
        this.#owing.delete(id);
      } catch (error) {
        if (codeOf(error) === "session_locked") continue;
        this.#owing.delete(id);
        const next =
          codeOf(error) === "session_not_found" ? `. Remove ${id}.waiting if nobody wants them` : "";
        this.#options.problem(`turns that wait in session "${id}" cannot begin: ${messageOf(error)}${next}`);
      }
    }
  }

  /** Thousands may be looked at while nothing happens: nothing is made for those that stay. */
  async #sweep(): Promise<void> {
    if (this.#owing.size > 0) await this.#recoverSome();
    for (const [id, hosted] of this.#hosted) {
      if (hosted.isForgettable(FORGET_MS)) {
        this.#hosted.delete(id);
        await hosted.end("stopping");
      } else if (hosted.isIdleWriter) await hosted.release();
    }
  }

  #describe({ summary, ...stored }: StoredSession): SessionListing {
    if (summary === undefined) return stored;
    const { usage, turnsEnded, title, cwd, model } = summary;
    const costUsd = costOfSummary(summary, this.#options.costOf);
    return { ...stored, usage, costUsd, turns: turnsEnded, title, cwd, model };
  }
}

function assertId(id: string): void {
  if (!SESSION_ID.test(id))
    throw codedError("session_id_invalid", "a session's id is 1 to 64 letters, digits, _ or -");
}
