/**
 * The turns this server runs, by id. The log is the truth; this holds only what the log cannot say: waiting turns, and
 * results that never became an event.
 *
 * A promised turn (202) stays in the store's list of waiting turns until the log has its end. Whatever happens to this
 * process, the next one begins it or finds it in the log.
 */

import type { Input, Turn, TurnResult, TurnState } from "../../base/api/index.ts";
import { errorInfoOf, NO_USAGE } from "../../base/events/index.ts";
import { codedError, codeOf, messageOf } from "../../base/support/index.ts";
import type { Waiting } from "../../runtime/log/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import { publicResult } from "./http-errors.ts";
import { beginTurn, type BeginOptions, type TurnRequest } from "./turn-request.ts";

interface Entry {
  readonly done: Promise<void>;
  /** Absent for a turn that continues one in the log, and when the turn is done. */
  request: TurnRequest | undefined;
  /** Released when the turn is done: it holds everything it ran with, and its result has all that is still needed. */
  turn: Turn | undefined;
  firstSeq?: number;
  lastSeq?: number;
  /** The turn that its message joined. */
  joined?: string | undefined;
  /** Whether the log has an event of it, and its end. */
  begun: boolean;
  ended: boolean;
  /** It is waiting and must not begin; only its end still has to be logged. */
  cancelled: boolean;
  /** The message that was withdrawn, so that the same request sent again gets it too. */
  withdrawn?: Input;
  result?: TurnResult;
}

export interface HostedTurnsParts {
  readonly waiting: Waiting;
  readonly changed: () => void;
  /** Reports that a promised turn did not begin and has to be tried again. */
  readonly owes: () => void;
  /** Reports a problem to the server's terminal. */
  readonly problem: (message: string) => void;
}

const MAX_FINISHED = 64;
const MAX_WAITING = 100;

export class HostedTurns {
  readonly #parts: HostedTurnsParts;
  readonly #entries = new Map<string, Entry>();
  /** Writes in progress. The session is not released before they end. */
  readonly #writing = new Set<Promise<unknown>>();
  /** Requests being answered, by the id of their turn. */
  readonly #accepting = new Map<string, Promise<unknown>>();
  /** Turns that are being withdrawn. They must not begin. */
  readonly #withdrawing = new Set<string>();
  #unfinished = 0;

  constructor(parts: HostedTurnsParts) {
    this.#parts = parts;
  }

  get busy(): boolean {
    return this.#unfinished > 0;
  }

