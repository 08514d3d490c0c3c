/** A block as Markdown, to copy. Pure. */

import { type Block, reasoningLabel } from "../../fragments/index.ts";

export function markdownOf(block: Block): string {
  switch (block.kind) {
    case "user":
    case "text":
    case "notice":
      return block.text;
    case "reasoning":
      return block.parts.length === 0
        ? reasoningLabel(block)
        : block.parts
            .map(({ title, body }) => (title === undefined ? body : `**${title}**\n\n${body}`))
            .join("\n\n");
    case "tool":
      return [
        `\`${block.name}\``,
        fenced(block.arguments, "json"),
        ...(block.result === undefined ? [] : [fenced(block.result.text, "")]),
        ...(block.result?.forPerson === undefined ? [] : [fenced(block.result.forPerson, "")]),
      ].join("\n\n");
    case "turn_end":
      return block.error === undefined ? block.status : `${block.status}: ${block.error.message}`;
    default:
      return block satisfies never;
  }
}

/** Uses a fence longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
