/**
 * One session as the server hosts it. It is open for reading while clients only view it, and for writing from the first
 * request that writes until shortly after its last turn. So a terminal can take over the session when the page is idle,
 * and a session that a terminal writes is shown by following its file.
 */

import type { SessionListing } from "../../base/api/index.ts";
import { codedError, codeOf, messageOf, type ThroughlineError } from "../../base/support/index.ts";
import { SessionFacts } from "../../runtime/facts/index.ts";
import type { SharedStore, Waiting } from "../../runtime/log/index.ts";
import { readFacts, type Session } from "../../runtime/session/index.ts";
import { HostedInbox } from "./hosted-inbox.ts";
import type { Attached, HostedParts } from "./hosted-parts.ts";
import { HostedTurns } from "./hosted-turns.ts";
import { HostedState } from "./session-state.ts";
import { withdrawnTurn } from "./withdraw-turn.ts";

/** How long to wait before asking again for a session that another process writes. */
const LOCKED_MS = 100;

export class HostedSession {
  readonly #parts: HostedParts;
  readonly waiting: Waiting;
  readonly turns: HostedTurns;
  readonly state: HostedState;
  /** Undefined if no other machine shares the store. */
  readonly #inbox: HostedInbox | undefined;
  readonly #listeners = new Set<() => void>();
  #open: { readonly session: Session; readonly swap: AbortController } | undefined;
  /** A model chosen here. It becomes an event only with the next step, so it must survive closing the session. */
  #model: { readonly name: string; readonly after: number } | undefined;
  /** The session is being created; only then may it be missing in the store. */
  #isNew = false;
  /** Serializes opening and closing. */
  #turnstile: Promise<unknown> = Promise.resolve();
  #facts: SessionFacts;
  #uses = 0;
  #lastUse: number;
  /** Viewing a session does not keep other processes from writing it. */
  #lastWrite: number;
  #followers = 0;
  #gone: "removed" | "stopping" | undefined;

  constructor(parts: HostedParts) {
    this.#parts = parts;
    this.waiting = parts.store.waiting(parts.id);
    this.turns = new HostedTurns({
      waiting: this.waiting,
      changed: () => {
        this.#lastWrite = parts.clock.monotonic();
        this.#changed();
      },
      owes: () => parts.owes(parts.id),
      problem: parts.problem,
    });
    this.#facts = new SessionFacts(parts.costOf);
    const { shared } = parts.store;
    const factsOf = (session: Session): Promise<SessionFacts> => this.factsOf(session);
    const { turns, waiting } = this;
    this.state = new HostedState({
      ...parts,
      shared,
      turns,
      waiting,
      factsOf,
      withSession: (work) => this.withSession("read", work),
    });
    this.#inbox = shared && new HostedInbox({ ...parts, shared, turns, waiting, factsOf });
    this.#lastUse = parts.clock.monotonic();
    this.#lastWrite = this.#lastUse;
  }

  get id(): string {
    return this.#parts.id;
  }

  get gone(): boolean {
    return this.#gone !== undefined;
  }

  /** What lists show of it: whether a turn runs here, and whether it waits for a person's answer. */
  get activity(): SessionListing["state"] {
    const { session } = this.#open ?? {};
    if (session?.busy !== true) return undefined;
    return session.asks ? "asks" : "running";
  }

  /** Whether turns can run here. */
  get isWriter(): boolean {
    const { session } = this.#open ?? {};
    return session?.access === "write" && session.writer === "live";
  }

  /** True if the session has no followers, no running turn and no recent request. */
  isForgettable(afterMs: number): boolean {
    return (
      this.#uses === 0 &&
      this.#followers === 0 &&
      this.#model === undefined && // it would be lost
      !this.turns.busy &&
      this.#parts.clock.monotonic() - this.#lastUse >= afterMs
    );
  }

