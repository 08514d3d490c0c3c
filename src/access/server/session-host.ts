/** Hosts the sessions of a store: opens them on demand and releases them when they are not used. */

import type { SessionListing, SessionPage } from "../../base/api/index.ts";
import { codedError, codeOf, createIdSource, messageOf } from "../../base/support/index.ts";
import { costOfSummary } from "../../runtime/facts/index.ts";
import { countSessions, type ListOptions, SESSION_ID, type StoredSession } from "../../runtime/log/index.ts";
import { readFacts } from "../../runtime/session/index.ts";
import type { HostedParts } from "./hosted-parts.ts";
import { HostedSession } from "./hosted-session.ts";
import { publicMessage } from "./http-errors.ts";

const SWEEP_MS = 1000;
/** How often to look in the store for waiting turns that other processes left behind. */
const SCAN_MS = 10_000;
const LEAST_WAIT_MS = 1000;
const MOST_WAIT_MS = 60_000;
/** Reopening a session costs little; keeping one costs its whole log in memory. */
const FORGET_MS = 15_000;

export class SessionHost {
  readonly #options: Omit<HostedParts, "id">;
  readonly #hosted = new Map<string, HostedSession>();
  readonly #sweeper: NodeJS.Timeout;
  /** Sessions with waiting turns that no process runs: when to try again, and how many attempts failed. */
  readonly #owing = new Map<string, { readonly at: number; readonly tries: number }>();
  /** Lists whose turns are all in the log, such as after an interrupted turn. Nothing has to begin. */
  readonly #settled = new Map<string, string>();
  #lastScan = Number.NEGATIVE_INFINITY;
  #draining = false;
  #stopping = false;

  constructor(options: Omit<HostedParts, "id" | "owes" | "isDraining">) {
    this.#options = { ...options, owes: (id) => this.#owes(id), isDraining: () => this.#draining };
    const sweep = (): void => {
      this.#sweep().catch((error: unknown) => options.problem(messageOf(error)));
    };
    this.#sweeper = setInterval(sweep, SWEEP_MS);
    this.#sweeper.unref();
  }

