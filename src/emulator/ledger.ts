/**
 * What was issued in each conversation, and so what could come back. The judge does not use it (it is stateless);
 * the report and the model's memory of what it has lost do. Only completed responses count: what a client saw of a cut
 * or failed response must not be replayed (R01, R08).
 *
 * @module
 */

import { stringOf } from "../support/index.ts";
import { type ContextItem, messageHash } from "./judge/context.ts";
import type { IssuedItem } from "./output/issue.ts";
import { hashText, type Sealed } from "./seal.ts";

interface Member {
  readonly index: number;
  readonly type: string;
  readonly id: string;
  readonly callId: string | undefined;
  readonly text: string | undefined;
}

export interface IssuedReasoning {
  readonly sealed: Sealed;
  readonly epoch: number;
  /** Whether a ciphertext was handed out: without one nothing opaque can come back. */
  readonly opaque: boolean;
  readonly members: readonly Member[];
}

interface Conversation {
  readonly key: string;
  readonly reasoning: IssuedReasoning[];
  previousInput: readonly string[] | undefined;
}

export interface Standing {
  readonly issued: readonly string[];
  readonly acceptable: readonly string[];
  readonly prefixStable: boolean;
  readonly prefixDiffersAt: number | null;
}

const maxConversations = 2000;

export class Ledger {
  readonly #conversations = new Map<string, Conversation>();
  readonly #byUid = new Map<string, string>();
  #unnamed = 0;

  /** Header, else prompt_cache_key, else whatever ids and call ids lead to; else a new conversation. */
  conversationOf(named: string | undefined, context: readonly ContextItem[]): string {
    if (named !== undefined && named !== "") return named;
    for (const { place, item } of context) {
      const uid = place?.uid;
      const known = uid === undefined ? undefined : this.#byUid.get(uid);
      if (known !== undefined) return known;
      const callId = stringOf(item["call_id"]);
      const byCall = callId === undefined ? undefined : this.#byUid.get(callId);
      if (byCall !== undefined) return byCall;
    }
    this.#unnamed += 1;
    return `conversation-${this.#unnamed}`;
  }

  standing(options: {
    readonly conversation: string;
    readonly context: readonly ContextItem[];
    readonly chain: readonly string[];
    readonly texts: readonly string[];
    readonly epoch: number;
    /** Would the judge take this one, apart from what stands around it? */
    readonly fits: (sealed: Sealed, prefix: string | undefined) => boolean;
  }): Standing {
    const conversation = this.#conversations.get(options.conversation);
    if (conversation === undefined)
      return { issued: [], acceptable: [], prefixStable: true, prefixDiffersAt: null };
    const places = indexOf(options.context);
    const acceptable = conversation.reasoning.filter((one) => {
      if (!one.opaque || one.epoch !== options.epoch || one.members.length === 0) return false;
      if (one.sealed.follower === null) return false;
      const positions = one.members.map((member) => placeOf(member, places));
      if (positions.includes(-1)) return false;
      const follower = one.members.findIndex((member) => member.index === one.sealed.follower?.index);
      return options.fits(one.sealed, options.chain[positions[follower] ?? 0]);
    });
    const previous = conversation.previousInput ?? [];
    const differs = previous.findIndex((text, index) => options.texts[index] !== text);
    return {
      issued: conversation.reasoning.filter((one) => one.opaque).map((one) => one.sealed.id),
      acceptable: acceptable.map((one) => one.sealed.id),
      prefixStable: differs === -1,
      prefixDiffersAt: differs === -1 ? null : differs,
    };
  }

  /**
   * The reasoning whose calls and answers stand in this request, for a model that notices what it has lost. What belongs
   * to another branch or fork of the conversation is not missed.
   */
  reasoningBehind(conversation: string, context: readonly ContextItem[]): readonly IssuedReasoning[] {
    const places = indexOf(context);
    return (this.#conversations.get(conversation)?.reasoning ?? []).filter(
      ({ members }) => members.length > 0 && members.every((member) => placeOf(member, places) !== -1),
    );
  }

  acceptedInput(key: string, texts: readonly string[]): void {
    this.#conversation(key).previousInput = texts;
  }

  /** Links ids to a conversation as soon as they are handed out, whatever becomes of the response. */
  opened(key: string, uid: string, items: readonly IssuedItem[]): void {
    this.#conversation(key);
    this.#byUid.set(uid, key);
    for (const { callId } of items) if (callId !== undefined) this.#byUid.set(callId, key);
  }

  completed(
    key: string,
    items: readonly IssuedItem[],
    options: { readonly epoch: number; readonly opaque: boolean },
  ): void {
    const members = items.filter((item) => item.sealed === undefined).map(toMember);
    for (const { sealed, draft } of items) {
      if (sealed === undefined) continue;
      const opaque = options.opaque && (draft.type !== "reasoning" || draft.ciphertext === undefined);
      this.#conversation(key).reasoning.push({ sealed, epoch: options.epoch, opaque, members });
    }
  }

  #conversation(key: string): Conversation {
    const found = this.#conversations.get(key);
    if (found !== undefined) return found;
    const conversation: Conversation = { key, reasoning: [], previousInput: undefined };
    this.#conversations.set(key, conversation);
    if (this.#conversations.size > maxConversations) this.#forgetOldest();
    return conversation;
  }

  #forgetOldest(): void {
    const [oldest] = this.#conversations.keys();
    if (oldest === undefined) return;
    this.#conversations.delete(oldest);
    for (const [uid, key] of this.#byUid) if (key === oldest) this.#byUid.delete(uid);
  }
}

function toMember(item: IssuedItem): Member {
  const { draft } = item;
  return {
    index: item.index,
    type: item.type,
    id: item.id,
    callId: item.callId,
    text: draft.type === "message" ? hashText(draft.text) : undefined,
  };
}

/** Positions by id, by call and by exact text: a long conversation is looked up once, not once per item. */
function indexOf(context: readonly ContextItem[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [position, { type, id, callId, item, place }] of context.entries()) {
    // An id that proves its response stands for that one only, even if another said the same words.
    const proven = id !== undefined && place !== undefined;
    const keys = [
      ...(id === undefined ? [] : [`id ${id}`]),
      ...(callId === undefined || proven ? [] : [`call ${type} ${callId}`]),
      ...(type === "message" && item["role"] === "assistant" && !proven ? [`text ${messageHash(item)}`] : []),
    ];
    for (const key of keys) if (!places.has(key)) places.set(key, position);
  }
  return places;
}

function placeOf(member: Member, places: ReadonlyMap<string, number>): number {
  const byId = places.get(`id ${member.id}`);
  if (byId !== undefined) return byId;
  if (member.callId !== undefined) return places.get(`call ${member.type} ${member.callId}`) ?? -1;
  return member.text === undefined ? -1 : (places.get(`text ${member.text}`) ?? -1);
}
