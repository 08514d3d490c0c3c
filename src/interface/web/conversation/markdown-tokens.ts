/** Reads Markdown as people write it in conversations: GitHub's form, and a line break is a line break. */

import { Marked, type Token } from "marked";

const marked = new Marked({ gfm: true, breaks: true, async: false });

/** The top-level parts of a text, in order: paragraphs, lists, code, tables and the space between them. */
export function tokensOf(text: string): readonly Token[] {
  try {
    return marked.lexer(text);
  } catch {
    // Thousands of nested quotes overflow the stack of the reader. They are shown as they are.
    const words = { type: "text", raw: text, text } as const;
    return [{ type: "paragraph", raw: text, text, tokens: [words] }];
  }
}
