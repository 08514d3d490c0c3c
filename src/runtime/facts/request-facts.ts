/** One request of a session and its outcome. */

import type {
  AssistantMessage,
  LeftOut,
  Notice,
  PermissionDecisionEvent,
  Reasoning,
  ResponseEnd,
  ResponseStart,
  ToolCall,
  ToolResult,
  ToolStart,
} from "../../base/events/index.ts";

export interface ToolFacts {
  readonly call: ToolCall;
  /** The first result, which is the one the model reads. */
  readonly result: ToolResult | undefined;
  /** The rule that allowed the call without a question. */
  readonly rule: string | undefined;
  /** What it ran with, if its arguments were repaired. */
  readonly repaired?: string | undefined;
}

export class RequestFacts {
  /** Counted from 1 over the whole log, as `rebuildRequest` expects. */
  readonly request: number;
  readonly start: ResponseStart;
  /** What the request omitted, by reason, even if the event only refers to an earlier one. */
  readonly leftOut: readonly LeftOut[];
  readonly #messages: AssistantMessage[] = [];
  readonly #thoughts: Reasoning[] = [];
  readonly #tools: {
    call: ToolCall;
    result: ToolResult | undefined;
    rule: string | undefined;
    repaired?: string | undefined;
  }[] = [];
  /** The index of the first call with that id. */
  readonly #toolAt = new Map<string, number>();
  readonly #slots = new Set<number>();
  end: ResponseEnd | undefined;
  /** Why another model than the turn's own was asked, from this request on. */
  fallback: Notice | undefined;
  /** Zero for a response without usage, undefined if the price is not known. */
  costUsd: number | undefined = 0;

  constructor(request: number, start: ResponseStart, leftOut: readonly LeftOut[]) {
    this.request = request;
    this.start = start;
    this.leftOut = leftOut;
  }

  get model(): string {
    return `${this.start.origin.provider}/${this.start.origin.model}`;
  }

  /** Another program sent the request, so nothing is known of it but the answer. */
  get imported(): boolean {
    return this.start.bodyHash === "";
  }

  get thoughts(): readonly Reasoning[] {
    return this.#thoughts;
  }

  get thinkingMs(): number {
    return this.#thoughts.reduce((sum, { durationMs }) => sum + durationMs, 0);
  }

  get tools(): readonly ToolFacts[] {
    return this.#tools;
  }

  /** The answer, or its refusal. Empty for a failed response, whose text is only for people. */
  get text(): string {
    if (this.end?.status !== "completed" && this.end?.status !== "incomplete") return "";
    return this.#messages
      .toSorted((a, b) => a.outputIndex - b.outputIndex)
      .map(({ text, refusal = "" }) => (text === "" ? refusal : text))
      .join("\n\n");
  }

  add(
    event:
      | Reasoning
      | AssistantMessage
      | ToolCall
      | ToolStart
      | PermissionDecisionEvent
      | ToolResult
      | ResponseEnd,
  ): void {
    if (event.type === "response_end") this.end ??= event;
    else if (event.type === "reasoning") this.#thoughts.push(event);
    else if (event.type === "tool_call") {
      if (!this.#toolAt.has(event.callId)) this.#toolAt.set(event.callId, this.#tools.length);
      this.#tools.push({ call: event, result: undefined, rule: undefined });
    } else if (event.type === "tool_start") {
      const tool = this.#tools[this.#toolAt.get(event.callId) ?? -1];
      if (tool !== undefined && event.arguments !== undefined) tool.repaired = event.arguments;
    } else if (event.type === "tool_result" || event.type === "permission_decision") {
      const tool = this.#tools[this.#toolAt.get(event.callId) ?? -1];
      if (tool === undefined) return;
      if (event.type === "tool_result") tool.result ??= event;
      else tool.rule = event.rule;
    } else if (!this.#slots.has(event.outputIndex)) {
      // The same slot twice is a repeated stream event: the first one counts, as in the fold.
      this.#slots.add(event.outputIndex);
      this.#messages.push(event);
    }
  }
}
