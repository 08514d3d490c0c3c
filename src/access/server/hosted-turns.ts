/**
 * The turns this server runs, by id: so that a client that lost its connection can ask what became of one, and a
 * request that is sent twice starts one turn. The log is the truth; this is only what the log cannot tell: turns that
 * wait, and results that never became an event.
 */

import type { Turn, TurnResult, TurnState } from "../../base/api/index.ts";
import { codedError } from "../../base/support/index.ts";

interface Entry {
  readonly done: Promise<void>;
  /** Let go of when it is done: it holds what it ran with, and its result says all that is still asked for. */
  turn: Turn | undefined;
  firstSeq?: number;
  lastSeq?: number;
  result?: TurnResult;
}

const MAX_FINISHED = 64;
const MAX_WAITING = 100;

export class HostedTurns {
  readonly #entries = new Map<string, Entry>();
  readonly #changed: () => void;
  #unfinished = 0;

  constructor(changed: () => void) {
    this.#changed = changed;
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

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** Before a turn is started: what is promised must be kept in memory until it runs. */
  assertRoom(): void {
    if (this.#unfinished >= MAX_WAITING)
      throw codedError(
        "too_many_turns",
        `${MAX_WAITING} turns are waiting in this session: let some of them end`,
      );
  }

  add(turn: Turn): TurnState {
    this.#unfinished += 1;
    const entry: Entry = { turn, done: this.#watch(turn) };
    this.#entries.set(turn.id, entry);
    return viewOf(turn.id, entry);
  }

  view(id: string): TurnState | undefined {
    const entry = this.#entries.get(id);
    return entry === undefined ? undefined : viewOf(id, entry);
  }

  /** Resolves when the turn has ended, or at once when it is not known here. */
  async ended(id: string): Promise<void> {
    await this.#entries.get(id)?.done;
  }

  /** False when the turn is not known here. */
  cancel(id: string): boolean {
    const entry = this.#entries.get(id);
    entry?.turn?.cancel();
    return entry !== undefined;
  }

  async #watch(turn: Turn): Promise<void> {
    for await (const event of turn) {
      const entry = this.#entries.get(turn.id);
      if (entry === undefined || !("seq" in event)) continue;
      entry.lastSeq = event.seq;
      if (entry.firstSeq !== undefined) continue;
      entry.firstSeq = event.seq;
      this.#changed();
    }
    const result = await turn.result();
    const entry = this.#entries.get(turn.id);
    if (entry !== undefined) {
      entry.result = result;
      entry.turn = undefined;
    }
    this.#unfinished -= 1;
    this.#forgetOldest();
    this.#changed();
  }

  #forgetOldest(): void {
    const finished = [...this.#entries].filter(([, entry]) => entry.result !== undefined);
    for (const [id] of finished.slice(0, Math.max(0, finished.length - MAX_FINISHED)))
      this.#entries.delete(id);
  }
}

function stateOf(entry: Entry): TurnState["state"] {
  if (entry.result !== undefined) return "done";
  return entry.firstSeq === undefined ? "queued" : "running";
}

function viewOf(turn: string, entry: Entry): TurnState {
  const { firstSeq, lastSeq, result } = entry;
  return { turn, state: stateOf(entry), firstSeq, result, lastSeq: result && lastSeq };
}
