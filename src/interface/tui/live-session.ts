/**
 * The session as the interface works with it: what its events say, the turn under way, and the messages that wait for
 * it to end. A message that could not be sent is given back; none is ever dropped.
 */

import type { SessionHandle, Turn } from "../../base/api/index.ts";
import type { Branch, SessionEvent } from "../../base/events/index.ts";
import { isThroughlineError, messageOf } from "../../base/support/index.ts";
import { type CostOf, SessionFacts } from "../../runtime/facts/index.ts";
import { type Block, BlockList } from "../fragments/index.ts";

export interface LiveSessionOptions {
  readonly handle: SessionHandle;
  readonly costOf: CostOf;
  readonly now: () => number;
  /** Something to draw has changed. */
  readonly onChange: () => void;
  /** Before the path goes on elsewhere. */
  readonly onBranch: (why: string) => void;
  readonly say: (text: string) => void;
  /** A message comes back into the input. */
  readonly giveBack: (text: string) => void;
}

export class LiveSession {
  readonly #options: LiveSessionOptions;
  readonly #list = new BlockList();
  #facts: SessionFacts;
  #queue: string[] = [];
  #turn: Turn | undefined;
  #busySince: number | undefined;
  /** Turns whose message is in the log. */
  readonly #begun = new Set<string>();
  #aside = false;
  /** Since when the server has not answered. */
  #awaySince: number | undefined;
  /** The connection was lost in the turn that is open, and what became of it has not been told. */
  #lost = false;
  /** Something was said while the server was away: the person wants to go on when it is back. */
  #goesOn = false;
  /** The queue waits for a word of the person. */
  held = false;
  /** The next message takes the place of the one there. */
  rewriting: number | undefined;

  constructor(options: LiveSessionOptions) {
    this.#options = options;
    this.#facts = new SessionFacts(options.costOf);
  }

  get facts(): SessionFacts {
    return this.#facts;
  }

  get queue(): readonly string[] {
    return this.#queue;
  }

  get busy(): boolean {
    if (this.#turn !== undefined) return true;
    const { handle } = this.#options;
    return this.facts.openTurn !== undefined && handle.writer === "live" && !handle.interrupted;
  }

  /** Nothing is known of the session until its server answers again. */
  get away(): boolean {
    return this.#options.handle.connection === "lost";
  }

  /** What the queue waits for. */
  get waits(): "turn" | "server" | "person" {
    return this.away ? "server" : this.held ? "person" : "turn";
  }

  /** Stands still while the server is away: no seconds are counted of what nobody knows to go on. */
  get now(): number {
    return this.#awaySince ?? this.#options.now();
  }

  /** For how long, in milliseconds. */
  get busyFor(): number | undefined {
    if (!this.busy || this.away) return undefined;
    const now = this.#options.now();
    this.#busySince ??= now;
    return now - this.#busySince;
  }

  get blocks(): readonly Block[] {
    return this.#list.view({ writerAlive: this.#options.handle.writer === "live" });
  }

  /** Everything that is in the log; resolves to the last seq. */
  async load(): Promise<number> {
    let last = -1;
    for await (const event of this.#options.handle.events()) {
      last = event.seq;
      this.#list.add([event]);
      this.facts.add([event]);
    }
    return last;
  }

  async follow(after: number, signal: AbortSignal): Promise<void> {
    const { handle, say } = this.#options;
    try {
      for await (const event of handle.follow({ after, signal })) {
        if (signal.aborted) return;
        this.#take(event);
      }
    } catch (error) {
      if (!signal.aborted)
        say(`Nothing new is shown any more: ${problemText(error)}. Leave and open it again.`);
    }
  }

  send(text: string): void {
    const { handle, giveBack, say } = this.#options;
    if (handle.access === "read") {
      giveBack(text);
      say(
        handle.writer === "live"
          ? "Another process writes this session; /fork goes on in a copy. Your text is kept in the input."
          : "Nobody writes this session now. Enter with an empty input takes it over; your text is kept in the input.",
      );
    } else if (this.busy || this.away) this.#queue.push(text);
    else this.#try(text);
    this.#goesOn ||= this.away;
    this.#options.onChange();
  }

  /** A turn was begun, here or by a command; `text` is what comes back if it never begins. */
  started(turn: Turn, text?: string): void {
    this.#turn = turn;
    this.#lost = false;
    this.#busySince = this.#options.now();
    void this.#await(turn, text);
    this.#options.onChange();
  }

  /** What the handle tells of itself has changed: a server that is back gets what waited for it. */
  looked(): void {
    if (this.away) {
      this.#awaySince ??= this.#options.now();
      this.#lost ||= this.busy;
      return;
    }
    this.#awaySince = undefined;
    if (this.#lost && this.#options.handle.interrupted) this.#interrupted();
    if (this.#queue.length > 0) this.#sendNext();
  }

  /** There is a turn, it is ours to stop, and somebody would hear it. */
  get stoppable(): boolean {
    return this.busy && !this.away && this.#options.handle.access === "write";
  }

  stop(): void {
    const { handle, say } = this.#options;
    handle.cancel().catch((error: unknown) => say(messageOf(error)));
  }

  /** The queue goes on, if it was held and nothing is under way. */
  release(): void {
    this.held = false;
    this.#sendNext();
  }

  /** Everything that waits, out of the queue. */
  takeBack(): readonly string[] {
    const queue = this.#queue;
    this.#queue = [];
    this.#goesOn = false;
    this.held = false;
    return queue;
  }

  #take(event: SessionEvent): void {
    if (event.type === "reset") this.#reset();
    if (event.type === "branch") this.#branched(event);
    if (event.type === "user_message" && event.turn !== undefined) this.#begun.add(event.turn);
    this.facts.add([event]);
    this.#list.add([event]);
    if (event.type === "turn_end") {
      this.#aside = false;
      this.#lost = false;
      this.#ended();
    }
    this.#options.onChange();
  }

  /** The log is another than was shown: it is told anew, from its beginning. */
  #reset(): void {
    this.#options.onBranch("reset");
    this.#facts = new SessionFacts(this.#options.costOf);
    this.#begun.clear();
    this.#aside = false;
  }

  /** A summary is asked for aside: there and back again (docs/adr/0013). */
  #branched({ why, to }: Branch): void {
    const isBack = why === "compaction" && this.#aside;
    this.#aside = why === "compaction" && !isBack;
    const keepsSteps = why === "retry" && to !== this.facts.lastMessage?.seq;
    this.#options.onBranch(isBack ? "compacted" : keepsSteps ? "retry_steps" : why);
  }

