/**
 * The turns this server runs, by id. The log is the truth; here is only what the log cannot tell: turns that wait, and
 * results that never became an event.
 *
 * A turn that was promised (202) is in the store's list of waiting turns until the log has its end: whatever happens to
 * this process, the next one begins it, or finds it in the log.
 */

import type { Turn, TurnResult, TurnState } from "../../base/api/index.ts";
import { errorInfoOf, NO_USAGE } from "../../base/events/index.ts";
import { codedError, messageOf } from "../../base/support/index.ts";
import type { SessionFacts } from "../../runtime/facts/index.ts";
import type { Waiting } from "../../runtime/log/index.ts";
import type { Session } from "../../runtime/session/index.ts";
import { publicResult } from "./http-errors.ts";
import { beginTurn, type BeginOptions, type TurnRequest } from "./turn-request.ts";

interface Entry {
  readonly done: Promise<void>;
  /** Absent where a turn goes on that the log has already, and when it is done. */
  request: TurnRequest | undefined;
  /** Let go of when it is done: it holds what it ran with, and its result says all that is still asked for. */
  turn: Turn | undefined;
  firstSeq?: number;
  lastSeq?: number;
  /** The log has an event of it, and its end. */
  begun: boolean;
  ended: boolean;
  /** It waits, and will not begin: all that is owed is its end. */
  cancelled: boolean;
  result?: TurnResult;
}

export interface HostedTurnsParts {
  readonly waiting: Waiting;
  readonly changed: () => void;
  /** Something that was promised did not begin: it is to be tried again. */
  readonly owes: () => void;
  /** Tells the server's terminal. */
  readonly problem: (message: string) => void;
}

const MAX_FINISHED = 64;
const MAX_WAITING = 100;

export class HostedTurns {
  readonly #parts: HostedTurnsParts;
  readonly #entries = new Map<string, Entry>();
  /** What is being written down: the session is not let go of before. */
  readonly #writing = new Set<Promise<unknown>>();
  /** Requests that are being answered, by the id of their turn. */
  readonly #accepting = new Map<string, Promise<unknown>>();
  #unfinished = 0;

  constructor(parts: HostedTurnsParts) {
    this.#parts = parts;
  }

  get busy(): boolean {
    return this.#unfinished > 0;
  }

  get running(): string | undefined {
    for (const [id, entry] of this.#entries) if (stateOf(entry) === "running") return id;
    return undefined;
  }

  get waiting(): number {
    return [...this.#entries.values()].filter((entry) => stateOf(entry) === "queued").length;
  }

  /** Before a turn is begun: there is an end to what one session can be promised. */
  assertRoom(): void {
    const cancelled = [...this.#entries.values()].filter(
      (entry) => entry.cancelled && entry.turn !== undefined,
    );
    if (this.#unfinished - cancelled.length >= MAX_WAITING)
      throw codedError(
        "too_many_turns",
        `${MAX_WAITING} turns are waiting in this session: let some of them end`,
      );
  }

  add(turn: Turn, request?: TurnRequest): TurnState {
    this.#unfinished += 1;
    const state = { begun: false, ended: false, cancelled: false };
    const entry: Entry = { turn, request, ...state, done: this.#watch(turn) };
    this.#entries.set(turn.id, entry);
    return viewOf(turn.id, entry);
  }

  /** Durable when it has resolved. The turn is judged before it is written down, and begins after that. */
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
      this.#entries.delete(turn.id); // whoever asked is told that it does not happen
      throw error;
    }
    return this.view(turn.id) ?? { turn: turn.id, state: "queued" };
  }

  /** The same request, sent twice at once, starts one turn: the second waits for what becomes of the first. */
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

  /** What was promised and did not begin, here or in an earlier process. Whoever calls this holds the session. */
  async recover(session: Session, facts: SessionFacts): Promise<void> {
    const { waiting, problem: tell } = this.#parts;
    const { turns, problem } = await waiting.recover();
    if (problem !== undefined) tell(problem);
    for (const { turn, request, cancelled } of turns) {
      if (this.#entries.get(turn)?.turn !== undefined) continue; // it waits here
      if (!facts.turns.has(turn)) {
        try {
          if (cancelled) await session.endUnbegun(turn, { status: "cancelled" });
          else {
            const asked = request as unknown as TurnRequest; // beginning it judges it
            this.add(beginTurn(session, asked, { turn }), asked);
            continue;
          }
        } catch (error) {
          await session.endUnbegun(turn, { status: "failed", error: errorInfoOf(error) });
        }
      }
      await waiting.remove(turn);
    }
  }

  view(id: string): TurnState | undefined {
    const entry = this.#entries.get(id);
    return entry === undefined ? undefined : viewOf(id, entry);
  }

  /** What a turn was asked with, as long as it has not ended. */
  requestOf(id: string): TurnRequest | undefined {
    const entry = this.#entries.get(id);
    return entry?.result === undefined ? entry?.request : undefined;
  }

  /** Resolves when the turn has ended, or at once when it is not known here. */
  async ended(id: string): Promise<void> {
    await this.#entries.get(id)?.done;
  }

  /** Another log has taken the place of the one they were in. */
  forget(): void {
    for (const [id, { turn }] of this.#entries) if (turn === undefined) this.#entries.delete(id);
  }

  /** Resolves when all that was promised or run here has ended and is written down. */
  async idle(): Promise<void> {
    await Promise.allSettled([...[...this.#entries.values()].map(({ done }) => done), ...this.#writing]);
  }

  /** Resolves when that holds, whatever happens to this process; false when the turn was over before, or is not known here. */
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
    return entry.result?.status === "cancelled";
  }

  async #watch(turn: Turn): Promise<void> {
    for await (const event of turn) {
      const entry = this.#entries.get(turn.id);
      if (entry === undefined || !("seq" in event)) continue;
      entry.lastSeq = event.seq;
      if (event.turn === turn.id) {
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
      // The log was taken away before it began: that is how it ended, and only we know.
      const isOver = entry.ended || (!entry.begun && result.error?.code === "log_replaced");
      // Otherwise whoever reads the log, and the list of what waits, knows as much as we do.
      if (!isOver) this.#entries.delete(turn.id);
      if (!isOver && !entry.begun && promised) this.#parts.owes();
      if (isOver) await this.#written(this.#takeOff(turn.id));
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

  async #takeOff(id: string): Promise<void> {
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

export const CANCELLED: TurnResult = { status: "cancelled", text: "", usage: NO_USAGE, steps: 0 };

function stateOf(entry: Entry): TurnState["state"] {
  if (entry.result !== undefined || entry.cancelled) return "done";
  return entry.firstSeq === undefined ? "queued" : "running";
}

function viewOf(turn: string, entry: Entry): TurnState {
  const { firstSeq, lastSeq } = entry;
  const result = entry.result ?? (entry.cancelled ? CANCELLED : undefined);
  return { turn, state: stateOf(entry), firstSeq, result, lastSeq: result && lastSeq };
}
