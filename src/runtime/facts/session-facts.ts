/**
 * The third fold: log → facts. What lists, status lines, prices, statistics and routes show of a session, counted once
 * and extended by new events. Every event counts, even one on an abandoned branch: it was paid for.
 */

import {
  addUsage,
  type ElicitationRequest,
  type EventHead,
  eventOf,
  headsOf,
  isQuiet,
  type LoggedEvent,
  NO_USAGE,
  type Notice,
  type Origin,
  type PermissionRequest,
  type PermissionRuleEvent,
  type SessionEvent,
  type SessionParent,
  type SessionStart,
  type Settings,
  type SettingsEvent,
  type SubAgentSpent,
  typedText,
  type Usage,
  usageOf,
  type UserMessage,
} from "../../base/events/index.ts";
import { assertNever } from "../../base/support/index.ts";
import { RequestFacts } from "./request-facts.ts";
import { SettingsPath } from "./settings-path.ts";
import { type CostOf, costOfSpent, inMicroDollars, plusCost, type Spent } from "./spent.ts";
import { TurnFacts } from "./turn-facts.ts";

export function factsOf(events: Iterable<LoggedEvent>, costOf?: CostOf): SessionFacts {
  const facts = new SessionFacts(costOf);
  facts.add(events);
  return facts;
}

export class SessionFacts {
  readonly #costOf: CostOf;
  readonly #byResponse = new Map<string, RequestFacts>();
  /** By the seq of its `response_start`. */
  readonly #bySeq = new Map<number, RequestFacts>();
  readonly #turns = new Map<string, TurnFacts>();
  /** Events of one turn follow one another. */
  #lastTurn: TurnFacts | undefined;
  readonly #steered = new Map<string, UserMessage>();
  /** Unanswered questions by their call: a call that is asked about again after a resume has only the new one. */
  readonly #questions = new Map<string, PermissionRequest>();
  /** Questions of running tools that have no answer, by their id. */
  readonly #elicitations = new Map<string, ElicitationRequest>();
  readonly #rules = new Map<string, PermissionRuleEvent>();
  readonly #requests: RequestFacts[] = [];
  readonly #path = new SettingsPath();
  /** Settings that were logged ahead of the first event of their turn. On their own they do not begin it. */
  #ahead: SettingsEvent | undefined;
  /** Of a response, only its request: which model it was is decoded when somebody asks. */
  readonly #spent: (Spent | { readonly request: RequestFacts | undefined; readonly usage: Usage })[] = [];
  #fallback: Notice | undefined;
  #lastMessage: UserMessage | undefined;
  #costUsd: number | undefined = 0;
  /** The last event that was counted; -1 before the first. */
  lastSeq = -1;
  start: SessionStart | undefined;
  title: string | undefined;
  /** The settings of the last step that the session's own model took: the next turn does not start on a fallback. */
  settings: Settings | undefined;
  usage: Usage = NO_USAGE;
  /** The running turn, or undefined if the last one has ended. */
  openTurn: string | undefined;
  turnsEnded = 0;

  constructor(costOf: CostOf = NO_PRICES) {
    this.#costOf = costOf;
  }

  get cwd(): string | undefined {
    return this.start?.cwd;
  }

  /** Where the session came from: a fork's parent, or the call of a sub-agent. */
  get parent(): SessionParent | undefined {
    return this.start?.parent;
  }

  /** `provider/model` of the last request. */
  get model(): string | undefined {
    return this.#requests.at(-1)?.model;
  }

  /** The cost of all requests and sub-agents so far, or undefined as soon as one price is not known. */
  get costUsd(): number | undefined {
    return inMicroDollars(this.#costUsd);
  }

  /** The usage of each response that reported it, and of each sub-agent, in the order they ended. */
  get spent(): readonly Spent[] {
    return this.#spent.map((one) =>
      "request" in one ? { origin: one.request?.origin, usage: one.usage } : one,
    );
  }

  /** In the order they were sent, over the whole log. */
  get requests(): readonly RequestFacts[] {
    return this.#requests;
  }

  /** By id, in the order they began. */
  get turns(): ReadonlyMap<string, TurnFacts> {
    return this.#turns;
  }

  /** Messages that joined a running turn, by the id under which they were sent. */
  get steered(): ReadonlyMap<string, UserMessage> {
    return this.#steered;
  }

