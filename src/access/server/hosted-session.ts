/**
 * One session as the server hosts it. It is open for reading while clients only view it, and for writing from the first
 * request that writes until shortly after its last turn. So a terminal can take over the session when the page is idle,
 * and a session that a terminal writes is shown by following its file.
 */

import type { SessionState } from "../../base/api/index.ts";
import {
  type Clock,
  codedError,
  codeOf,
  messageOf,
  type ThroughlineError,
} from "../../base/support/index.ts";
import { type CostOf, SessionFacts } from "../../runtime/facts/index.ts";
import type { Store, Waiting } from "../../runtime/log/index.ts";
import { type Agent, readFacts, type Session } from "../../runtime/session/index.ts";
import { HostedTurns } from "./hosted-turns.ts";

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
}

export interface Attached {
  readonly session: Session;
  /** Aborted when the session was reopened in another mode. Follow it again then. */
  readonly swapped: AbortSignal;
}

/** The state as a frame of a stream. */
export interface StateFrame {
  /** Equal keys mean nothing new to send. `lastSeq` is excluded: every event carries it. */
  readonly key: string;
  readonly bytes: Buffer;
}

export class HostedSession {
  readonly #parts: HostedParts;
  readonly waiting: Waiting;
  readonly turns: HostedTurns;
  readonly #listeners = new Set<() => void>();
  #open: { readonly session: Session; readonly swap: AbortController } | undefined;
  /** A model chosen here. It becomes an event only with the next step, so it must survive closing the session. */
  #model: { readonly name: string; readonly after: number } | undefined;
  /** The session is being created; only then may it be missing in the store. */
  #isNew = false;
  /** Serializes opening and closing. */
  #turnstile: Promise<unknown> = Promise.resolve();
  #facts: SessionFacts;
  #stateFrame: Promise<StateFrame> | undefined;
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
    this.#lastUse = parts.clock.monotonic();
    this.#lastWrite = this.#lastUse;
  }

  get id(): string {
    return this.#parts.id;
  }

  get gone(): boolean {
    return this.#gone !== undefined;
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
  async withSession<T>(mode: "read" | "write", work: (session: Session) => Promise<T> | T): Promise<T> {
    this.#uses += 1;
    try {
      return await work(await this.#ensure(mode));
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

  state(): Promise<SessionState> {
    return this.withSession("read", async (session) => {
      const { id, title, usage, model, context, rules, interrupted, writer } = session;
      const { running, waiting } = this.turns;
      const { target, capabilities, effort } = model.settings;
      const { cwd, costUsd } = await this.factsOf(session);
      return {
        id,
        title,
        cwd,
        usage,
        costUsd,
        model: { label: model.label, settings: { target, capabilities, effort } },
        context,
        rules,
        interrupted,
        // Open for reading with no writer: the server would take the lock for a request that writes.
        access: session.access === "read" && writer === "live" ? "read" : "write",
        writer,
        turn: running,
        waiting,
        lastSeq: session.lastSeq,
      };
    });
  }

  /** For all followers: computed and serialized once per change, however many there are. */
  stateFrame(): Promise<StateFrame> {
    if (this.#stateFrame !== undefined) return this.#stateFrame;
    const made = this.state().then(stateFrameOf);
    this.#stateFrame = made;
    made.catch(() => {
      if (this.#stateFrame === made) this.#stateFrame = undefined; // the next caller tries again
    });
    return made;
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

  /** Closes it permanently: cancels running turns and ends the viewers' streams. */
  async end(why: "removed" | "stopping"): Promise<void> {
    this.#gone = why;
    await this.#exclusive(() => this.#close());
    this.#changed();
  }

  /** The session is open for writing, and nothing was requested for a while. */
  get isIdleWriter(): boolean {
    if (this.#open?.session.access !== "write" || this.#uses > 0 || this.turns.busy) return false;
    return this.#parts.clock.monotonic() - this.#lastWrite >= this.#parts.releaseMs;
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
          await this.#close(); // the next writer begins the waiting turns first
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
    } else await this.turns.recover(session, await this.factsOf(session));
  }

  /** Reads what another process has written since. A log that is missing or was replaced is reopened. */
  async #isUsable(session: Session, mode: "read" | "write"): Promise<boolean> {
    // A session that can no longer write has lost its log; reopening it reports what is wrong.
    if (session.access === "write") return session.writer === "live";
    if (mode === "write") return false;
    try {
      await session.refresh();
      return true;
    } catch (error) {
      if (codeOf(error) !== "log_replaced") throw error;
      await this.#close();
      this.turns.forget();
      return false;
    }
  }

  async #openSession(mode: "read" | "write"): Promise<Session> {
    const { id, store, agentFor, costOf } = this.#parts;
    const exists = await store.exists(id);
    if (!exists && !this.#isNew) throw codedError("session_not_found", `there is no session "${id}"`);
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

  async #close(): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    await open.session.close(() => this.turns.idle());
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
    this.#stateFrame = undefined;
    for (const listener of this.#listeners) listener();
  }
}

function stateFrameOf(state: SessionState): StateFrame {
  const { lastSeq: _lastSeq, ...rest } = state;
  return {
    key: JSON.stringify(rest),
    bytes: Buffer.from(`event: state\ndata: ${JSON.stringify(state)}\n\n`),
  };
}
