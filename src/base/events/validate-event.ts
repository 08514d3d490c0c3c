/**
 * The shape of every canonical event. A line is checked when it is first decoded, and a draft before it is appended, so
 * that typed code never sees an event that is not what its type says. A field whose value controls behaviour lists its
 * allowed values. A field that only informs people accepts any text: a later version may have written it.
 */

import type { JsonObject } from "../support/index.ts";
import type {
  AppliedEdit,
  CanonicalEvent,
  Container,
  Envelope,
  ItemEvent,
  LeftOut,
  ReasoningPart,
  UnreadThought,
} from "./canonical.ts";
import { elicitationField } from "./elicitation-limits.ts";
import type { ErrorInfo } from "./error-info.ts";
import { fitToType } from "./fit-to-type.ts";
import {
  byKind,
  type Check,
  count,
  fields,
  flag,
  listOf,
  mapOf,
  oneOf,
  optional,
  present,
  type Shape,
  shapeOf,
  text,
} from "./shape.ts";
import type { SessionParent, SubAgentSpent } from "./sub-agent.ts";
import type { Usage } from "./usage.ts";
import { origin, settings } from "./validate-settings.ts";

/** The envelope is checked before, and an item is text that is never parsed here. */
type Checked = Exclude<keyof Envelope, "turn" | "response"> | "type" | "item";

type EventShapes = {
  readonly [Type in CanonicalEvent["type"]]: Shape<Extract<CanonicalEvent, { type: Type }>, Checked>;
};

const usage = shapeOf<Usage>({
  inputTokens: count,
  cachedTokens: count,
  outputTokens: count,
  reasoningTokens: count,
  contextTokens: optional(count),
});

const error = shapeOf<ErrorInfo>({
  code: text,
  message: text,
  class: optional(text),
  param: optional(text),
  status: optional(count),
  requestId: optional(text),
  retryAfterMs: optional(count),
});

const data = fields({ mediaType: text, data: text });
const blob = fields({ mediaType: text, blob: text });
const byUrl = fields({ url: text });
const named = fields({ name: text });
const stored = (value: unknown): string | undefined => blob(value) && data(value);
const inputPart = byKind("type", {
  text: fields({ text }),
  image: (value) => byUrl(value) && stored(value),
  file: (value) => named(value) ?? stored(value),
});

const range: Check = (value) =>
  Array.isArray(value) && value.length === 2 && value.every(Number.isFinite) ? undefined : " is not a range";

const anywhere = { turn: optional(text), response: optional(text) };
const inResponse = { turn: optional(text), response: text };
const item = {
  ...inResponse,
  outputIndex: count,
  itemType: text,
  itemId: optional(text),
} satisfies Shape<ItemEvent, Checked>;
const purpose = optional(text);