  /** Whether the log has the turn: as a turn of its own, or as a message that joined another. */
  has(turn: string): boolean {
    return this.#turns.has(turn) || this.#steered.has(turn);
  }

  /** The rules of this session by their text, in the order they were added. Branches do not change them. */
  get rules(): ReadonlyMap<string, PermissionRuleEvent> {
    return this.#rules;
  }

  /** The oldest unanswered question. It can be answered only while its turn runs. */
  get question(): PermissionRequest | undefined {
    return this.#questions.values().next().value;
  }

  /**
   * The unanswered questions of tools, oldest first. A question is over with its call: what a crash left open waits for
   * nobody, and a call that runs again asks anew.
   */
  get elicitations(): readonly ElicitationRequest[] {
    return [...this.#elicitations.values()];
  }

  /** The text that a person typed in the last message that opened a turn, and its seq. Attached files are not part of it. */
  get lastMessage(): { readonly seq: number; readonly text: string } | undefined {
    const message = this.#lastMessage;
    if (message === undefined) return undefined;
    return { seq: message.seq, text: typedText(message.content) };
  }

  /** The settings in force at an event, on that event's path. */
  settingsAt(seq: number): Settings | undefined {
    return this.#path.at(seq);
  }

  /** Skips events that were already counted, so a follower may pass some of them twice. */
  add(events: Iterable<SessionEvent>): void {
    for (const event of Array.isArray(events) ? headsOf(events) : events)
      if ("seq" in event) this.#addHead(event);
  }

  /** Counts the heads from `from` on, up to `to`. */
  addHeads(heads: readonly EventHead[], from: number, to = heads.length): void {
    for (let at = from; at < to; at += 1) this.#addHead(heads[at] as EventHead);
  }

  #addHead(head: EventHead): void {
    if (head.seq <= this.lastSeq) return;
    this.lastSeq = head.seq;
    const settings = this.#path.add(head);
    if (head.turn !== undefined) this.#ofTurn(head.turn, head, settings);
    this.#count(head);
  }