  async #await(turn: Turn, text: string | undefined): Promise<void> {
    try {
      const { status, error } = await turn.result();
      if (this.#turn === turn) this.#turn = undefined;
      // What could not even be begun is in no log.
      if (status === "failed" && !this.#isTold(turn.id))
        this.#options.say(`Failed: ${error?.message ?? "unknown"} [${error?.code ?? "internal"}]`);
      if (error?.code === "server_unreachable") this.#hold();
      if (error?.code === "turn_unknown" && text !== undefined) this.#neverBegun(text);
      else if (status === "interrupted" && this.#lost) this.#interrupted();
    } catch (error) {
      // Only a server's turn: it was refused, or the server cannot be reached.
      if (this.#turn === turn) this.#turn = undefined;
      this.#hold();
      this.#options.say(problemText(error));
      if (text !== undefined && !this.#begun.has(turn.id)) this.#options.giveBack(text);
    }
    this.#ended();
  }

  /** The process that worked on it is gone, and this one is not: it was a server's. */
  #interrupted(): void {
    this.#lost = false;
    this.#hold();
    const open = "The server was stopped in the middle of the turn";
    const next = this.#goesOn
      ? "it goes on with what you have sent meanwhile"
      : "/resume finishes it, a new message goes on without it";
    this.#options.say(`${open}: ${next}.`);
  }

  #neverBegun(text: string): void {
    this.#lost = false;
    this.#hold();
    this.#options.giveBack(text);
    this.#options.say("The server was stopped before it began with your message: it is in the input again.");
  }

  /** What waited for the end of a turn was meant for another end than this one. */
  #hold(): void {
    this.held = this.#queue.length > 0 && !this.#goesOn;
  }

  #isTold(turn: string): boolean {
    return this.facts.openTurn === turn || this.blocks.some(({ id }) => id === `turn_end/${turn}`);
  }

  #ended(): void {
    if (this.busy) return;
    this.#busySince = undefined;
    this.#sendNext();
    this.#options.onChange();
  }

  #sendNext(): void {
    if (this.held || this.busy || this.away) return;
    const text = this.#queue.shift();
    if (this.#queue.length === 0) this.#goesOn = false;
    if (text !== undefined) this.#try(text);
  }

  #try(text: string): void {
    const { handle, say, giveBack } = this.#options;
    const seq = this.rewriting;
    this.rewriting = undefined;
    try {
      this.started(seq === undefined ? handle.send(text) : handle.edit(seq, text), text);
    } catch (error) {
      say(problemText(error));
      giveBack(text);
    }
  }
}

export function problemText(error: unknown): string {
  return isThroughlineError(error) ? `${error.message} [${error.code}]` : messageOf(error);
}
