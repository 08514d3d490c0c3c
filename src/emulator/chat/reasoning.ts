/**
 * Judges reasoning that came back in a chat request: whose it is, whether it is whole, whether the vendor reads it, and
 * whether required reasoning is missing (group I of failures.md). Plain text proves nothing, so it is compared with
 * what this conversation was given; `reasoning_details` are sealed and prove themselves.
 */

import { type JsonObject, objectOf } from "../../base/support/index.ts";
import type { Engine } from "../engine.ts";
import type { IssuedReasoning } from "../issued-record.ts";
import { judgeDetails } from "./details.ts";
import { type CarriedReasoning, type ChatMessage, thinkTagOf } from "./messages.ts";
import { type ChatRefusal, reasoningMissing, reasoningRefused, reasoningUnknown } from "./refusals.ts";
import type { ChatRequest } from "./request-shape.ts";
import type { ChatTraits } from "./vendors.ts";

export interface ReasoningAnswer {
  readonly refusals: readonly ChatRefusal[];
  /** The notes that the model may read again, by message index. */
  readonly usable: ReadonlyMap<number, string>;
  readonly sent: readonly string[];
  /** Whole and ours, but ignored because this vendor does not read it there. */
  readonly dropped: readonly string[];
  /** Ours, but changed or moved to another message or field (V07, V08). */
  readonly modified: readonly string[];
  /** Another model's, in any field. */
  readonly foreign: readonly string[];
}

export interface ReasoningQuestion {
  readonly engine: Engine;
  readonly request: ChatRequest;
  readonly account: string;
  /** Everything this conversation was given, by any model. */
  readonly issued: readonly IssuedReasoning[];
}

/** The lists while they are filled. */
export interface Findings {
  readonly refusals: ChatRefusal[];
  readonly usable: Map<number, string>;
  readonly sent: string[];
  readonly dropped: string[];
  readonly modified: string[];
  readonly foreign: string[];
}

export function judgeReasoning(question: ReasoningQuestion): ReasoningAnswer {
  const findings: Findings = {
    refusals: [],
    usable: new Map(),
    sent: [],
    dropped: [],
    modified: [],
    foreign: [],
  };
  const { request, engine } = question;
  const { chat } = request;
  const used = new Set<IssuedReasoning>();
  const thoughtsOf = thoughtsByMessage(question.issued);
  for (const message of request.messages) {
    findLeaks(message, question, findings);
    if (message.role !== "assistant") continue;
    for (const carried of carriedBy(message, chat)) {
      if (carried.field !== chat.shows) strayText(carried, question, findings);
      else if (chat.back === "refused") findings.refusals.push(reasoningRefused(message.index));
      else if (chat.vendor === "openrouter") judgeDetails(carried, message, question, findings);
      else recognise({ carried, message, question, findings, used, thoughtsOf });
    }
    const own = message.reasoning.find(({ field }) => field === chat.shows);
    const empty = own?.text === "" && engine.switches.emptyReasoning === "refuse";
    if (isNeeded(message, engine, request) && (own === undefined || empty))
      findings.refusals.push(reasoningMissing(chat.vendor, message.index));
  }
  return {
    ...findings,
    modified: [...new Set(findings.modified)],
    foreign: [...new Set(findings.foreign)],
  };
}

/** Returns a function that finds a message's thoughts: those whose calls are all present, or whose text matches. */
export function thoughtsByMessage(
  issued: readonly IssuedReasoning[],
): (message: ChatMessage) => readonly IssuedReasoning[] {
  const byMark = new Map<string, IssuedReasoning[]>();
  for (const one of issued) {
    const clue = one.members[0]?.[0];
    if (clue === undefined) continue;
    byMark.set(clue, [...(byMark.get(clue) ?? []), one]);
  }
  return ({ clues }) =>
    clues
      .flatMap((clue) => byMark.get(clue) ?? [])
      .filter(({ members }) => members.every((one) => one.some((clue) => clues.includes(clue))));
}

/** V01: messages with calls. V02: every message of a turn in which a tool was called, or could have been. */
export function isNeeded(message: ChatMessage, engine: Engine, request: ChatRequest): boolean {
  const { back } = request.chat;
  if (!request.thinking || message.role !== "assistant") return false;
  return (
    (back === "with-calls" && message.calls.length > 0) ||
    (back === "in-tool-turns" && isToolTurn(message, engine, request))
  );
}

function isToolTurn(message: ChatMessage, engine: Engine, request: ChatRequest): boolean {
  const carried = engine.switches.requires === "tools-carried" && request.tools.length > 0;
  return carried || request.toolTurns.has(message.turn);
}

/** Whether the vendor shows it to the model again. What it does not read, it ignores silently. */
export function isRead(message: ChatMessage, engine: Engine, request: ChatRequest): boolean {
  const { chat, body, messages } = request;
  if (!request.thinking) return false;
  if (message.turn === messages.at(-1)?.turn) return true;
  const { clearThinking } = engine.switches;
  if (clearThinking !== "vendor") return clearThinking === "keep";
  const { reads } = chat;
  if (typeof reads === "object") return valueAt(body, reads.field) === reads.value;
  return reads === "always" || (reads === "tool-turns" && isToolTurn(message, engine, request));
}