  /** Decodes only what says something about the whole session. A request decodes its parts when it is asked. */
  #count(head: EventHead): void {
    if (head.type === "response_start") this.#begin(head);
    else if (head.type === "response_end") this.#end(head);
    else if (PARTS_OF_RESPONSES.has(head.type)) {
      this.#byResponse.get(head.response ?? "")?.add(head);
      if (ENDS_QUESTIONS.has(head.type)) this.#endQuestions(head);
    } else this.#countWhole(eventOf(head));
  }

  #endQuestions(head: EventHead): void {
    const asks = this.#questions.size > 0 || this.#elicitations.size > 0;
    // A result that spent something is decoded when its line is read (line-head.ts).
    if (!asks && isQuiet(head)) return;
    const event = eventOf(head);
    if (event.type === "tool_start") this.#endElicitations(event);
    if (event.type === "permission_decision") this.#questions.delete(callKey(event));
    if (event.type !== "tool_result") return;
    this.#questions.delete(callKey(event));
    this.#endElicitations(event);
    for (const one of event.spent ?? []) this.#spendBySubAgent(one);
  }

  #countWhole(event: LoggedEvent): void {
    switch (event.type) {
      case "session_start":
        this.start ??= event;
        return;
      case "title":
        this.title = event.title;
        return;
      case "settings":
        if (this.#fellBackTo(event) === undefined) this.settings = event.settings;
        return;
      case "user_message":
        this.openTurn = event.turn;
        if (event.steer !== undefined) {
          // A retry that repeats its turn repeats the message too.
          if (!this.#steered.has(event.steer)) this.#steered.set(event.steer, event);
        } else if (event.by === "person") this.#lastMessage = event;
        return;
      case "notice":
        if (event.code === "model_fallback") this.#fallback = event;
        return;
      case "permission_request":
        this.#questions.set(callKey(event), event);
        this.#endElicitations(event);
        this.#byResponse.get(event.response)?.add(event);
        return;
      case "elicitation_request":
        this.#elicitations.set(event.requestId, event);
        this.#byResponse.get(event.response)?.add(event);
        return;
      case "elicitation_answer":
        this.#elicitations.delete(event.requestId);
        this.#byResponse.get(event.response)?.add(event);
        return;
      case "permission_rule":
        if (event.removed === true) this.#rules.delete(event.rule);
        else this.#rules.set(event.rule, event);
        return;
      case "turn_end":
        this.turnsEnded += 1;
        // A turn that was cancelled before it began ends nothing but itself.
        if (event.turn !== this.openTurn) return;
        this.openTurn = undefined;
        this.#questions.clear();
        this.#elicitations.clear();
        return;
      // Counted by their heads.
      case "response_start":
      case "response_end":
      case "reasoning":
      case "assistant_message":
      case "tool_call":
      case "tool_start":
      case "permission_decision":
      case "tool_result":
      // These do not affect the facts.
      case "branch":
      case "compaction":
      case "hosted_item":
      case "other_item":
      case "partial":
      case "replay_override":
      case "unknown":
        return;
      default:
        assertNever(event, "event");
    }
  }

  /** The call ends, or begins again after a crash: nothing waits for what it asked before. */
  #endElicitations({ response, callId }: { readonly response: string; readonly callId: string }): void {
    if (this.#elicitations.size === 0) return;
    for (const [id, asked] of this.#elicitations)
      if (asked.response === response && asked.callId === callId) this.#elicitations.delete(id);
  }

  #begin(start: EventHead): void {
    const request = new RequestFacts(this.#requests.length + 1, start, this.#bySeq);
    this.#bySeq.set(start.seq, request);
    request.fallback = this.#fallback?.turn === start.turn ? this.#fallback : undefined;
    this.#fallback = undefined;
    this.openTurn = start.turn;
    this.#requests.push(request);
    this.#byResponse.set(start.response ?? "", request);
    if (start.turn !== undefined) this.#turnOf(start.turn, start.seq).requests.push(request);
  }

  /** Set if these are the settings of a fallback model. */
  #fellBackTo({ turn }: SettingsEvent): Origin | undefined {
    return turn === undefined ? undefined : this.#turns.get(turn)?.fellBackTo;
  }

  #end(head: EventHead): void {
    const request = this.#byResponse.get(head.response ?? "");
    request?.add(head);
    const usage = usageOf(head);
    if (usage !== undefined) this.#spend(request, usage);
  }

  #spend(request: RequestFacts | undefined, usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
    this.#spent.push({ request, usage });
    const origin = this.#costOf === NO_PRICES ? undefined : request?.origin;
    const cost = costOfSpent({ origin, usage }, this.#costOf);
    if (request !== undefined) request.costUsd = cost;
    this.#costUsd = plusCost(this.#costUsd, cost);
  }

  /** Its tokens are not the session's own, but its caller pays for them. */
  #spendBySubAgent({ session, usage, costUsd }: SubAgentSpent): void {
    this.#spent.push({ origin: undefined, usage, subAgent: { session, costUsd } });
    this.#costUsd = plusCost(this.#costUsd, costUsd);
  }

  #ofTurn(turn: string, event: EventHead, settings: Settings | undefined): void {
    if (event.type === "settings" && !this.#turns.has(turn)) {
      this.#ahead = eventOf(event) as SettingsEvent;
      return;
    }
    const seq = this.#ahead?.turn === turn ? this.#ahead.seq : event.seq;
    this.#turnOf(turn, seq).add(event, settings);
  }

  #turnOf(turn: string, seq: number): TurnFacts {
    if (this.#lastTurn?.turn === turn) return this.#lastTurn;
    const known = this.#turns.get(turn) ?? new TurnFacts(turn, seq);
    this.#turns.set(turn, known);
    this.#lastTurn = known;
    return known;
  }
}

const ENDS_QUESTIONS: ReadonlySet<LoggedEvent["type"]> = new Set([
  "tool_start",
  "permission_decision",
  "tool_result",
]);

const PARTS_OF_RESPONSES: ReadonlySet<LoggedEvent["type"]> = new Set([
  ...ENDS_QUESTIONS,
  "reasoning",
  "assistant_message",
  "tool_call",
]);

const NO_PRICES: CostOf = () => undefined;

/** Call ids may repeat in later responses. */
function callKey({ response, callId }: { readonly response: string; readonly callId: string }): string {
  return `${response} ${callId}`;
}
