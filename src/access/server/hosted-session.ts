/**
 * One session as the server has it. It is opened to read while people only look, and to write from the first request
 * that writes until shortly after its last turn: so a terminal can take the session over when the page is idle, and a
 * session that a terminal is writing is shown by following its file.
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

/** What is known of a session before it is opened: enough to choose its model and the folder of its tools. */
export interface StoredFacts extends Pick<SessionFacts, "cwd" | "settings"> {
  readonly id: string;
}

export type AgentFor = (facts: StoredFacts) => Agent | Promise<Agent>;

export interface HostedParts {
  readonly id: string;
  readonly store: Store;
  readonly agentFor: AgentFor;
  readonly clock: Clock;
  /** So long after its last use a session is no longer held for writing. */
  readonly releaseMs: number;
  readonly costOf: CostOf;
  /** Turns wait in the session that did not begin: somebody is to call `beginWaiting`. */
  readonly owes: (id: string) => void;
  /** Tells the server's terminal. */
  readonly problem: (message: string) => void;
}

export interface Attached {
  readonly session: Session;
  /** Aborted when the session was opened anew, in another mode: follow again. */
  readonly swapped: AbortSignal;
}

/** The state as it stands in a stream. */
export interface StateFrame {
  /** Equal when there is nothing to tell: the number of the last event changes with every event, which tells it itself. */
  readonly key: string;
  readonly bytes: Buffer;
}

export class HostedSession {
  readonly #parts: HostedParts;
  readonly waiting: Waiting;
  readonly turns: HostedTurns;
  readonly #listeners = new Set<() => void>();
  #open: { readonly session: Session; readonly swap: AbortController } | undefined;
  /** Chosen here; it becomes an event with the next step only, so it must survive that the session is let go. */
  #model: { readonly name: string; readonly after: number } | undefined;
  /** It is being made: only then may it be missing in the store. */
  #isNew = false;
  /** Opening and closing, one after the other. */
  #turnstile: Promise<unknown> = Promise.resolve();
  #facts: SessionFacts;
  #stateFrame: Promise<StateFrame> | undefined;
  #uses = 0;
  #lastUse: number;
  /** Whoever only looks does not keep others from writing. */
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

  /** Nobody looks, nothing runs, and nobody has asked for a while. */
  isForgettable(afterMs: number): boolean {
    return (
      this.#uses === 0 &&
      this.#followers === 0 &&
      this.#model === undefined && // it would be lost
      !this.turns.busy &&
      this.#parts.clock.monotonic() - this.#lastUse >= afterMs
    );
  }

  /** Somebody is about to use it. */
  touch(): void {
    this.#lastUse = this.#parts.clock.monotonic();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Works with the session in the mode that is needed; it is not let go meanwhile. */
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

  /** Works with the session where it is written: what runs in another process only that one can stop or answer. */
  whereItRuns<T>(work: (session: Session) => Promise<T> | T): Promise<T> {
    return this.withSession("read", async (session) => {
      if (session.access === "read" && session.writer === "live")
        throw codedError(
          "session_locked",
          `session "${this.id}" is being written by another process: ask that one, or wait until it lets go`,
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

  /** For a new session: durable when it has resolved. */
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
      const { id, title, usage, model, context, interrupted, writer } = session;
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
        interrupted,
        // Open to read with no writer about: the server would take the lock when asked to write.
        access: session.access === "read" && writer === "live" ? "read" : "write",
        writer,
        turn: running,
        waiting,
        lastSeq: session.lastSeq,
      };
    });
  }

  /** For all who follow: worked out and written out once for each change, however many they are. */
  stateFrame(): Promise<StateFrame> {
    if (this.#stateFrame !== undefined) return this.#stateFrame;
    const made = this.state().then(stateFrameOf);
    this.#stateFrame = made;
    made.catch(() => {
      if (this.#stateFrame === made) this.#stateFrame = undefined; // the next who asks tries again
    });
    return made;
  }

  /** The log only grows: what was counted is not counted again. */
  async factsOf(session: Session): Promise<SessionFacts> {
    const facts = this.#facts;
    for await (const event of session.events({ after: facts.lastSeq })) facts.add([event]);
    return facts;
  }

  /** For a viewer; `detach` when it has gone. */
  async attach(): Promise<Attached> {
    await this.#ensure("read");
    const open = this.#open;
    if (open === undefined) return this.attach(); // let go between the two lines
    return { session: open.session, swapped: open.swap.signal };
  }

  join(): () => void {
    this.#followers += 1;
    return () => {
      this.#followers -= 1;
      this.touch();
    };
  }

  /** Turns wait that nobody runs. */
  owes(): void {
    this.#parts.owes(this.id);
  }

  /** Begins what waits. The session is held only for that: what the log has already can stay in the list until then. */
  async beginWaiting(): Promise<void> {
    const waiting = await this.waiting.list();
    const { turns } = await this.withSession("read", (session) => this.factsOf(session));
    if (waiting.every(({ turn }) => turns.has(turn))) return;
    await this.withSession("write", (session) => this.#exclusive(() => this.#recover(session)));
    await this.#exclusive(async () => {
      if (this.#uses === 0 && !this.turns.busy && this.#open?.session.access === "write") await this.#close();
    });
  }

  /** Lets another process write, if nothing was asked meanwhile. */
  async release(): Promise<void> {
    await this.#exclusive(async () => {
      if (this.isIdleWriter) await this.#close();
    });
  }

  /** For good: cancels what runs and ends the viewers' streams. */
  async end(why: "removed" | "stopping"): Promise<void> {
    this.#gone = why;
    await this.#exclusive(() => this.#close());
    this.#changed();
  }

  /** It holds the session, and nothing has been asked for a while. */
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
      // The reader is closed only now: had the lock been refused, everybody would go on looking.
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
          await this.#close(); // whoever writes next begins what waits first
          throw error;
        }
      }
      this.#changed();
      return opened;
    });
  }

  async #recover(session: Session): Promise<void> {
    if (this.#isNew) {
      // A list beside a log that somebody removed by hand is not the new session's.
      for (const { turn } of await this.waiting.list()) await this.waiting.remove(turn);
    } else await this.turns.recover(session, await this.factsOf(session));
  }

  /** What another process has done since is read. A log that is gone, or another one, is opened anew. */
  async #isUsable(session: Session, mode: "read" | "write"): Promise<boolean> {
    // One that can no longer write has lost its log: opening it says then what is wrong.
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
    // Read anew each time: another process may have written since, with another model.
    this.#facts = exists ? await readFacts(store, id, costOf) : new SessionFacts(costOf);
    const { cwd, settings } = this.#facts;
    const agent = await agentFor({ id, cwd, settings });
    const session = await agent.open({ id, store, mode: exists ? mode : "write" });
    // A step has written it down since, and another choice may have followed elsewhere.
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

  /** It lost its log to another writer: whoever looks goes on with what that one writes. */
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
