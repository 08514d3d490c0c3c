/**
 * Token counts and the prompt cache. Tokens are an estimate (four characters each). Caching is a real prefix match,
 * item by item on the exact bytes, per account and model, so that a broken prefix shows in the numbers (K01).
 */

import { createHash } from "node:crypto";

import { assertNever } from "../../base/support/index.ts";
import type { Draft } from "./draft.ts";

const maxLinks = 50_000;

export class PromptCache {
  /** Every prefix ever sent, as a chain of hashes. Oldest first. */
  readonly #links = new Set<string>();
  readonly #minimum: number;

  constructor(minimum: number) {
    this.#minimum = minimum;
  }

  /** Returns how many tokens of `texts` were sent before, counted from the start, and remembers them. */
  take(
    owner: string,
    head: string,
    texts: readonly string[],
  ): { readonly input: number; readonly cached: number } {
    let link = createHash("sha256").update(owner).update("\0").update(head).digest("base64");
    let tokens = tokensIn(head);
    let cached = this.#links.has(link) ? tokens : 0;
    let matching = this.#links.has(link);
    this.#remember(link);
    for (const text of texts) {
      link = createHash("sha256").update(link).update(text).digest("base64");
      tokens += tokensIn(text);
      matching &&= this.#links.has(link);
      if (matching) cached = tokens;
      this.#remember(link);
    }
    if (cached < this.#minimum) cached = 0;
    return { input: tokens, cached: this.#minimum === 0 ? cached : Math.floor(cached / 128) * 128 };
  }

  #remember(link: string): void {
    this.#links.delete(link);
    this.#links.add(link);
    if (this.#links.size <= maxLinks) return;
    for (const oldest of this.#links) {
      this.#links.delete(oldest);
      return;
    }
  }
}

export const lettersPerToken = 4;

/** What an image costs: its size in pixels decides, not the length of its base64. */
const imageTokens = 1600;
const longImage = 8000;

export function tokensIn(text: string): number {
  const { images, length } = imagesIn(text);
  return images * imageTokens + Math.ceil((text.length - length) / lettersPerToken);
}

/** The long images in the text of an item, and how long they are. */
function imagesIn(text: string): { readonly images: number; readonly length: number } {
  let images = 0;
  let length = 0;
  if (text.length <= longImage) return { images, length };
  for (let at = text.indexOf("base64"); at !== -1; at = text.indexOf("base64", at + 1)) {
    // In a data URL, and in a source of Messages.
    const [lead] = /^base64(?:,|","media_type":"image\/[a-z]+","data":")/.exec(text.slice(at, at + 64)) ?? [];
    if (lead === undefined) continue;
    const end = text.indexOf('"', at + lead.length);
    const size = (end === -1 ? text.length : end) - at - lead.length;
    if (size <= longImage) continue;
    images += 1;
    length += size;
    at += size;
  }
  return { images, length };
}

export function draftTokens(draft: Draft): number {
  switch (draft.type) {
    case "reasoning":
      return 16 + tokensIn(draft.text ?? draft.summary.join("")) * 4;
    case "message":
      return tokensIn(draft.text) + 4;
    case "function_call":
      return tokensIn(draft.name + draft.arguments) + 8;
    case "custom_tool_call":
      return tokensIn(draft.name + draft.input) + 8;
    case "web_search_call":
    case "raw":
      return 8;
    default:
      return assertNever(draft, "draft");
  }
}

/** The tokens of the output, and how many of them are reasoning. */
export function outputTokens(drafts: readonly Draft[]): { readonly all: number; readonly reasoning: number } {
  return { all: sum(drafts), reasoning: sum(drafts.filter(({ type }) => type === "reasoning")) };
}

function sum(drafts: readonly Draft[]): number {
  return drafts.reduce((total, draft) => total + draftTokens(draft), 0);
}
