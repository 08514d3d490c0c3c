/**
 * Turns parts into issued output: call ids in the vendor's form, sealed details, and an entry in the issued record for
 * what may come back.
 */

import { assertNever, type JsonObject } from "../../base/support/index.ts";
import type { Engine } from "../engine.ts";
import type { IssuedReasoning } from "../issued-record.ts";
import { hashText, type Sealed } from "../seal.ts";
import { detailsFormat } from "./details.ts";
import type { ReplyPart } from "./ending.ts";
import { type ChatMessage, cluesOf, inThinkTag } from "./messages.ts";
import type { ChatRequest } from "./request-shape.ts";

export interface IssuedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly custom: boolean;
}

export interface IssuedMessage {
  /** The reasoning shown; empty if the vendor shows none. */
  readonly thoughts: readonly string[];
  /** The `reasoning_details` of each thought, in the form that is accepted back. */
  readonly details: readonly (readonly JsonObject[])[];
  /** The signature of Mistral's part. It must come back unchanged, or the part is not read. */
  readonly signature: string | undefined;
  readonly content: string;
  readonly refusal: string | undefined;
  readonly calls: readonly IssuedCall[];
  /** The entries that the issued record keeps once the response completes. */
  readonly reasoning: readonly IssuedReasoning[];
}

export function issueMessage(options: {
  readonly engine: Engine;
  readonly request: ChatRequest;
  readonly account: string;
  readonly uid: string;
  readonly parts: readonly ReplyPart[];
}): IssuedMessage {
  const { engine, request, parts } = options;
  const { chat } = request;
  const calls = toCalls(options);
  const textOf = (type: "content" | "refusal"): string | undefined =>
    parts.find((part): part is Extract<ReplyPart, { type: typeof type }> => part.type === type)?.text;
  const refusal = textOf("refusal");
  const words = textOf("content") ?? "";
  const shown = chat.shows !== null && request.thinking;
  const thinking = shown ? parts.filter((part) => part.type === "reasoning") : [];
  const split = chat.shows !== "reasoning_details" || chat.vendor === "openrouter" || isSplit(request);
  const whole = thinking.map(({ text }) => text).join("\n\n");
  const content = split || thinking.length === 0 ? words : inThinkTag(whole) + words;
  const said = { calls, content: content === "" ? (refusal ?? "") : content };
  const at = engine.seconds();
  const seals = thinking.map((thought, index): Sealed => {
    const [call] = calls;
    return {
      stage: "completed",
      id: engine.seal.itemId({ uid: options.uid, at, index }, "reasoning"),
      uid: options.uid,
      index,
      model: request.model,
      account: options.account,
      prefix: "",
      follower:
        call === undefined
          ? { index: thinking.length, type: "message", text: hashText(said.content) }
          : { index: thinking.length, type: "function_call", callId: call.id },
      notes: thought.notes,
    };
  });
  const thoughts = thinking.map(({ text }) => text);
  // Calls prove their message; the client may have dropped other text.
  const members = cluesOf(calls.length > 0 ? { calls, content: "" } : said).map((clue) => [clue]);
  const issued = {
    dialect: "openai-chat",
    epoch: engine.seal.epoch,
    opaque: chat.back !== "refused",
    members,
    followerAt: -1,
  } as const;
  const [first] = seals;
  const sealed = chat.vendor === "openrouter";
  const signs = chat.vendor === "mistral" && engine.switches.mistralSignature;
  const shownApart = sealed || first === undefined ? thoughts : [whole];
  return {
    thoughts: split ? shownApart : [],
    signature: signs && first !== undefined ? engine.seal.seal(first, at) : undefined,
    details: sealed ? seals.map((one, index) => detailsOf(engine, one, thoughts[index] ?? "", at)) : [],
    content,
    refusal,
    calls,
    // A plain-text vendor has all thoughts in one field: they come back together or not at all.
    reasoning: sealed
      ? seals.map((one, index) => ({ ...issued, id: one.id, sealed: one, text: thoughts[index] ?? "" }))
      : first === undefined
        ? []
        : [{ ...issued, id: first.id, sealed: { ...first, notes: lastNotes(seals) }, text: whole }],
  };
}

/** MiniMax's parameter. */
function isSplit({ body }: ChatRequest): boolean {
  return body["reasoning_split"] === true;
}

function lastNotes(seals: readonly Sealed[]): string {
  return seals.at(-1)?.notes ?? "";
}

function detailsOf(engine: Engine, sealed: Sealed, summary: string, at: number): readonly JsonObject[] {
  const { id, index } = sealed;
  return [
    { type: "reasoning.summary", summary, format: detailsFormat, index },
    { type: "reasoning.encrypted", data: engine.seal.seal(sealed, at), id, format: detailsFormat, index },
  ];
}

function toCalls(options: {
  readonly engine: Engine;
  readonly request: ChatRequest;
  readonly uid: string;
  readonly parts: readonly ReplyPart[];
}): readonly IssuedCall[] {
  const { engine, request, uid } = options;
  const before = request.messages.reduce((sum, { calls }) => sum + calls.length, 0);
  return options.parts
    .filter((part) => part.type === "call")
    .map((part, index) => {
      const made = (): string => {
        switch (request.chat.makesCallIds) {
          case "sealed":
            return engine.seal.callId({ uid, at: 0, index });
          case "nine":
            return shortId(`${uid}${index}`);
          case "counted":
            return `functions.${part.name}:${before + index}`;
          default:
            return assertNever(request.chat.makesCallIds, "vendor");
        }
      };
      const { name, custom } = part;
      return { id: part.callId ?? made(), name, arguments: part.arguments, custom };
    });
}

/** Nine letters or digits. */
function shortId(seed: string): string {
  return hashText(seed)
    .replaceAll(/[^A-Za-z0-9]/g, "x")
    .slice(0, 9);
}

/** The message as the next request will show it, for the chain that recognises a conversation. */
export function asSaid(message: IssuedMessage): Pick<ChatMessage, "role" | "content" | "calls" | "callId"> {
  const { calls, content, refusal } = message;
  return { role: "assistant", content: content === "" ? (refusal ?? "") : content, calls, callId: undefined };
}
