/**
 * The rules about thinking that comes back (C01–C06, C10–C12). Stateless: everything needed is in the signatures and
 * the tool ids. The live API's order of checks is unknown; here, checks that need no signature come first.
 */

import { stringOf } from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import { type ModelTraits, readsSealsOf } from "../../model-traits.ts";
import { hashText, type Seal } from "../../seal.ts";
import type { Switches } from "../../switches.ts";
import type { ClaudeTraits } from "../claude-models.ts";
import {
  finalBlockThinking,
  invalidData,
  invalidSignature,
  otherConversation,
  type PrefixChange,
  thinkingExpected,
  thinkingModified,
  thinkingWhileOff,
} from "../refusals.ts";
import { openSignature, readToolId, type ThinkingPayload } from "../signature.ts";
import { type Context, isThinking, type LocatedBlock } from "./context.ts";
import type { Thinking } from "./thinking-config.ts";
import type { JoinedMessage } from "./tool-rules.ts";

export interface ThinkingQuestion {
  readonly context: Context;
  readonly messages: readonly JoinedMessage[];
  readonly model: string;
  readonly traits: ModelTraits;
  readonly claude: ClaudeTraits;
  readonly account: string;
  readonly thinking: Thinking;
  /** Hashes of the content before the messages. */
  readonly head: { readonly system: string; readonly tools: string };
  readonly switches: Switches;
  readonly seal: Seal;
}

/** One entry of `message.input_transformations`. */
interface Transformation {
  readonly type: "thinking_dropped" | "thinking_mismatch_allowed";
  readonly path: string;
  readonly reason: `${"model" | "prefix" | "organization"}_binding_mismatch`;
}

export interface ThinkingAnswer {
  readonly refusals: readonly ApiRefusal[];
  /** The positions of thinking the model may use, with the sealed content. */
  readonly usable: ReadonlyMap<number, ThinkingPayload>;
  readonly dropped: readonly string[];
  readonly transformations: readonly Transformation[];
}

export function judgeThinking(question: ThinkingQuestion): ThinkingAnswer {
  const refusals = [...checkFinalBlocks(question), ...checkOpenTurn(question)];
  const opened = new Map<number, ThinkingPayload>();
  for (const [position, block] of question.context.blocks.entries()) {
    if (!isThinking(block.type)) continue;
    const payload = openBlock(block, question.seal);
    if (payload === undefined) refusals.push(unreadable(block));
    else opened.set(position, payload);
  }
  const latest = question.messages.findLast((message) => message.role === "assistant");
  refusals.push(...checkUnchanged(latest, opened, question.context.blocks));
  refusals.push(...checkBoundaries(latest, opened, question.context.blocks));
  return { ...checkBindings(opened, question, refusals), refusals };
}

function openBlock({ block, type }: LocatedBlock, seal: Seal): ThinkingPayload | undefined {
  return type === "thinking"
    ? openSignature(seal, "thinking", stringOf(block["signature"]) ?? "")
    : openSignature(seal, "redacted_thinking", stringOf(block["data"]) ?? "");
}

function unreadable(block: LocatedBlock): ApiRefusal {
  return block.type === "thinking" ? invalidSignature(block.path) : invalidData(block.path);
}

/** C05, for every assistant message as it was sent. */
function* checkFinalBlocks({ context }: ThinkingQuestion): Generator<ApiRefusal> {
  for (const [position, block] of context.blocks.entries()) {
    const next = context.blocks[position + 1];
    const last = next === undefined || next.message !== block.message;
    if (last && block.role === "assistant" && isThinking(block.type))
      yield finalBlockThinking(block.message, block.type);
  }
}

/**
 * The open tool loop, if only results follow the last answer: it is one assistant turn. System messages do not end it.
 */
