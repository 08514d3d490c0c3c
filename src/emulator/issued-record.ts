/**
 * What was issued in each conversation, and so what could come back. The judges do not use it (they are stateless);
 * the report and the model's memory of what it has lost do. Only completed responses count: what a client saw of a cut
 * or failed response must not be replayed (R01, R08).
 *
 * Dialects know the members of a response by different clues (ids, call ids, exact text): here a clue is just a text.
 */

import type { DialectName } from "./model-traits.ts";
import type { Sealed } from "./seal.ts";

export interface IssuedReasoning {
  readonly id: string;
  readonly dialect: DialectName;
  /** What it is bound to; `undefined` where a dialect seals nothing. */
  readonly sealed: Sealed | undefined;
  readonly epoch: number;
  /** What can be read of it, where that is how it is known again: vendors whose reasoning is plain text. */
  readonly text?: string;
  /** Whether anything opaque was handed out: otherwise nothing can come back. */
  readonly opaque: boolean;
  /** The rest of its response: each member by its clues, best first. */
  readonly members: readonly (readonly string[])[];
  /** Which of them comes right after it; -1 when none does. */
  readonly followerAt: number;
}

interface Conversation {
  readonly key: string;
  readonly reasoning: IssuedReasoning[];
  /** By who was asked: a prefix is stable for one model, others get the conversation in another form. */
  readonly previousInput: Map<string, readonly string[]>;
}

/** Where each clue stands in a request. */
export type CluePositions = ReadonlyMap<string, number>;

export interface Standing {
  readonly issued: readonly string[];
  readonly acceptable: readonly string[];
}

const maxConversations = 2000;
const maxTexts = 5000;

export class IssuedRecord {
  readonly #conversations = new Map<string, Conversation>();
  readonly #byClue = new Map<string, string>();
  readonly #byText = new Map<string, IssuedReasoning[]>();
  #unnamed = 0;

  /** The name that was sent, else whatever the clues in the request lead to; else a new conversation. */
  conversationOf(named: string | undefined, clues: Iterable<string>): string {
    if (named !== undefined && named !== "") return named;
    for (const clue of clues) {
      const known = this.#byClue.get(clue);
      if (known !== undefined) return known;
    }
    this.#unnamed += 1;
    return `conversation-${this.#unnamed}`;
  }

  standing(options: {
    readonly conversation: string;
    readonly dialect: DialectName;
    readonly positions: CluePositions;
    readonly epoch: number;
    /** Would the judge take this one, with its response's other members at these positions? */
    readonly fits: (one: IssuedReasoning, positions: readonly number[]) => boolean;
  }): Standing {
    const conversation = this.#conversations.get(options.conversation);
    if (conversation === undefined) return { issued: [], acceptable: [] };
    const acceptable = conversation.reasoning.filter((one) => {
      if (one.dialect !== options.dialect || !one.opaque || one.epoch !== options.epoch) return false;
      const positions = one.members.map((clues) => positionOf(clues, options.positions));
      return !positions.includes(-1) && options.fits(one, positions);
    });
    return {
      issued: conversation.reasoning.filter((one) => one.opaque).map((one) => one.id),
      acceptable: acceptable.map((one) => one.id),
    };
  }

  /** Does the input begin as the last one that was accepted from this owner (dialect, account, model)? */
  prefix(
    key: string,
    owner: string,
    texts: readonly string[],
  ): { readonly prefixStable: boolean; readonly prefixDiffersAt: number | null } {
    const previous = this.#conversations.get(key)?.previousInput.get(owner) ?? [];
    const differs = previous.findIndex((text, index) => texts[index] !== text);
    return { prefixStable: differs === -1, prefixDiffersAt: differs === -1 ? null : differs };
  }

  /**
   * The reasoning whose calls and answers stand in this request, for a model that notices what it has lost. What belongs
   * to another branch or fork of the conversation is not missed.
   */
  reasoningBehind(conversation: string, positions: CluePositions): readonly IssuedReasoning[] {
    return (this.#conversations.get(conversation)?.reasoning ?? []).filter(
      ({ members }) => members.length > 0 && members.every((clues) => positionOf(clues, positions) !== -1),
    );
  }

  /** Everything the conversation was given, by any model in any dialect. */
  reasoningOf(conversation: string): readonly IssuedReasoning[] {
    return this.#conversations.get(conversation)?.reasoning ?? [];
  }

  acceptedInput(key: string, owner: string, texts: readonly string[]): void {
    this.#conversation(key).previousInput.set(owner, texts);
  }

  /** Links clues to a conversation as soon as they are handed out, whatever becomes of the response. */
  opened(key: string, clues: readonly string[]): void {
    this.#conversation(key);
    for (const clue of clues) this.#byClue.set(clue, key);
  }

  completed(key: string, reasoning: readonly IssuedReasoning[]): void {
    this.#conversation(key).reasoning.push(...reasoning);
    for (const one of reasoning) if (one.text !== undefined) this.#rememberText(one.text, one);
  }

  /** Who was given this text, in any conversation: a leak is one also where the conversation was not recognised. */
  reasoningSaying(text: string): readonly IssuedReasoning[] {
    return this.#byText.get(text) ?? [];
  }

  #rememberText(text: string, one: IssuedReasoning): void {
    const known = this.#byText.get(text) ?? [];
    // One of each model is enough to say whose it is.
    if (known.some(({ sealed }) => sealed?.model === one.sealed?.model)) return;
    this.#byText.set(text, [...known, one]);
    const [oldest] = this.#byText.keys();
    if (this.#byText.size > maxTexts && oldest !== undefined) this.#byText.delete(oldest);
  }

  #conversation(key: string): Conversation {
    const found = this.#conversations.get(key);
    if (found !== undefined) return found;
    const conversation: Conversation = { key, reasoning: [], previousInput: new Map() };
    this.#conversations.set(key, conversation);
    if (this.#conversations.size > maxConversations) this.#forgetOldest();
    return conversation;
  }

  #forgetOldest(): void {
    const [oldest] = this.#conversations.keys();
    if (oldest === undefined) return;
    this.#conversations.delete(oldest);
    for (const [clue, key] of this.#byClue) if (key === oldest) this.#byClue.delete(clue);
  }
}

function positionOf(clues: readonly string[], positions: CluePositions): number {
  for (const clue of clues) {
    const position = positions.get(clue);
    if (position !== undefined) return position;
  }
  return -1;
}
