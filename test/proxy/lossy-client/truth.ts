/**
 * What was issued, by the client's own bookkeeping: every answer, its thoughts and the place it was given at. Elements
 * of a request carry where they come from under a symbol, which JSON.stringify leaves out and a spread keeps.
 *
 * @module
 */

import type { JsonObject } from "../../../src/base/support/index.ts";

export type DialectName = "openai-responses" | "anthropic-messages" | "openai-chat";

export interface Thought {
  readonly answer: Answer;
  /** The number of the visible member that followed it; the number of members if none did. */
  readonly follower: number;
  /** Ciphertexts and signatures it was issued with (Responses: `done` and the terminal event differ). */
  readonly payloads: readonly string[];
  readonly text: string;
  /** As issued: an item, a block, or the reasoning fields of a chat message. */
  readonly raw: JsonObject;
}

export interface Answer {
  readonly id: number;
  /** The conversation and the number of the request that it answered. */
  readonly conversation: number;
  readonly request: number;
  readonly dialect: DialectName;
  readonly model: string;
  readonly account: string;
  /** As the client has it: items, blocks, or one chat message. Thoughts included. */
  readonly pieces: readonly JsonObject[];
  readonly thoughts: readonly Thought[];
  /** The number of visible members: items, blocks, or the text and the calls of a chat message. */
  readonly members: number;
  readonly calls: readonly Call[];
  /** False: cut, incomplete or left early. Its thoughts must never come back by our doing. */
  readonly completed: boolean;
  /** Everything visible before it, as it was sent, and the visible answer: equal ones are twins. */
  readonly place: string;
  readonly barePlace: string;
  readonly says: string;
  /** What prefix-bound models compare, as it arrived: everything visible before, and the last thought before. */
  readonly exactPlace: string;
  readonly thoughtBefore: string;
  /** The number in its notes, which the model can tell only if its thought comes back. */
  readonly number: number | undefined;
  /** Whether it repeats a number that an earlier answer thought of. */
  readonly recalls: boolean;
}

export interface Call {
  readonly id: string;
  readonly name: string;
}

/** Where an element of a request comes from. */
export interface From {
  readonly answer: Answer;
  /** The visible members it holds. */
  readonly members: readonly number[];
  /** The visible content is no longer what was issued. */
  readonly changed?: true;
}

export const FROM: unique symbol = Symbol("from");

export type Element = JsonObject & { readonly [FROM]?: From };

export function fromOf(element: unknown): From | undefined {
  return (element as Element)[FROM];
}

export function marked(element: JsonObject, from: From): Element {
  return { ...element, [FROM]: from };
}

/** A thought as it stands in a request. */
export interface SeenThought {
  readonly json: string;
  readonly payload: string | undefined;
  readonly text: string;
  readonly id: string | undefined;
  /** The chat field, or the type of the item or block. */
  readonly field: string;
}

/** A visible piece of a request, with the thoughts that belong to it. */
export interface Slot {
  readonly kind: "user" | "system" | "said" | "call" | "result" | "end";
  /** Its exact JSON without thoughts. */
  readonly json: string;
  /** What it means, without ids, spaces and notation. */
  readonly mark: string;
  /** What prefix-bound models compare. */
  readonly exact: string;
  readonly from: From | undefined;
  readonly thoughts: readonly SeenThought[];
}

/** A request as the judge reads it, sent or arrived. */
export interface Reading {
  /** The body without its list. */
  readonly head: string;
  readonly slots: readonly Slot[];
}

/** All answers of a world, found by their thoughts. */
export class Truth {
  readonly answers: Answer[] = [];
  readonly #byPayload = new Map<string, Thought[]>();
  readonly #byText = new Map<string, Thought[]>();

  add(answer: Answer): void {
    this.answers.push(answer);
    for (const thought of answer.thoughts) {
      for (const payload of thought.payloads) push(this.#byPayload, payload, thought);
      if (thought.text !== "") push(this.#byText, thought.text, thought);
    }
  }

  /** Whoever was given this thought, by its payload or, if it has none, by its text. */
  owners(seen: SeenThought): readonly Thought[] {
    if (seen.payload !== undefined && seen.payload !== "") return this.#byPayload.get(seen.payload) ?? [];
    return this.#byText.get(seen.text) ?? [];
  }

  /** A thought of another account or model of the same dialect, for requests that are broken on purpose. */
  foreign(of: {
    readonly dialect: DialectName;
    readonly account: string;
    readonly model: string;
  }): Thought | undefined {
    return this.answers.findLast(
      (one) =>
        one.dialect === of.dialect &&
        one.thoughts.length > 0 &&
        (one.account !== of.account || one.model !== of.model),
    )?.thoughts[0];
  }
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}