function openTurn(all: readonly JoinedMessage[]): JoinedMessage | undefined {
  const messages = all.filter(({ role }) => role !== "system");
  const last = messages.at(-1);
  if (last?.role === "assistant") return last;
  const before = messages.at(-2);
  const goesOn = last?.blocks.every((block) => block.type === "tool_result") === true;
  return goesOn && before?.role === "assistant" ? before : undefined;
}

/** C02 and C06: thinking cannot change while a tool loop lasts. */
function* checkOpenTurn(question: ThinkingQuestion): Generator<ApiRefusal> {
  const { thinking, messages, switches } = question;
  const open = openTurn(messages);
  if (!thinking.on) {
    if (switches.thinkingWhileOff === "accept") return;
    const latest = messages.findLast((message) => message.role === "assistant");
    const where = switches.thinkingWhileOff === "latest" ? latest : open;
    const present = where?.blocks.find((block) => isThinking(block.type));
    if (present !== undefined) yield thinkingWhileOff(present.path, present.type);
    return;
  }
  const [first] = open?.blocks ?? [];
  const calls = open?.blocks.filter((block) => block.type === "tool_use") ?? [];
  if (first === undefined || isThinking(first.type) || calls.length === 0) return;
  const issued = calls.map((call) => readToolId(question.seal, stringOf(call.block["id"]) ?? ""));
  const left = issued.some((one) => one?.beganThinking === true);
  // The API accepts back its own messages without thinking; a foreign call proves nothing.
  const foreign = issued.every((one) => one === undefined);
  const needed =
    thinking.mode === "enabled" ? left || foreign : left && switches.adaptiveMissingThinking === "refuse";
  if (needed) yield thinkingExpected(first.path, first.type);
}

/**
 * C01, C11, C12: the latest answer must come back with all its thinking, each with its text and position. In older
 * answers an edited text is an invalid signature, and thinking may be left out entirely.
 */
function* checkUnchanged(
  latest: JoinedMessage | undefined,
  opened: ReadonlyMap<number, ThinkingPayload>,
  blocks: readonly LocatedBlock[],
): Generator<ApiRefusal> {
  const starts = new Map<string, number>();
  const seen = new Map<string, number[]>();
  for (const [position, payload] of opened) {
    const block = blocks[position];
    if (block === undefined) continue;
    const inLatest = latest !== undefined && position >= latest.start && block.role === "assistant";
    const same =
      block.type !== "thinking" || hashText(String(block.block["thinking"])) === payload.thinking.text;
    if (!inLatest) {
      if (!same) yield invalidSignature(block.path);
      continue;
    }
    const start = position - payload.index;
    const run = runOf(payload);
    const moved = (starts.get(run) ?? start) !== start;
    starts.set(run, start);
    const indexes = seen.get(run) ?? [];
    seen.set(run, [...indexes, payload.index]);
    const rule = block.type === "thinking" ? "C01" : "C11";
    if (!same || moved || indexes.includes(payload.index)) yield thinkingModified(block.path, rule);
  }
  for (const [position, payload] of opened) {
    const block = blocks[position];
    const indexes = seen.get(runOf(payload));
    if (block === undefined || indexes === undefined) continue;
    if (payload.thinking.all.some((index) => !indexes.includes(index))) {
      yield thinkingModified(block.path);
      return;
    }
  }
}

/** Identifies what one model thought in one response. */
function runOf({ uid, thinking }: ThinkingPayload): string {
  return `${uid} ${thinking.hop ?? 0}`;
}

/**
 * If another model took over, a `fallback` block separates the thinking of the two. Without it, both runs become one
 * that was never signed; inside a run, it is a break that never happened (beta messages.d.ts, BetaFallbackBlockParam).
 */