  /** How many sessions have a turn that runs or waits here. */
  get busy(): number {
    return [...this.#hosted.values()].filter(({ turns }) => turns.busy).length;
  }

  /**
   * A session of a dead node, or one to which something was admitted: goes on with it, unless another node was faster.
   * Returns false for the session of a sub-agent, because the turn of its caller goes on with that.
   */
  async claim(id: string): Promise<boolean> {
    const { store, costOf } = this.#options;
    if ((await readFacts(store, id, costOf)).parent?.call !== undefined) return false;
    await (await this.get(id)).takeOver();
    return true;
  }

  /** Something was admitted to a session that this node holds. */
  async hear(id: string): Promise<void> {
    await this.#hosted.get(id)?.hear();
  }

  /** Begins turns that an earlier process, or another that has ended, promised but did not begin. */
  async recover(): Promise<void> {
    this.#lastScan = this.#options.clock.monotonic();
    if (this.#options.store.shared !== undefined) return this.#beginSome(); // the claimer finds the others
    for await (const id of this.#options.store.sessionsWithWaiting()) {
      const isBusy = this.#hosted.get(id)?.turns.busy === true;
      if (!isBusy && this.#settled.get(id) !== (await this.#listOf(id))) this.#owes(id);
    }
    await this.#beginSome();
  }

  /** Empty if it cannot be read: opening the session reports why. */
  async #listOf(id: string): Promise<string> {
    try {
      return (await this.#options.store.waiting(id).list()).map(({ turn }) => turn).join(" ");
    } catch {
      return "";
    }
  }

  #owes(id: string): void {
    if (!this.#owing.has(id)) this.#owing.set(id, { at: Number.NEGATIVE_INFINITY, tries: 0 });
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
      throw codedError("session_exists", `session "${id}" already exists`);
    return this.#host(id);
  }

  async discard(hosted: HostedSession): Promise<void> {
    await hosted.end("removed");
    this.#hosted.delete(hosted.id);
  }

  async remove(id: string): Promise<void> {
    const hosted = await this.get(id);
    const isBusy = await hosted.whereItRuns((session) => hosted.turns.busy || session.busy);
    if (isBusy) throw codedError("session_busy", `session "${id}" is in the middle of a turn. Stop it first`);
    const exists = await this.#options.store.exists(id);
    await this.discard(hosted);
    if (exists) await this.#options.store.remove(id);
  }

  /** Newest first, by the store's summaries. */
  async list(options: ListOptions): Promise<SessionPage> {
    const { store } = this.#options;
    if (options.search !== undefined) return this.#search(options);
    const sessions: SessionListing[] = [];
    for await (const stored of store.list(options)) sessions.push(this.#describe(stored));
    return { sessions, total: await countSessions(store) };
  }

  /** Looks at all sessions anyway, so the page and the number come from one look. */
  async #search({ behind, limit = Number.POSITIVE_INFINITY, ...options }: ListOptions): Promise<SessionPage> {
    const { store } = this.#options;
    const sessions: SessionListing[] = [];
    let total = 0;
    let isBehind = behind === undefined;
    for await (const stored of store.list(options)) {
      total += 1;
      if (isBehind && sessions.length < limit) sessions.push(this.#describe(stored));
      if (stored.id === behind?.id && stored.modifiedAt === behind.modifiedAt) isBehind = true;
    }
    if (isBehind) return { sessions, total };
    // The last session of the page before was written or removed since, so its place is found by the order.
    for await (const stored of store.list({ ...options, behind, limit }))
      sessions.push(this.#describe(stored));
    return { sessions, total };
  }

  /** Accepts no new turn, and resolves when those that run have ended or the time is over. */
  async drain(ms: number): Promise<void> {
    this.#draining = true;
    const over = new AbortController();
    const idle = [...this.#hosted.values()].map(({ turns }) => turns.idle());
    const late = this.#options.clock.sleep(ms, over.signal).catch(() => undefined);
    await Promise.race([Promise.all(idle), late]);
    over.abort(new Error("drained"));
  }

  /**
   * Ends all sessions. On a store that several machines share, running turns are left open for another node to go on
   * with; otherwise they are cancelled.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#sweeper);
    const turns = this.#options.store.shared === undefined ? "cancel" : "leave";
    await Promise.all([...this.#hosted.values()].map((hosted) => hosted.end("stopping", turns)));
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

  /** Turns that cannot begin now, because another process writes or the disk is full, are tried again later. */
  async #beginSome(): Promise<void> {
    const now = this.#options.clock.monotonic();
    for (const [id, { at, tries }] of this.#owing) {
      if (this.#stopping) return;
      if (at > now) continue;
      try {
        const list = await this.#listOf(id);
        const hosted = await this.get(id);
        await (this.#options.store.shared === undefined ? hosted.beginWaiting() : hosted.takeOver());
        this.#owing.delete(id);
        if (this.#options.store.shared === undefined) this.#settled.set(id, list);
      } catch (error) {
        const code = codeOf(error);
        const wait = isHeld(code) ? LEAST_WAIT_MS : Math.min(LEAST_WAIT_MS * 2 ** tries, MOST_WAIT_MS);
        this.#owing.set(id, { at: now + wait, tries: tries + 1 });
        if (code === "session_not_found") this.#owing.delete(id);
        if (isHeld(code) || tries > 0) continue; // reported once
        const next =
          code === "session_not_found" ? `. Remove ${id}.waiting if the turns are no longer needed` : "";
        this.#options.problem(
          `the waiting turns of session "${id}" cannot begin: ${messageOf(error)}${next}`,
        );
      }
    }
  }

  /** Allocates nothing for sessions that stay: thousands may be viewed while nothing happens. */
  async #sweep(): Promise<void> {
    if (this.#options.clock.monotonic() - this.#lastScan >= SCAN_MS) await this.recover();
    else if (this.#owing.size > 0) await this.#beginSome();
    for (const [id, hosted] of this.#hosted) {
      if (hosted.isForgettable(FORGET_MS)) {
        // Somebody may have asked for the session in between, and has another one by now.
        if ((await hosted.endIfForgettable(FORGET_MS)) && this.#hosted.get(id) === hosted)
          this.#hosted.delete(id);
      } else if (hosted.isIdleWriter) await hosted.release();
    }
  }

  #describe({ summary, problem, problemCode, ...stored }: StoredSession): SessionListing {
    const state = this.#hosted.get(stored.id)?.activity;
    if (problem !== undefined) return { ...stored, problem: publicMessage(problemCode, problem), state };
    if (summary === undefined) return { ...stored, state };
    const { usage, turnsEnded, title, cwd, model, subAgentOf } = summary;
    const costUsd = costOfSummary(summary, this.#options.costOf);
    return { ...stored, usage, costUsd, turns: turnsEnded, title, cwd, model, subAgentOf, state };
  }
}

/** Another process, or another agent of this one, writes the session. It will release it. */
function isHeld(code: string | undefined): boolean {
  return code === "session_locked" || code === "session_open_elsewhere";
}

function assertId(id: string): void {
  if (!SESSION_ID.test(id))
    throw codedError("session_id_invalid", "a session id must have 1 to 64 letters, digits, _ or -");
}
