/**
 * The top-level parts of a Markdown text that grows. Only the end can still change, so only the end is read again: parts
 * before it stay the same objects, and so does what was drawn of them. A selection in a finished paragraph survives.
 */

import type { Token } from "marked";

import { tokensOf } from "./markdown-tokens.ts";

/** A definition at the end changes links at the start, so a text with definitions is read as a whole. */
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/m;

export class GrowingMarkdown {
  #text = "";
  #tokens: readonly Token[] = [];
  /** Where the last token that is not white space begins. */
  #lastAt = 0;

  /** The parts to draw. */
  parts(text: string): readonly Token[] {
    if (text !== this.#text) this.#read(text);
    return this.#tokens.filter(({ type }) => type !== "space" && type !== "def");
  }

  #read(text: string): void {
    const grew = this.#text !== "" && text.startsWith(this.#text) && !DEFINITION.test(text);
    const from = grew ? this.#lastAt : 0;
    const kept = grew ? this.#tokens.slice(0, this.#last) : [];
    const read = tokensOf(detached(text.slice(from)));
    const before = this.#tokens.slice(kept.length);
    // A part whose text is the same stays the same object.
    this.#tokens = [
      ...kept,
      ...read.map((token, at) => (before[at]?.raw === token.raw ? (before[at] ?? token) : token)),
    ];
    this.#text = text;
    this.#lastAt = from + lengthOf(read.slice(0, lastOf(read)));
  }

  get #last(): number {
    return lastOf(this.#tokens);
  }
}

/**
 * A copy. A slice keeps the whole text alive that it was cut from: each finished part would hold on to the answer as it was
 * at that moment.
 */
function detached(text: string): string {
  return ` ${text}`.slice(1);
}

function lastOf(tokens: readonly Token[]): number {
  return Math.max(
    0,
    tokens.findLastIndex(({ type }) => type !== "space"),
  );
}

function lengthOf(tokens: readonly Token[]): number {
  return tokens.reduce((sum, { raw }) => sum + raw.length, 0);
}