const SHAPES: EventShapes = {
  session_start: {
    ...anywhere,
    session: text,
    root: text,
    parent: optional(
      shapeOf<SessionParent>({ session: text, seq: count, call: optional(text), depth: optional(count) }),
    ),
    cwd: optional(text),
    writer: text,
  },
  settings: { ...anywhere, settings },
  title: { ...anywhere, title: text },
  user_message: {
    ...anywhere,
    by: oneOf("person", "runtime"),
    content: listOf(inputPart),
    purpose,
    steer: optional(text),
  },
  response_start: {
    ...inResponse,
    step: count,
    attempt: count,
    purpose,
    origin,
    bodyHash: text,
    prefixHash: text,
    leftOut: optional(listOf(shapeOf<LeftOut>({ reason: text, seqs: listOf(range) }))),
    leftOutAs: optional(count),
  },
  reasoning: {
    ...item,
    opaque: flag,
    parts: listOf(shapeOf<ReasoningPart>({ kind: oneOf("summary", "text"), text })),
    startedAt: text,
    durationMs: count,
  },
  assistant_message: { ...item, text, refusal: optional(text), phase: optional(text) },
  tool_call: { ...item, callId: text, name: text, arguments: text, custom: optional(flag) },
  hosted_item: { ...item, answers: optional(text) },
  other_item: item,
  partial: {
    ...inResponse,
    outputIndex: count,
    kind: oneOf("reasoning", "text", "tool_call"),
    parts: listOf(text),
    name: optional(text),
  },
  response_end: {
    ...inResponse,
    status: oneOf("completed", "incomplete", "failed", "cancelled", "cut"),
    reason: optional(text),
    usage: optional(usage),
    providerResponseId: optional(text),
    requestId: optional(text),
    servedModel: optional(text),
    reasoningContext: optional(text),
    durationMs: count,
    error: optional(error),
    unknown: optional(mapOf(count)),
    late: optional(listOf(fields({ outputIndex: count, item: present }))),
    unread: optional(listOf(shapeOf<UnreadThought>({ path: text, reason: text }))),
    container: optional(shapeOf<Container>({ id: text, expiresAt: optional(text) })),
    appliedEdits: optional(
      listOf(
        shapeOf<AppliedEdit>({
          type: text,
          clearedTokens: optional(count),
          clearedThinkingTurns: optional(count),
          clearedToolUses: optional(count),
        }),
      ),
    ),
  },
  permission_request: {
    ...inResponse,
    requestId: text,
    callId: text,
    tool: text,
    access: oneOf("read", "write", "execute"),
    arguments: text,
    argumentsHash: text,
    rule: optional(text),
    mcp: optional(fields({ server: text, tool: text })),
    changed: optional(flag),
  },
  permission_decision: {
    ...inResponse,
    requestId: optional(text),
    callId: text,
    decision: optional(oneOf("allow", "deny")),
    by: text,
    reason: optional(text),
    argumentsHash: text,
    rule: optional(text),
  },
  permission_rule: { ...anywhere, rule: text, by: text, requestId: optional(text), removed: optional(flag) },
  tool_start: { ...inResponse, callId: text, tool: text, idempotencyKey: text, arguments: optional(text) },
  elicitation_request: {
    ...inResponse,
    callId: text,
    requestId: text,
    server: text,
    message: text,
    mode: oneOf("form", "url"),
    fields: optional(listOf(elicitationField)),
    url: optional(text),
  },
  elicitation_answer: {
    ...inResponse,
    callId: text,
    requestId: text,
    action: oneOf("accept", "decline", "cancel"),
    by: text,
    reason: optional(text),
  },
  tool_result: {
    ...inResponse,
    callId: text,
    status: oneOf("ok", "error", "denied", "timeout", "cancelled", "not_executed", "outcome_unknown"),
    text,
    blob: optional(text),
    parts: optional(listOf(byKind("type", { image: fields({ mediaType: text, blob: text, bytes: count }) }))),
    forPerson: optional(text),
    durationMs: optional(count),
    spent: optional(listOf(shapeOf<SubAgentSpent>({ session: text, usage, costUsd: optional(count) }))),
  },
  replay_override: {
    ...anywhere,
    what: byKind("kind", {
      group: fields({ response: text }),
      all: fields({}),
      field: fields({ itemType: optional(text), field: text }),
      call: fields({ callId: text }),
    }),
    action: oneOf("omit_reasoning", "omit_ids", "strip_field", "close_call", "translate"),
    target: origin,
    cause: error,
  },
  branch: { ...anywhere, to: count, why: text },
  compaction: { ...anywhere, before: count, summary: text, by: optional(text) },
  notice: { ...anywhere, code: text, message: text, error: optional(error) },
  turn_end: {
    turn: text,
    response: optional(text),
    status: oneOf("completed", "incomplete", "failed", "cancelled", "interrupted"),
    reason: optional(text),
    error: optional(error),
    steps: count,
    usage,
    durationMs: count,
  },
};

const CHECKS: ReadonlyMap<unknown, readonly (readonly [string, Check])[]> = new Map(
  Object.entries(SHAPES).map(([type, shape]) => [type, Object.entries(shape)]),
);

/**
 * Returns the event in the form of its type, or what is wrong with its fields. Events of an unknown type are returned
 * unchanged.
 */
export function typedEvent<Event extends JsonObject>(
  event: Event,
  seq: unknown = event["seq"],
): Event | string {
  const problem = eventProblem(event);
  const fitted = problem === undefined ? event : (fitToType(event) as Event);
  if (problem !== undefined && eventProblem(fitted) !== undefined) return problem;
  return referenceProblem(fitted, seq) ?? fitted;
}

/** The numbers by which an event refers to earlier ones, and the lowest of them. */
const REFERENCES: Readonly<Record<string, readonly [name: string, lowest: number]>> = {
  branch: ["to", -1],
  compaction: ["before", 0],
  response_start: ["leftOutAs", 0],
};

/** An event can only refer to what comes before it. `seq` is its own number. */
function referenceProblem(event: JsonObject, seq: unknown): string | undefined {
  const type = String(event["type"]);
  const [name = "", lowest = 0] = (Object.hasOwn(REFERENCES, type) ? REFERENCES[type] : undefined) ?? [];
  const value = event[name];
  if (typeof value !== "number") return undefined;
  const fits = Number.isInteger(value) && value >= lowest && (typeof seq !== "number" || value <= seq);
  return fits ? undefined : `${type}: ${name} is ${value}, which is not an earlier event`;
}

function eventProblem(event: JsonObject): string | undefined {
  const type = event["type"];
  for (const [name, check] of CHECKS.get(type) ?? []) {
    const problem = check(event[name]);
    if (problem !== undefined) return `${String(type)}: ${name}${problem}`;
  }
  return undefined;
}