  /** Marks the session as used. */
  touch(): void {
    this.#lastUse = this.#parts.clock.monotonic();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Runs `work` with the session open in the required mode. The session stays open meanwhile. */
  async withSession<T>(
    mode: "read" | "write",
    work: (session: Session) => Promise<T> | T,
    { waitMs = 0 }: { readonly waitMs?: number } = {},
  ): Promise<T> {
    this.#uses += 1;
    try {
      return await work(await this.#ensureWithin(mode, waitMs));
    } catch (error) {
      throw this.#gone === "stopping" && codeOf(error) === "log_closed" ? this.#goneError() : error;
    } finally {
      this.#uses -= 1;
      this.touch();
      if (mode === "write") this.#lastWrite = this.#lastUse;
    }
  }

  /**
   * Runs `work` only if no other process writes the session: only that process can stop its turn or answer its
   * questions.
   */
  whereItRuns<T>(work: (session: Session) => Promise<T> | T): Promise<T> {
    return this.withSession("read", async (session) => {
      if (session.access === "read" && session.writer === "live")
        throw codedError(
          "session_locked",
          `session "${this.id}" is being written by another process. Use that process, or wait until it releases the session`,
        );
      return work(session);
    });
  }

  /** Called before a turn is accepted. */
  assertTakesTurns(): void {
    if (this.#parts.isDraining()) throw codedError("server_stopping", "the server is stopping");
    this.turns.assertRoom();
  }

  /** What the store offers if several machines share it. */
  get shared(): SharedStore | undefined {
    return this.#parts.store.shared;
  }

  /** Something was admitted to this session, which this node holds: begins the turns and carries out the commands. */
  async hear(): Promise<void> {
    await this.#exclusive(async () => {
      const { session } = this.#open ?? {};
      if (session !== undefined && this.isWriter) await this.#takeInbox(session);
    });
  }

  async chooseModel(name: string): Promise<void> {
    await this.withSession("write", async (session) => {
      await session.setModel(name);
      this.#model = { name, after: (await this.factsOf(session)).lastSeq };
    });
  }

  /** Creates a new session. Durable once it resolves. */
  async create(model: string | undefined): Promise<void> {
    this.#isNew = true;
    try {
      await this.withSession("write", async (session) => {
        if (model !== undefined) await session.setModel(model);
        await session.persist();
      });
    } finally {
      this.#isNew = false;
    }
  }

  /** The log only grows, so earlier events are not counted again. */
  async factsOf(session: Session): Promise<SessionFacts> {
    const facts = this.#facts;
    for await (const event of session.events({ after: facts.lastSeq })) facts.add([event]);
    return facts;
  }

  /** Returns the open session for a viewer. */
  async attach(): Promise<Attached> {
    await this.#ensure("read");
    const open = this.#open;
    if (open === undefined) return this.attach(); // released between the two lines
    return { session: open.session, swapped: open.swap.signal };
  }

  join(): () => void {
    this.#followers += 1;
    return () => {
      this.#followers -= 1;
      this.touch();
    };
  }

  /** Something was asked of the node that holds the session. */
  asked(): void {
    this.#changed();
  }

  /** Reports that turns are waiting that no process runs. */
  owes(): void {
    this.#parts.owes(this.id);
  }

  /**
   * Begins the waiting turns, and opens the session for writing only if there are any: turns the log already has may
   * stay in the list.
   */
  async beginWaiting(): Promise<void> {
    const waiting = await this.waiting.list();
    const facts = await this.withSession("read", (session) => this.factsOf(session));
    if (waiting.every(({ turn }) => facts.has(turn))) return;
    await this.withSession("write", (session) => this.#exclusive(() => this.#recover(session)));
    await this.#releaseIfDone();
  }

  /** Acquires the session, which lets it go on with what a dead node left: its turn, and what was asked of it. */
  async takeOver(): Promise<void> {
    if (this.#open?.session.access === "write") return this.hear();
    await this.withSession("write", () => undefined);
    await this.#releaseIfDone();
  }

  async #releaseIfDone(): Promise<void> {
    await this.#exclusive(async () => {
      if (this.#uses === 0 && !this.turns.busy && this.#open?.session.access === "write") await this.#close();
    });
  }

  /** Lets another process write, if nothing was requested meanwhile. */
  async release(): Promise<void> {
    await this.#exclusive(async () => {
      if (this.isIdleWriter) await this.#close();
    });
  }

  /** Closes it permanently, unless something was requested meanwhile. Returns whether it did. */
  endIfForgettable(afterMs: number): Promise<boolean> {
    return this.#exclusive(async () => {
      if (!this.isForgettable(afterMs)) return false;
      this.#gone = "stopping";
      await this.#close();
      return true;
    });
  }

  /** Closes it permanently and ends the viewers' streams. Cancels running turns, or leaves them to another node. */
  async end(why: "removed" | "stopping", turns: "cancel" | "leave" = "cancel"): Promise<void> {
    this.#gone = why;
    await this.#exclusive(() => this.#close(turns));
    this.#changed();
  }

  /** The session is open for writing, and nothing was requested for a while. */
  get isIdleWriter(): boolean {
    if (this.#open?.session.access !== "write" || this.#uses > 0 || this.turns.busy) return false;
    return this.#parts.clock.monotonic() - this.#lastWrite >= this.#parts.releaseMs;
  }

  /** Tries again while another process writes, without holding up readers meanwhile. */
  async #ensureWithin(mode: "read" | "write", waitMs: number): Promise<Session> {
    const { clock } = this.#parts;
    const until = clock.monotonic() + waitMs;
    for (;;) {
      try {
        return await this.#ensure(mode);
      } catch (error) {
        if (codeOf(error) !== "session_locked" || waitMs === 0) throw error;
        if (clock.monotonic() >= until)
          throw codedError(
            "session_busy",
            `session "${this.id}" is in the middle of a turn on another node`,
            error,
          );
        await clock.sleep(LOCKED_MS);
      }
    }
  }

  #ensure(mode: "read" | "write"): Promise<Session> {
    return this.#exclusive(async () => {
      if (this.gone) throw this.#goneError();
      const { session } = this.#open ?? {};
      if (session !== undefined && (await this.#isUsable(session, mode))) return session;
      if (session?.access === "write") await this.#close();
      const opened = await this.#openSession(mode);
      // The reader is closed only now: if the lock had been refused, viewers would continue to follow it.
      await this.#close();
      this.#open = { session: opened, swap: new AbortController() };
      opened.onChange(() => {
        this.#changed();
        if (opened.access === "write" && opened.writer === "none") void this.#leave(opened);
      });
      if (opened.access === "write") {
        try {
          await this.#recover(opened);
        } catch (error) {
          // The next writer begins the waiting turns first, and goes on with a turn that this one has just resumed.
          await this.#close(this.shared === undefined ? "cancel" : "leave");
          throw error;
        }
      }
      this.#changed();
      return opened;
    });
  }

  async #recover(session: Session): Promise<void> {
    if (this.#isNew) {
      // A list left next to a log that was removed by hand does not belong to the new session.
      for (const { turn } of await this.waiting.list()) await this.waiting.remove(turn);
    } else {
      await this.#inbox?.goOn(session);
      await this.#takeInbox(session);
    }
  }

  /** Begins the turns that wait, and carries out what other nodes asked for. */
  async #takeInbox(session: Session): Promise<void> {
    const commands = await this.#inbox?.commands();
    const withdrawn = (commands ?? []).flatMap((command) => withdrawnTurn(command) ?? []);
    await this.turns.recover(session, new Set(withdrawn));
    if (commands !== undefined) this.#inbox?.carryOut(session, commands);
  }

  /** Reads what another process has written since. A log that is missing or was replaced is reopened. */
  async #isUsable(session: Session, mode: "read" | "write"): Promise<boolean> {
    if (session.access === "write") {
      await this.shared?.confirmLease();
      // A session that can no longer write has lost its log; reopening it reports what is wrong.
      return session.writer === "live";
    }
    if (mode === "write") return false;
    try {
      await session.refresh();
      return true;
    } catch (error) {
      if (codeOf(error) !== "log_replaced") throw error;
      await this.#close();
      this.turns.forget("all");
      return false;
    }
  }

  async #openSession(mode: "read" | "write"): Promise<Session> {
    const { id, store, agentFor, costOf } = this.#parts;
    const exists = await store.exists(id);
    if (!exists && !this.#isNew) throw codedError("session_not_found", `there is no session "${id}"`);
    this.turns.forget("logged"); // the log says how they ended, unless a promoted database has lost it
    // Read each time: another process may have written since, with another model.
    this.#facts = exists ? await readFacts(store, id, costOf) : new SessionFacts(costOf);
    const { cwd, settings } = this.#facts;
    const agent = await agentFor({ id, cwd, settings });
    const session = await agent.open({ id, store, mode: exists ? mode : "write" });
    // A step has logged it since, and another choice may have followed elsewhere.
    const lastRequest = this.#facts.requests.at(-1)?.start.seq ?? -1;
    if (this.#model !== undefined && lastRequest > this.#model.after) this.#model = undefined;
    if (this.#model !== undefined) await session.setModel(this.#model.name);
    return session;
  }

  async #close(turns: "cancel" | "leave" = "cancel"): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    await open.session.close(() => this.turns.idle(), turns);
    open.swap.abort();
  }

  /** It lost its log to another writer; viewers continue with what that one writes. */
  async #leave(lost: Session): Promise<void> {
    try {
      await this.#exclusive(async () => {
        if (this.#open?.session === lost) await this.#close();
      });
    } catch (error) {
      this.#parts.problem(messageOf(error));
    }
  }

  #goneError(): ThroughlineError {
    return this.#gone === "stopping"
      ? codedError("server_stopping", "the server is stopping")
      : codedError("session_gone", `session "${this.id}" was removed`);
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turnstile.then(work, work);
    this.#turnstile = result.catch(() => undefined);
    return result;
  }

  #changed(): void {
    this.state.changed();
    for (const listener of this.#listeners) listener();
  }
}