  get running(): string | undefined {
    for (const [id, entry] of this.#entries)
      if (stateOf(entry) === "running" && entry.joined === undefined) return id;
    return undefined;
  }

  get waiting(): number {
    return [...this.#entries.values()].filter((entry) => stateOf(entry) === "queued").length;
  }

  /** Called before a turn begins: a session can have only so many waiting turns. */
  assertRoom(): void {
    const cancelled = [...this.#entries.values()].filter(
      (entry) => entry.cancelled && entry.turn !== undefined,
    );
    if (this.#unfinished - cancelled.length >= MAX_WAITING)
      throw codedError(
        "too_many_turns",
        `${MAX_WAITING} turns are already waiting in this session. Wait until some of them have ended`,
      );
  }

  add(turn: Turn, request?: TurnRequest): TurnState {
    this.#unfinished += 1;
    const state = { begun: false, ended: false, cancelled: false };
    const entry: Entry = { turn, request, ...state, done: this.#watch(turn) };
    this.#entries.set(turn.id, entry);
    return viewOf(turn.id, entry);
  }

  /** Durable once it resolves. The turn is validated first, then written down, and begins after that. */
  async promise(session: Session, request: TurnRequest, options: BeginOptions): Promise<TurnState> {
    let written: Promise<void> | undefined;
    const ready = (): Promise<void> => {
      written = this.#written(this.#parts.waiting.add(options.turn, { ...request }));
      return written;
    };
    const turn = beginTurn(session, request, { ...options, ready });
    this.add(turn, request);
    try {
      await written;
    } catch (error) {
      this.#entries.delete(turn.id); // the caller learns that the turn will not run
      throw error;
    }
    return this.view(turn.id) ?? { turn: turn.id, state: "queued" };
  }

  /** The same request sent twice at once starts one turn: the second waits for the outcome of the first. */
  async oneAtATime<T>(id: string, work: () => Promise<T>): Promise<T> {
    for (let before = this.#accepting.get(id); before !== undefined; before = this.#accepting.get(id))
      await before.catch(() => undefined);
    const own = work();
    this.#accepting.set(id, own);
    try {
      return await own;
    } finally {
      this.#accepting.delete(id);
    }
  }

  /**
   * Begins promised turns that did not begin, here or in an earlier process, except those that are withdrawn. The caller
   * holds the session.
   */
  async recover(session: Session, withdrawn: ReadonlySet<string> = new Set()): Promise<void> {
    const { waiting, problem: tell } = this.#parts;
    const { turns, problem } = await waiting.recover();
    if (problem !== undefined) tell(problem);
    // A message that was sent to join a turn begins before the turns that waited, as it would have.
    const first = turns.filter(({ request }) => request["whenBusy"] === "steer");
    for (const { turn, request, cancelled } of [...first, ...turns.filter((one) => !first.includes(one))]) {
      if (this.#entries.get(turn)?.turn !== undefined) continue; // it is already waiting here
      const asked = request as unknown as TurnRequest; // validated when it begins
      const isOver = cancelled || withdrawn.has(turn) || this.#withdrawing.has(turn);
      const end = isOver ? CANCELLED : this.#begin(session, turn, asked);
      if (end === undefined) continue;
      try {
        await session.endUnbegun(turn, end);
      } catch (error) {
        // A turn may have ended since the list was read. Only the session knows, so only the session decides.
        if (codeOf(error) !== "turn_exists") throw error;
      }
      await waiting.remove(turn);
    }
  }

  /** Returns the end of a turn that cannot begin. */
  #begin(
    session: Session,
    turn: string,
    request: TurnRequest,
  ): Pick<TurnResult, "status" | "error"> | undefined {
    try {
      this.add(beginTurn(session, request, { turn }), request);
      return undefined;
    } catch (error) {
      return { status: "failed", error: errorInfoOf(error) };
    }
  }

  view(id: string): TurnState | undefined {
    const entry = this.#entries.get(id);
    return entry === undefined ? undefined : viewOf(id, entry);
  }

  /** The request of a turn, until the turn has ended. */
  requestOf(id: string): TurnRequest | undefined {
    const entry = this.#entries.get(id);
    return entry?.result === undefined ? entry?.request : undefined;
  }

  /** Resolves when the turn has ended, or at once if it is not known here. */
  async ended(id: string): Promise<void> {
    await this.#entries.get(id)?.done;
  }

  /**
   * Drops finished turns: those that the log has, because a log that is opened again may have lost some of them, or all,
   * because another log replaced it.
   */
  forget(which: "logged" | "all"): void {
    for (const [id, { turn, ended }] of this.#entries)
      if (turn === undefined && (which === "all" || ended)) this.#entries.delete(id);
  }

  /** Resolves when every promised or running turn here has ended and is written down. */
  async idle(): Promise<void> {
    await Promise.allSettled([...[...this.#entries.values()].map(({ done }) => done), ...this.#writing]);
  }

  /**
   * Resolves once the cancellation is certain, whatever happens to this process. False if the turn had already ended or
   * is not known here.
   */
  async cancel(id: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (entry?.turn === undefined) return false;
    entry.turn.cancel();
    if (!entry.begun && entry.request !== undefined) {
      await this.#written(this.#parts.waiting.cancel(id));
      entry.cancelled = true;
      this.#parts.changed();
      return true;
    }
    await entry.done;
    return entry.ended && entry.result?.status === "cancelled";
  }

  /**
   * Takes back the message of a turn that waits here. Resolves once that is certain, whatever happens to this process.
   * Undefined if the turn does not wait here.
   */
  async withdraw(session: Session, id: string): Promise<Input | undefined> {
    const entry = this.#entries.get(id);
    if (entry?.withdrawn !== undefined) return entry.withdrawn;
    if (entry?.turn === undefined) return undefined;
    const input = await session.withdraw(id, () => this.#written(this.#parts.waiting.cancel(id)));
    entry.cancelled = true;
    entry.withdrawn = input;
    this.#parts.changed();
    return input;
  }

  /** Keeps a turn that no process holds from beginning while `work` opens the session. */
  async withholding(id: string, work: () => Promise<void>): Promise<void> {
    this.#withdrawing.add(id);
    try {
      await work();
    } finally {
      this.#withdrawing.delete(id);
    }
  }

  async #watch(turn: Turn): Promise<void> {
    for await (const event of turn) {
      const entry = this.#entries.get(turn.id);
      if (entry === undefined || !("seq" in event)) continue;
      entry.lastSeq = event.seq;
      if (event.type === "user_message" && event.steer === turn.id) entry.joined = event.turn;
      if (event.turn === (entry.joined ?? turn.id)) {
        entry.begun = true;
        if (event.type === "turn_end") entry.ended = true;
      }
      if (entry.firstSeq !== undefined) continue;
      entry.firstSeq = event.seq;
      this.#parts.changed();
    }
    const result = await turn.result();
    const entry = this.#entries.get(turn.id);
    this.#unfinished -= 1;
    if (entry !== undefined) {
      const promised = entry.request !== undefined;
      entry.result = publicResult(result);
      entry.turn = undefined;
      entry.request = undefined;
      const isOver = entry.ended || (!entry.begun && UNRECORDED.has(result.error?.code));
      // Otherwise the log and the list of waiting turns say as much as we know.
      if (!isOver) this.#entries.delete(turn.id);
      if (!isOver && !entry.begun && promised) this.#parts.owes();
      if (isOver) await this.#written(this.#removeWaiting(turn.id));
    }
    this.#forgetOldest();
    this.#parts.changed();
  }

  async #written(work: Promise<void>): Promise<void> {
    this.#writing.add(work);
    try {
      await work;
    } finally {
      this.#writing.delete(work);
    }
  }

  async #removeWaiting(id: string): Promise<void> {
    try {
      await this.#parts.waiting.remove(id);
    } catch (error) {
      this.#parts.problem(messageOf(error)); // found again later, and in the log by then
    }
  }

  #forgetOldest(): void {
    const finished = [...this.#entries].filter(([, entry]) => entry.result !== undefined);
    for (const [id] of finished.slice(0, Math.max(0, finished.length - MAX_FINISHED)))
      this.#entries.delete(id);
  }
}

/** The log was removed before the turn began, or refused its first events. That is how it ended, and only we know. */
const UNRECORDED: ReadonlySet<string | undefined> = new Set(["log_replaced", "event_invalid"]);

export const CANCELLED: TurnResult = { status: "cancelled", text: "", usage: NO_USAGE, steps: 0 };

function stateOf(entry: Entry): TurnState["state"] {
  if (entry.result !== undefined || entry.cancelled) return "done";
  return entry.firstSeq === undefined ? "queued" : "running";
}

function viewOf(turn: string, entry: Entry): TurnState {
  const { firstSeq, lastSeq, joined } = entry;
  const result = entry.result ?? (entry.cancelled ? CANCELLED : undefined);
  return { turn, state: stateOf(entry), joined, firstSeq, result, lastSeq: result && lastSeq };
}