function* checkBoundaries(
  latest: JoinedMessage | undefined,
  opened: ReadonlyMap<number, ThinkingPayload>,
  blocks: readonly LocatedBlock[],
): Generator<ApiRefusal> {
  let before: ThinkingPayload | undefined;
  let parted = false;
  for (const [position, block] of blocks.entries()) {
    const payload = opened.get(position);
    if (payload !== undefined && before?.uid === payload.uid) {
      const crosses = (before.thinking.hop ?? 0) !== (payload.thinking.hop ?? 0);
      const isLatest = latest !== undefined && position >= latest.start;
      if (crosses !== parted) yield isLatest ? thinkingModified(block.path) : invalidSignature(block.path);
    }
    parted = block.type === "fallback";
    if (!parted) before = payload;
  }
}

function checkBindings(
  opened: ReadonlyMap<number, ThinkingPayload>,
  question: ThinkingQuestion,
  refusals: ApiRefusal[],
): Omit<ThinkingAnswer, "refusals"> {
  const usable = new Map<number, ThinkingPayload>();
  const dropped: string[] = [];
  const transformations: Transformation[] = [];
  let previous: string | null = null;
  for (const [position, payload] of opened) {
    const path = question.context.blocks[position]?.path ?? "";
    const foreign = foreignReason(payload, question);
    if (foreign !== undefined && unreadableIs(question) === "refuse") {
      refusals.push(unreadable(question.context.blocks[position] as LocatedBlock));
      continue;
    }
    const change = foreign === undefined ? prefixChange(payload, position, previous, question) : undefined;
    const how = prefixBehaviour(question);
    if (change !== undefined && how === "refuse") {
      refusals.push(otherConversation(path, change));
      continue;
    }
    if (foreign !== undefined || (change !== undefined && how === "drop")) {
      dropped.push(payload.id);
      transformations.push({
        type: "thinking_dropped",
        path,
        reason: `${foreign ?? "prefix"}_binding_mismatch`,
      });
      continue;
    }
    if (change !== undefined && how === "allow") {
      transformations.push({ type: "thinking_mismatch_allowed", path, reason: "prefix_binding_mismatch" });
    }
    usable.set(position, payload);
    previous = payload.id;
  }
  return { usable, dropped, transformations };
}

function unreadableIs({ switches, claude }: ThinkingQuestion): ClaudeTraits["unreadable"] {
  return switches.foreignThinking === "model" ? claude.unreadable : switches.foreignThinking;
}

/** The first check that fails, in the order of the types (beta messages.d.ts 5541). */
export function foreignReason(
  maker: { readonly account: string; readonly model: string },
  {
    account,
    model,
    switches,
    traits,
    claude,
  }: Pick<ThinkingQuestion, "account" | "model" | "switches" | "traits" | "claude">,
): "organization" | "model" | undefined {
  if (switches.accountBinding === "exact" && maker.account !== account) return "organization";
  if (!traits.reasoning) return "model";
  const reads = claude.reads?.test(maker.model) === true;
  return reads || readsSealsOf(model, maker.model, switches.modelBinding) ? undefined : "model";
}

/**
 * For older accounts a mismatch is only recorded (`prefixBinding: silent`); requesting drop_block drops it everywhere.
 */
function prefixBehaviour({
  traits,
  switches,
  thinking,
}: ThinkingQuestion): "off" | "allow" | "refuse" | "drop" {
  const { prefixBinding } = switches;
  if (prefixBinding === "off" || (prefixBinding === "model" && !traits.prefixBound)) return "off";
  if (thinking.dropsBlocks) return "drop";
  return prefixBinding === "silent" ? "allow" : "refuse";
}

export function prefixChange(
  payload: ThinkingPayload,
  position: number,
  previous: string | null,
  { context, head, switches }: Pick<ThinkingQuestion, "context" | "head" | "switches">,
): PrefixChange | undefined {
  const { thinking } = payload;
  if (switches.prefixCovers !== "input") {
    if (thinking.system !== head.system) return "system";
    if (thinking.tools !== head.tools) return "tools";
  }
  if (payload.prefix !== context.chain[position]) return "messages";
  return thinking.previous === previous ? undefined : "previous";
}
