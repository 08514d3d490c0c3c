/**
 * The session from the interface's point of view: the state its events describe, the running turn, and the messages that
 * wait for it to end. A message that could not be sent is given back; none is ever dropped.
 */

import type { SessionHandle, Turn, TurnResult } from "../../base/api/index.ts";
import type {
  Branch,
  ElicitationRequest,
  PermissionRequest,
  SessionEvent,
  UserMessage,
} from "../../base/events/index.ts";
import { isThroughlineError, messageOf } from "../../base/support/index.ts";
import { type CostOf, SessionFacts } from "../../runtime/facts/index.ts";
import { type Block, BlockList, type ThoughtMarks } from "../fragments/index.ts";
import type { Ports } from "./commands.ts";
import { Steering } from "./steering.ts";
import { TurnClock } from "./turn-clock.ts";
import { UnsentThoughts } from "./unsent-thoughts.ts";

export interface LiveSessionOptions {
  readonly handle: SessionHandle;
  /** The session is written by this process and not by a server. */
  readonly local?: boolean;
  readonly costOf: CostOf;
  readonly now: () => number;
  /** Called when something to draw has changed. */
  readonly onChange: () => void;
  /** Called before the path branches. */
  readonly onBranch: (why: string) => void;
  readonly say: (text: string) => void;
  /** Turns typed text into a message: attaches the files it names. */
  readonly inputOf?: Ports["inputOf"];
  /** Puts a message back into the input. */
  readonly giveBack: (text: string) => void;
}

export class LiveSession {
  readonly #options: LiveSessionOptions;
  readonly #list = new BlockList();
  #facts: SessionFacts;
  #queue: string[] = [];
  readonly #steering = new Steering();
  #turn: Turn | undefined;
  readonly #unsent: UnsentThoughts;
  readonly #clock: TurnClock;
  /** Turns whose message is in the log. */
  readonly #begun = new Set<string>();
  #aside = false;
  /** The time since which the server has not answered. */
  #awaySince: number | undefined;
  /** True if the connection was lost during the open turn and its outcome has not been shown yet. */
  #lost = false;
  /** True if the user sent a message while the server was away, so the queue continues once it is back. */
  #goesOn = false;
  /** True if the queue waits for the user. */
  held = false;
  /** The seq of the message that the next one replaces. */
  rewriting: number | undefined;

  constructor(options: LiveSessionOptions) {
    this.#options = options;
    this.#facts = new SessionFacts(options.costOf);
    this.#clock = new TurnClock(options.now);
    this.#unsent = new UnsentThoughts(options.handle, options.onChange);
  }

  get facts(): SessionFacts {
    return this.#facts;
  }

  get queue(): readonly string[] {
    return this.#queue;
  }

  /** Messages on their way into the running turn. */
  get steering(): readonly string[] {
    return this.#steering.texts;
  }

  /** True while a turn is running, also while it goes from a node that is gone to the next one. */
  get busy(): boolean {
    if (this.#turn !== undefined) return true;
    return this.facts.openTurn !== undefined && !this.#options.handle.interrupted;
  }

  /** The open question, if this interface can answer it now. A resume asks the question of an interrupted turn again. */
  get question(): PermissionRequest | ElicitationRequest | undefined {
    const { access } = this.#options.handle;
    if (access !== "write" || !this.#running || this.away) return undefined;
    return this.facts.question ?? this.facts.elicitations[0];
  }

  /** False if nothing can run: no process writes, or the writer has not resumed the interrupted turn. */
  get #running(): boolean {
    const { handle } = this.#options;
    return handle.writer === "live" && !(this.facts.openTurn !== undefined && handle.interrupted);
  }

  /** True while the server does not answer, so that the state of the session is unknown. */
  get away(): boolean {
    return this.#options.handle.connection === "lost";
  }

  /** True if this process wrote the session and may not any more, because another one may go on with it. */
  get fenced(): boolean {
    const { handle, local } = this.#options;
    return local === true && handle.access === "write" && handle.writer === "none";
  }

  /** What the queue waits for. */
  get waits(): "turn" | "server" | "person" {
    return this.away ? "server" : this.held ? "person" : "turn";
  }

  /** Does not advance while the server is away, because it is unknown whether the turn is still running. */
  get now(): number {
    return this.#awaySince ?? this.#options.now();
  }

  /** How long the session has worked on the turn, in milliseconds, without the waits for a person. */
  get busyFor(): number | undefined {
    if (!this.busy || this.away) return undefined;
    this.#seeQuestions();
    return this.#clock.workedMs;
  }

  /** How long the open question has waited, in milliseconds. */
  get askedFor(): number | undefined {
    return this.#clock.askedMs;
  }

  #seeQuestions(): void {
    this.#clock.asks(this.facts.question !== undefined || this.facts.elicitations.length > 0);
  }