function valueAt(body: JsonObject, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => objectOf(value)[name], body);
}

/** In its fields; for MiniMax also in the text, if it was not asked to split it off. */
function carriedBy(message: ChatMessage, chat: ChatTraits): readonly CarriedReasoning[] {
  const text = isTagged(chat) ? thinkTagOf(message) : undefined;
  if (text === undefined || chat.shows === null) return message.reasoning;
  return [...message.reasoning, { field: chat.shows, text, details: [] }];
}

function isTagged({ vendor, shows }: ChatTraits): boolean {
  return vendor === "compatible" && shows === "reasoning_details";
}

function recognise(at: {
  readonly carried: CarriedReasoning;
  readonly message: ChatMessage;
  readonly question: ReasoningQuestion;
  readonly findings: Findings;
  readonly used: Set<IssuedReasoning>;
  readonly thoughtsOf: (message: ChatMessage) => readonly IssuedReasoning[];
}): void {
  const { carried, message, question, findings, used } = at;
  const { request, engine } = question;
  if (carried.text === "") return;
  const mine = at.thoughtsOf(message).filter(({ sealed }) => sealed?.model === request.model);
  const equal = mine.filter((one) => one.text === carried.text && !used.has(one));
  // On another branch the same text may have another signature.
  const signer = signerOf(carried, engine);
  const whole = equal.find(({ id }) => id === signer) ?? equal[0];
  if (whole === undefined) {
    const [changed] = mine;
    if (changed !== undefined) findings.modified.push(changed.id);
    else if (!strayText(carried, question, findings) && engine.switches.unknownReasoning === "refuse")
      findings.refusals.push(reasoningUnknown(request.chat.vendor, message.index));
    return;
  }
  used.add(whole);
  // A signature covers the whole part: without it, or with another, none of the part is read.
  if (signer !== undefined && signer !== whole.id) {
    findings.modified.push(whole.id);
    return;
  }
  const read = isRead(message, engine, request);
  if (read) findings.usable.set(message.index, whole.sealed?.notes ?? "");
  if (read || isNeeded(message, engine, request)) findings.sent.push(whole.id);
  else findings.dropped.push(whole.id);
}

/** Returns the id of the signed thought, "" for an invalid signature, undefined if none is expected. */
function signerOf({ signature }: CarriedReasoning, engine: Engine): string | undefined {
  if (signature === undefined || !engine.switches.mistralSignature) return undefined;
  const opened = engine.seal.open(signature);
  return opened.ok ? opened.sealed.id : "";
}

/** Reports known text in the wrong place: in another message, or in a field it was not captured from. */
function strayText(carried: CarriedReasoning, question: ReasoningQuestion, findings: Findings): boolean {
  const { engine, request, issued } = question;
  const { text } = carried;
  if (text === "") return false;
  const known = issued.filter((one) => one.text === text);
  for (const one of known) tellStray(one, carried, request, findings);
  if (known.length > 0) return true;
  // Not from this conversation. If this model ever said the same, its maker cannot be determined.
  const elsewhere = engine.issued.reasoningSaying(text);
  if (elsewhere.some(({ sealed }) => sealed?.model === request.model)) return false;
  for (const { id } of elsewhere) findings.foreign.push(id);
  return elsewhere.length > 0;
}

function tellStray(
  one: IssuedReasoning,
  carried: CarriedReasoning,
  request: ChatRequest,
  findings: Findings,
): void {
  const { chat, model } = request;
  const own = one.sealed?.model === model;
  // The router sends a plain copy along with the details; both may come back.
  if (own && chat.shows === "reasoning_details") return;
  // A vendor silently ignores a field that is not its own.
  if (own && chat.vendor === "compatible" && carried.field !== chat.shows) findings.dropped.push(one.id);
  else (one.sealed?.model === request.model ? findings.modified : findings.foreign).push(one.id);
}

/** Shorter texts may occur anywhere by chance. */
const leastLeak = 24;

/** V07: reasoning as plain text, and opaque payloads of any dialect anywhere in a message. */
function findLeaks(message: ChatMessage, question: ReasoningQuestion, findings: Findings): void {
  const { engine, request } = question;
  for (const one of question.issued) {
    const { text = "" } = one;
    if (text.length < leastLeak || !message.content.includes(text)) continue;
    if (isTagged(request.chat) && thinkTagOf(message) === text) continue;
    (one.sealed?.model === request.model ? findings.modified : findings.foreign).push(one.id);
  }
  for (const [payload] of message.text.matchAll(/gAAAA[\w-]{60,}={0,2}/g)) {
    const opened = engine.seal.open(payload);
    if (opened.ok && opened.sealed.model !== request.model) findings.foreign.push(opened.sealed.id);
  }
}
