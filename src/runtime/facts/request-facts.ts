/** One request of a session and its outcome. */

import {
  type AssistantMessage,
  type ElicitationAnswerEvent,
  type ElicitationRequest,
  type EventHead,
  eventOf,
  type LeftOut,
  type Notice,
  type Origin,
  originOf,
  type PermissionDecisionEvent,
  type PermissionRequest,
  type Reasoning,
  type ResponseEnd,
  type ResponseStart,
  type ToolCall,
  type ToolResult,
  type ToolStart,
} from "../../base/events/index.ts";

/** A time in which a call waited for a person: for a permission, or for the answer to a question of its tool. */
export interface Wait {
  readonly requestId: string;
  /** ISO 8601, wall time. */
  readonly from: string;
  /** Undefined while it waits. */
  readonly to: string | undefined;
}

export interface ToolFacts {
  readonly call: ToolCall;
  /** The first result, which is the one the model reads. */
  readonly result: ToolResult | undefined;
  /** The rule that allowed the call without a question. */
  readonly rule: string | undefined;
  /** What it ran with, if its arguments were repaired. */
  readonly repaired?: string | undefined;
  /** When it began to run, for the last time. */
  readonly startedAt?: string | undefined;
  /** Absent if it asked a person nothing. Answers of a policy or a function are no waits. */
  readonly waits?: readonly Wait[] | undefined;
}

type OfTool =
  | ToolStart
  | PermissionRequest
  | PermissionDecisionEvent
  | ElicitationRequest
  | ElicitationAnswerEvent
  | ToolResult;

export class RequestFacts {
  /** Counted from 1 over the whole log, as `rebuildRequest` expects. */
  readonly request: number;
  readonly #start: EventHead;
  readonly #bySeq: ReadonlyMap<number, RequestFacts>;
  /** Events that nobody has asked for yet: opening a session decodes none of them. */
  #arrived: EventHead[] = [];
  #parts: ResponseParts | undefined;
  #end: EventHead | undefined;
  /** Why another model than the turn's own was asked, from this request on. */
  fallback: Notice | undefined;
  /** Zero for a response without usage, undefined if the price is not known. */
  costUsd: number | undefined = 0;

  /** `bySeq` has all requests by the seq of their start. */
  constructor(request: number, start: EventHead, bySeq: ReadonlyMap<number, RequestFacts>) {
    this.request = request;
    this.#start = start;
    this.#bySeq = bySeq;
  }

  get start(): ResponseStart {
    return eventOf(this.#start) as ResponseStart;
  }

  get step(): number {
    return this.#start.step ?? this.start.step;
  }

  /** What the request omitted, by reason, even if the event only refers to an earlier one. */
  get leftOut(): readonly LeftOut[] {
    const { leftOut = [], leftOutAs } = this.start;
    return leftOutAs === undefined ? leftOut : (this.#bySeq.get(leftOutAs)?.leftOut ?? []);
  }

  get end(): ResponseEnd | undefined {
    return this.#end === undefined ? undefined : (eventOf(this.#end) as ResponseEnd);
  }

  get origin(): Origin {
    return originOf(this.#start);
  }

  get model(): string {
    return `${this.origin.provider}/${this.origin.model}`;
  }

  /** Another program sent the request, so nothing is known of it but the answer. */
  get imported(): boolean {
    return this.start.bodyHash === "";
  }

  get messages(): readonly AssistantMessage[] {
    return this.#allParts.messages;
  }

  get thoughts(): readonly Reasoning[] {
    return this.#allParts.thoughts;
  }

  get thinkingMs(): number {
    return this.thoughts.reduce((sum, { durationMs }) => sum + durationMs, 0);
  }

  get tools(): readonly ToolFacts[] {
    return this.#allParts.tools;
  }

  /** The answer, or its refusal. Empty for a failed response, whose text is only for people. */
  get text(): string {
    if (this.end?.status !== "completed" && this.end?.status !== "incomplete") return "";
    return this.messages
      .toSorted((a, b) => a.outputIndex - b.outputIndex)
      .map(({ text, refusal = "" }) => (text === "" ? refusal : text))
      .join("\n\n");
  }

  add(event: EventHead): void {
    if (event.type === "response_end") this.#end ??= event;
    else this.#arrived.push(event);
  }

  get #allParts(): ResponseParts {
    const parts = (this.#parts ??= new ResponseParts());
    const arrived = this.#arrived;
    if (arrived.length > 0) this.#arrived = [];
    for (const head of arrived) parts.add(eventOf(head) as Part);
    return parts;
  }
}

type Part = Reasoning | AssistantMessage | ToolCall | OfTool;

/** What the response consists of, and what became of its calls. */
class ResponseParts {
  readonly messages: AssistantMessage[] = [];
  readonly thoughts: Reasoning[] = [];
  readonly tools: { -readonly [Field in keyof ToolFacts]: ToolFacts[Field] }[] = [];
  /** The index of the first call with that id. */
  readonly #toolAt = new Map<string, number>();
  readonly #slots = new Set<number>();

  add(event: Part): void {
    if (event.type === "reasoning") this.thoughts.push(event);
    else if (event.type === "tool_call") {
      if (!this.#toolAt.has(event.callId)) this.#toolAt.set(event.callId, this.tools.length);
      this.tools.push({ call: event, result: undefined, rule: undefined });
    } else if (event.type === "assistant_message") {
      // The same slot twice is a repeated stream event: the first one counts, as in the fold.
      if (this.#slots.has(event.outputIndex)) return;
      this.#slots.add(event.outputIndex);
      this.messages.push(event);
    } else this.#addToTool(event);
  }

  #addToTool(event: OfTool): void {
    const tool = this.tools[this.#toolAt.get(event.callId) ?? -1];
    if (tool === undefined) return;
    if (event.type === "tool_result") tool.result ??= event;
    else if (event.type === "permission_decision") tool.rule = event.rule;
    else if (event.type === "tool_start") {
      tool.startedAt = event.at;
      if (event.arguments !== undefined) tool.repaired = event.arguments;
    }
    const waits = waitsAfter(event, tool.waits);
    if (waits !== undefined) tool.waits = waits;
  }
}

/** Returns undefined if nothing changes. */
function waitsAfter(event: OfTool, before: readonly Wait[] | undefined): readonly Wait[] | undefined {
  const asks = event.type === "permission_request" || event.type === "elicitation_request";
  if (before === undefined)
    return asks ? [{ requestId: event.requestId, from: event.at, to: undefined }] : undefined;
  if (event.type === "elicitation_request")
    return [...before, { requestId: event.requestId, from: event.at, to: undefined }];
  if (event.type === "permission_request" || event.type === "tool_start") {
    // A call that begins again after a crash: nobody waited for what was left open.
    const ended = before.filter(({ to }) => to !== undefined);
    return asks ? [...ended, { requestId: event.requestId, from: event.at, to: undefined }] : ended;
  }
  const answers = (wait: Wait): boolean =>
    wait.to === undefined &&
    (event.type === "tool_result" || event.requestId === undefined || event.requestId === wait.requestId);
  const byPerson = event.type === "tool_result" || event.by === "person";
  return byPerson
    ? before.map((wait) => (answers(wait) ? { ...wait, to: event.at } : wait))
    : before.filter((wait) => !answers(wait));
}
