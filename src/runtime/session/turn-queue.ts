/**
 * The turns of a session: they run one after the other, have unique ids, and none begins after the session was closed.
 * A message that is sent to steer joins the running turn; if it cannot, it begins before the turns that wait.
 */

import {
  type Input,
  type QueuedTurn,
  queuedTurn,
  type Turn,
  type TurnOptions,
  type TurnResult,
} from "../../base/api/index.ts";
import { errorInfoOf, type EventDraft, type InputPart, NO_USAGE } from "../../base/events/index.ts";
import { codedError, type IdSource, onAbort } from "../../base/support/index.ts";
import { type LiveLog, SESSION_CLOSED, SESSION_HANDED_OVER } from "../turn/index.ts";
import { messageJoined, noMessage, turnBegun, turnOver } from "./not-waiting.ts";
import { TurnHandle } from "./turn-handle.ts";

export type TurnWork = (handle: TurnHandle, turn: string) => Promise<TurnResult>;

type MakeContent = () => Promise<readonly InputPart[]>;

export interface PlaceOptions {
  /** The turn is already in the log and continues. */
  readonly again?: boolean | undefined;
  /** The message of the turn. A turn without one cannot be withdrawn. */
  readonly input?: Input | undefined;
  /** Set for a message that may join the running turn. */
  readonly content?: MakeContent | undefined;
}

/** Makes a withdrawal durable. If it rejects, the message stays where it was. */
export type KeepWithdrawn = () => Promise<void>;

/** A turn that waits. */
interface Place {
  readonly turn: string;
  readonly input: Input | undefined;
  readonly view: QueuedTurn | undefined;
  readonly content: MakeContent | undefined;
  readonly handle: TurnHandle;
  /** The state of the caller's `ready`. A turn that was refused never begins and joins nothing. */
  ready: "waiting" | "yes" | "refused";
  /** Settles when it is certain whether the message was withdrawn. Until then it neither begins nor joins. */
  leaving?: Promise<unknown>;
  /** Called when its time has come, or with the turn that its message joined. */
  begin(host?: TurnHandle): void;
}

export class TurnQueue {
  readonly #live: LiveLog;
  readonly #ids: IdSource;
  readonly #turns = new Set<string>();
  /** The turns that wait, in the order in which they will begin. */
  #line: Place[] = [];
  #running: Place | undefined;
  /** Every turn that has not ended. */
  readonly #open = new Set<TurnHandle>();
  /** The turns whose messages joined the running one. */
  #joined: TurnHandle[] = [];
  #waiting = 0;
  #current: TurnHandle | undefined;
  #closed = false;