  /** Which thoughts the next request does not carry. */
  get marks(): ThoughtMarks {
    return this.#unsent.marks;
  }

  get blocks(): readonly Block[] {
    return this.#list.view({ writerAlive: this.#running });
  }

  /** Loads the whole log and resolves to the last seq, with the marks of its thoughts. */
  async load(): Promise<number> {
    let last = -1;
    for await (const event of this.#options.handle.events()) {
      last = event.seq;
      this.#list.add([event]);
      this.facts.add([event]);
    }
    // Printed rows cannot change any more once they have left the window.
    if (this.blocks.some(({ kind }) => kind === "reasoning")) await this.#unsent.ask();
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
        say(`Cannot show new events: ${problemText(error)}. Exit and open the session again.`);
    }
  }

  send(text: string): void {
    const { handle, giveBack, say } = this.#options;
    if (handle.access === "read" || this.fenced) {
      giveBack(text);
      say(`${this.fenced ? FENCED : handle.writer === "live" ? LOCKED : FREE} Your text stays in the input.`);
    } else if (this.busy || this.away) this.#queue.push(text);
    else this.#try(text);
    this.#goesOn ||= this.away;
    this.#options.onChange();
  }

  /** Sends a message into the running turn. If none is running, it is sent as usual. */
  steer(text: string): void {
    const { handle, say, giveBack, inputOf, onChange } = this.#options;
    if (!this.busy || this.away || handle.access === "read" || this.rewriting !== undefined) {
      this.send(text);
      return;
    }
    try {
      const turn = handle.send(inputOf?.(text, say) ?? text, { whenBusy: "steer" });
      this.#steering.add(turn, text);
      void this.#awaitSteered(turn, text);
    } catch (error) {
      say(problemText(error));
      giveBack(text);
    }
    onChange();
  }

  /** Called when a turn was started, here or by a command. `text` is given back if the turn never begins. */
  started(turn: Turn, text?: string): void {
    this.#turn = turn;
    this.#lost = false;
    this.#clock.start();
    void this.#await(turn, text);
    this.#options.onChange();
  }

  /** Called when the state of the handle has changed. Sends the queue when the server is back. */
  looked(): void {
    this.#unsent.looked();
    if (this.away) {
      this.#awaySince ??= this.#options.now();
      this.#lost ||= this.busy;
      return;
    }
    this.#awaySince = undefined;
    if (this.#lost && this.#options.handle.interrupted) this.#interrupted();
    if (this.#queue.length > 0) this.#sendNext();
  }

  /** True if a turn is running, this process may stop it, and the server answers. */
  get stoppable(): boolean {
    return this.busy && !this.away && this.#options.handle.access === "write";
  }

  stop(): void {
    const { handle, say } = this.#options;
    handle.cancel().catch((error: unknown) => say(messageOf(error)));
  }

  /** Stops the turn and holds everything that waits for it. */
  stopAndHold(): void {
    this.held = this.#queue.length > 0 || this.steering.length > 0;
    this.#steering.withdraw();
    this.stop();
  }

  /** Continues the queue if it was held and no turn is running. */
  release(): void {
    this.held = false;
    this.#sendNext();
  }

  /** Empties the queue and returns its messages. */
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
    if (event.type === "user_message") this.#saw(event);
    this.facts.add([event]);
    this.#list.add([event]);
    this.#seeQuestions();
    this.#unsent.saw(event);
    if (event.type === "turn_end") {
      this.#aside = false;
      this.#lost = false;
      this.#ended();
    }
    this.#options.onChange();
  }

  #saw({ turn, steer }: UserMessage): void {
    for (const id of [turn, steer]) {
      if (id === undefined) continue;
      this.#begun.add(id);
      this.#steering.done(id);
    }
  }

  /** Called when the log was replaced; its events follow again from the start. */
  #reset(): void {
    this.#options.onBranch("reset");
    this.#facts = new SessionFacts(this.#options.costOf);
    this.#begun.clear();
    this.#aside = false;
  }

  /** A compaction branches off to request the summary and then branches back (docs/adr/0013). */
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
      if (text !== undefined && (await this.#isUnsent(turn.id, status))) this.#options.giveBack(text);
      if (status === "interrupted" && this.fenced)
        this.#options.say(`Interrupted: ${error?.message ?? "the store refused to go on"}`);
      // A turn that could not begin is not in the log, so it is reported here.
      if (status === "failed" && !this.#isTold(turn.id))
        this.#options.say(`Failed: ${error?.message ?? "unknown"} [${error?.code ?? "internal"}]`);
      if (error?.code === "server_unreachable") this.#hold();
      if (error?.code === "turn_unknown" && text !== undefined) this.#neverBegun(text);
      else if (status === "interrupted" && this.#lost) this.#interrupted();
    } catch (error) {
      // Only a server's turn fails here: it was refused, or the server cannot be reached.
      if (this.#turn === turn) this.#turn = undefined;
      this.#hold();
      this.#options.say(problemText(error));
      if (text !== undefined && !this.#begun.has(turn.id)) this.#options.giveBack(text);
    }
    this.#ended();
  }

  async #awaitSteered(turn: Turn, text: string): Promise<void> {
    const { say, giveBack } = this.#options;
    try {
      const { status, error } = await turn.result();
      const never = this.#steering.done(turn.id) && !this.#begun.has(turn.id);
      if (never && status === "cancelled") this.#queue.unshift(text);
      else if (never && status !== "completed") {
        giveBack(text);
        say(`Not sent: ${error?.message ?? status} [${error?.code ?? "internal"}]`);
      }
    } catch (error) {
      // Only a server's turn fails here: it was refused, or the server cannot be reached.
      const never = this.#steering.done(turn.id) && !this.#begun.has(turn.id);
      say(problemText(error));
      if (never) giveBack(text);
    }
    this.#ended();
  }

  /** The process that ran the turn is gone while this one is alive, so it was a server. */
  #interrupted(): void {
    this.#lost = false;
    this.#hold();
    const open = "The server was stopped in the middle of the turn";
    const next = this.#goesOn
      ? "it continues with the messages you sent meanwhile"
      : "/resume finishes it, a new message continues without it";
    this.#options.say(`${open}: ${next}.`);
  }

  #neverBegun(text: string): void {
    this.#lost = false;
    this.#hold();
    this.#options.giveBack(text);
    this.#options.say(
      "The server was stopped before it started on your message, which is back in the input.",
    );
  }

  /** Holds the queue: its messages were written for a turn that ends normally. */
  #hold(): void {
    this.held = this.#queue.length > 0 && !this.#goesOn;
  }

  #isTold(turn: string): boolean {
    return this.facts.openTurn === turn || this.blocks.some(({ id }) => id === `turn_end/${turn}`);
  }

  /** The store refused the message of this process, or did not answer. */
  async #isUnsent(turn: string, status: TurnResult["status"]): Promise<boolean> {
    const { handle, local } = this.#options;
    if (local !== true || (status !== "failed" && status !== "interrupted")) return false;
    for await (const event of handle.events())
      if (event.type === "user_message" && event.turn === turn) return false;
    return true;
  }

  #ended(): void {
    if (this.busy) return;
    this.#clock.stop();
    this.#sendNext();
    this.#options.onChange();
  }

  #sendNext(): void {
    if (this.held || this.busy || this.away || this.fenced) return;
    const text = this.#queue.shift();
    if (this.#queue.length === 0) this.#goesOn = false;
    if (text !== undefined) this.#try(text);
  }

  #try(text: string): void {
    const { handle, say, giveBack } = this.#options;
    const seq = this.rewriting;
    this.rewriting = undefined;
    try {
      const input = this.#options.inputOf?.(text, say) ?? text;
      this.started(seq === undefined ? handle.send(input) : handle.edit(seq, input), text);
    } catch (error) {
      say(problemText(error));
      giveBack(text);
    }
  }
}

const LOCKED = "Another process is writing this session; /fork continues in a copy.";
const FREE = "No process is writing this session now. Press Enter with an empty input to take over.";
const FENCED = "This terminal may no longer write the session. Press Enter to open it again.";

export function problemText(error: unknown): string {
  return isThroughlineError(error) ? `${error.message} [${error.code}]` : messageOf(error);
}
