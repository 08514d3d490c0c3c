/**
 * Records what was issued in each conversation, and so what could come back. The judges do not use it (they are
 * stateless); the report does, and so does the model to notice what it has lost. Only completed responses count: what a
 * client saw of a cut or failed response must not be replayed (R01, R08).
 *
 * Dialects recognise the members of a response by different clues (ids, call ids, exact text); here a clue is just a
 * string.
 */

import type { DialectName } from "./model-traits.ts";
import type { Sealed } from "./seal.ts";

export interface IssuedReasoning {
  readonly id: string;
  readonly dialect: DialectName;
  /** Its bindings; `undefined` if the dialect seals nothing. */
  readonly sealed: Sealed | undefined;
  readonly epoch: number;
  /** Its readable text, for vendors whose plain-text reasoning is recognised by it. */
  readonly text?: string;
  /** Whether anything opaque was issued; otherwise nothing can come back. */
  readonly opaque: boolean;
  /** The rest of its response: the clues for each member, best first. */
  readonly members: readonly (readonly string[])[];
  /** The index of the member right after it; -1 if there is none. */
  readonly followerAt: number;
}

interface Conversation {
  readonly key: string;
  readonly reasoning: IssuedReasoning[];
  /** Per owner: a prefix is stable for one model; others get the conversation in another form. */
  readonly previousInput: Map<string, readonly string[]>;
}

/** The position of each clue in a request. */
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

  /** Returns the name that was sent, else the conversation that the request's clues lead to, else a new one. */
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
    /** Whether the judge would accept this one, with the other members of its response at these positions. */
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

  /** Whether the input begins like the last one accepted from this owner (dialect, account, model). */
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
   * The reasoning whose calls and answers are in this request, for a model that notices what it has lost. Reasoning
   * from another branch or fork of the conversation is not counted as lost.
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

  /** Links clues to a conversation as soon as they are issued, however the response ends. */
  opened(key: string, clues: readonly string[]): void {
    this.#conversation(key);
    for (const clue of clues) this.#byClue.set(clue, key);
  }

  completed(key: string, reasoning: readonly IssuedReasoning[]): void {
    this.#conversation(key).reasoning.push(...reasoning);
    for (const one of reasoning) if (one.text !== undefined) this.#rememberText(one.text, one);
  }

  /** Returns who issued this text, in any conversation: a leak counts even if the conversation was not recognised. */
  reasoningSaying(text: string): readonly IssuedReasoning[] {
    return this.#byText.get(text) ?? [];
  }

  #rememberText(text: string, one: IssuedReasoning): void {
    const known = this.#byText.get(text) ?? [];
    // One per model is enough to identify its maker.
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
