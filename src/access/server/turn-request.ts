/**
 * A turn as it was requested. It is plain data, so that it can wait in a file for another process to begin it, and so
 * that a repeated request can be distinguished from another one with the same id.
 */

import { createHash } from "node:crypto";

import type { Input, Turn } from "../../base/api/index.ts";
import { asEffort, type UserMessage } from "../../base/events/index.ts";
import { codedError, isObject, type JsonObject } from "../../base/support/index.ts";
import type { TurnFacts } from "../../runtime/facts/index.ts";
import { type Session, toContent } from "../../runtime/session/index.ts";

export type TurnRequest =
  | {
      readonly kind: "send";
      readonly input: Input;
      readonly model?: string | undefined;
      readonly effort?: string | undefined;
      readonly output?: JsonObject | undefined;
      /** The message may join a running turn. Part of the request, because it decides what the next process begins first. */
      readonly whenBusy?: "steer" | undefined;
    }
  | {
      readonly kind: "retry";
      readonly from?: "message" | undefined;
      readonly output?: JsonObject | undefined;
    }
  | {
      readonly kind: "edit";
      readonly seq: number;
      readonly input: Input;
      readonly output?: JsonObject | undefined;
    };

export interface BeginOptions {
  readonly turn: string;
  readonly whenBusy?: "queue" | "reject" | "steer" | undefined;
  /** Called when the turn is accepted. The turn begins when the promise resolves. */
  readonly ready?: (() => Promise<unknown>) | undefined;
}

/** The session validates the request and throws if it is invalid. */
export function beginTurn(session: Session, request: TurnRequest, options: BeginOptions): Turn {
  // Viewers follow the session; the turn's own buffer would be a second copy of all events and deltas.
  const { whenBusy: asked, ...rest } = options;
  const common = { ...rest, bufferEvents: false };
  switch (request.kind) {
    case "send": {
      const { input, model, output, whenBusy = asked } = request;
      const effort = request.effort === undefined ? undefined : asEffort(request.effort);
      return session.send(input, { ...common, whenBusy, model, effort, output });
    }
    case "retry":
      return session.retry({ ...common, from: request.from, output: request.output });
    case "edit":
      return session.edit(request.seq, request.input, { ...common, output: request.output });
    default:
      throw unknownKind(request);
  }
}

/** A later version may have kinds that this one does not know. */
function unknownKind(request: never): Error {
  const { kind } = request as JsonObject;
  return codedError("turn_invalid", `this version cannot begin a turn of the kind ${JSON.stringify(kind)}`);
}

/** How a request differs from the first one with its id. Undefined if it is the same request sent again. */
export function differenceOf(request: TurnRequest, first: TurnRequest): string | undefined {
  if (request.kind !== first.kind) return `it was a ${first.kind}, not a ${request.kind}`;
  const [now, before]: readonly JsonObject[] = [request, first];
  const names = new Set([...Object.keys(request), ...Object.keys(first)]);
  const other = [...names].filter((name) => jsonOf(now?.[name]) !== jsonOf(before?.[name]));
  return other.length === 0 ? undefined : `it had another ${other.join(" and another ")}`;
}

/** The same against the log, which has the message and how the turn began, but not its options. */
export async function differenceFromLog(request: TurnRequest, facts: TurnFacts): Promise<string | undefined> {
  if (facts.message === undefined && facts.branch === undefined) return undefined; // it ended before it began
  const why = facts.branch?.why;
  const kind = why === "retry" || why === "edit" ? why : "send";
  if (request.kind !== kind) return `it was a ${kind}, not a ${request.kind}`;
  if (request.kind === "retry" || facts.message === undefined) return undefined;
  return (await hasContent(request.input, facts.message)) ? undefined : "it had another input";
}

/** The same for a message that joined another turn. */
export async function differenceFromMessage(
  request: TurnRequest,
  message: UserMessage,
): Promise<string | undefined> {
  if (request.kind !== "send") return `it was a send, not a ${request.kind}`;
  return (await hasContent(request.input, message)) ? undefined : "it had another input";
}

async function hasContent(input: Input, message: UserMessage): Promise<boolean> {
  const content = await toContent(input, { putBlob: async (bytes) => sha256(bytes) });
  return jsonOf(content) === jsonOf(message.content);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Compares by value: the order of keys does not matter. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