  constructor(live: LiveLog, ids: IdSource) {
    this.#live = live;
    this.#ids = ids;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether a turn is running or waiting. */
  get busy(): boolean {
    return this.#waiting > 0;
  }

  /** The messages that wait, and the one that is about to begin while the log does not have it. */
  get queued(): readonly QueuedTurn[] {
    const { facts } = this.#live;
    const first = this.#running === undefined ? [] : [this.#running];
    return [...first, ...this.#line].flatMap(({ view, turn, ready, handle }) =>
      view !== undefined && ready === "yes" && !handle.signal.aborted && !facts.has(turn) ? [view] : [],
    );
  }

  add(options: TurnOptions, work: TurnWork, { again, input, content }: PlaceOptions = {}): Turn {
    const { turn = this.#ids.next("tn") } = options;
    if (again !== true && options.turn !== undefined) this.#assertNew(options.turn);
    this.#assertOpen();
    this.#waiting += 1;
    this.#turns.add(turn);
    let begin: Place["begin"] | undefined;
    const time = new Promise<TurnHandle | undefined>((resolve) => {
      begin = resolve;
    });
    const ready = options.ready?.();
    const handle = new TurnHandle(turn, options, ready, async (own) => {
      const host = await time;
      await place.leaving?.catch(() => undefined);
      if (host === undefined) return this.#alone(own, turn, ready, work);
      try {
        return await host.result();
      } finally {
        this.#turns.delete(turn); // its message is in the log
      }
    });
    const place: Place = {
      turn,
      input,
      view: input === undefined ? undefined : queuedTurn(turn, input, content !== undefined),
      content,
      handle,
      begin: (host) => begin?.(host),
      ready: ready === undefined ? "yes" : "waiting",
    };
    ready?.then(
      () => this.#isReady(place),
      () => {
        place.ready = "refused";
        this.#turns.delete(turn); // frees its id at once
      },
    );
    this.#open.add(handle);
    this.#insert(place);
    void this.#leave(place);
    if (this.#running === undefined) this.#next();
    this.#live.changed();
    return handle;
  }

  /** Takes back the message of a turn that waits. Either it resolves and the turn never begins, or nothing changes. */
  async withdraw(turn: string, keep: KeepWithdrawn): Promise<Input> {
    const place = this.#line.find((one) => one.turn === turn && one.ready !== "refused");
    if (place === undefined || place.handle.signal.aborted) throw this.#notWaiting(turn);
    const { input, handle } = place;
    if (input === undefined) throw noMessage(turn);
    await place.leaving?.catch(() => undefined); // somebody else is withdrawing it
    if (handle.signal.aborted || !this.#line.includes(place)) throw this.#notWaiting(turn);
    place.leaving = keep().then(() => handle.cancel());
    try {
      await place.leaving;
    } finally {
      delete place.leaving;
    }
    this.#live.changed();
    return input;
  }

  #notWaiting(turn: string): Error {
    const { turns, steered } = this.#live.facts;
    if (this.#joined.some(({ id }) => id === turn) || steered.has(turn)) return messageJoined();
    const isCancelled = this.#line.some((place) => place.turn === turn && place.handle.signal.aborted);
    if (isCancelled || turns.get(turn)?.end !== undefined) return turnOver(turn);
    if (this.#turns.has(turn) || turns.has(turn)) return turnBegun(turn);
    return codedError("turn_unknown", "there is no such turn in this session");
  }

  /**
   * Takes the messages that join the running turn now, in the order in which they were sent, as events of `turn`. They
   * can no longer be withdrawn. One whose content cannot be stored begins its own turn, which says why.
   */
  async join(turn: string): Promise<readonly EventDraft[]> {
    const found: { readonly place: Place; readonly content: readonly InputPart[] }[] = [];
    for (const place of this.#line) {
      if (place.content === undefined || place.ready === "waiting") break; // a later one does not overtake it
      if (place.ready === "refused" || place.handle.signal.aborted) continue;
      try {
        found.push({ place, content: await place.content() });
      } catch {
        break;
      }
    }
    const host = this.#current;
    if (host === undefined || host.signal.aborted || this.#closed) return [];
    // One that is being withdrawn may stay after all, and a later one does not overtake it either.
    const stop = found.findIndex(({ place }) => place.leaving !== undefined);
    const joining = found
      .slice(0, stop === -1 ? found.length : stop)
      .filter(({ place }) => !place.handle.signal.aborted);
    for (const { place } of joining) {
      this.#line.splice(this.#line.indexOf(place), 1);
      this.#waiting -= 1;
      this.#joined.push(place.handle);
      place.handle.join(host);
      place.begin(host);
    }
    return joining.map(({ place, content }) => ({
      type: "user_message",
      turn,
      by: "person",
      content,
      steer: place.turn,
    }));
  }

  /** Does something about a turn that is new, and keeps its id from every other use meanwhile. */
  async reserving(turn: string, work: () => Promise<void>): Promise<void> {
    this.#assertUnused(turn);
    this.#turns.add(turn);
    try {
      await work();
    } finally {
      this.#turns.delete(turn);
    }
  }

  /** Resolves when everything added so far has ended. */
  async settled(): Promise<void> {
    await Promise.all([...this.#open].map((handle) => handle.result()));
  }

  /** Resolves when the running turn has ended, with whether it was cancelled. */
  async cancel(): Promise<boolean> {
    const current = this.#current;
    current?.cancel();
    return (await current?.result())?.status === "cancelled";
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#current?.stop(codedError(SESSION_CLOSED, "the session was closed"));
    await this.settled();
  }

  /** Stops the running turn and leaves it open in the log: another node goes on with it. */
  async leave(): Promise<void> {
    this.#closed = true;
    const reason = codedError(
      SESSION_HANDED_OVER,
      "this node is stopping, so another one goes on with the turn. Open the session again to follow it",
    );
    this.#live.seal(reason); // before the turn is stopped, so that it writes no end
    this.#current?.stop(reason);
    await this.settled();
  }

  /** Runs a turn whose time has come. */
  async #alone(
    own: TurnHandle,
    turn: string,
    ready: Promise<unknown> | undefined,
    work: TurnWork,
  ): Promise<TurnResult> {
    try {
      await ready;
    } catch (error) {
      this.#waiting -= 1;
      this.#live.changed();
      return { status: "failed", text: "", steps: 0, usage: NO_USAGE, error: errorInfoOf(error) };
    }
    own.begin();
    this.#current = own;
    this.#live.listener = (events) => {
      own.push(events);
      for (const one of this.#joined) one.push(events);
    };
    // If the log refuses an event, the turn and its work in progress end: nothing of it would be recorded.
    this.#live.refused = (reason) => own.stop(reason);
    const { lost } = this.#live.log;
    const forget = onAbort(lost, () => own.stop(lost.reason));
    try {
      return await work(own, turn);
    } catch (error) {
      // What it needed of the store before its first event could not be read.
      return { status: "failed", text: "", steps: 0, usage: NO_USAGE, error: errorInfoOf(error) };
    } finally {
      forget();
      this.#current = undefined;
      this.#joined = [];
      this.#live.listener = undefined;
      this.#live.refused = undefined;
      this.#waiting -= 1;
      this.#turns.delete(turn); // it is in the log, or never began
      this.#live.changed();
    }
  }

  #isReady(place: Place): void {
    place.ready = "yes";
    this.#live.changed();
  }

  #insert(place: Place): void {
    const behind =
      place.content === undefined ? -1 : this.#line.findIndex((one) => one.content === undefined);
    if (behind === -1) this.#line.push(place);
    else this.#line.splice(behind, 0, place);
  }

  /** The next turn begins when the result of the one before it is known. */
  async #leave(place: Place): Promise<void> {
    await place.handle.result();
    this.#open.delete(place.handle);
    if (this.#running === place) this.#next();
  }

  #next(): void {
    this.#running = this.#line.shift();
    this.#running?.begin();
  }

  #assertOpen(): void {
    const { mode, session } = this.#live.log;
    if (mode === "read") throw codedError("log_read_only", `session "${session}" is open for reading only`);
    if (this.#closed) throw codedError("log_closed", `session "${session}" is closed`);
  }

  /** The caller's id makes a repeated request harmless: over a network the caller cannot know whether the first arrived. */
  #assertNew(turn: string): void {
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(turn))
      throw codedError("turn_invalid", "a turn id must have 1 to 64 letters, digits, _ or -");
    this.#assertUnused(turn);
  }

  #assertUnused(turn: string): void {
    if (this.#turns.has(turn) || this.#live.facts.has(turn))
      throw codedError("turn_exists", `turn "${turn}" already exists`);
  }
}
