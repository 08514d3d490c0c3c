/** Finds the events of a block, and renders a block as Markdown. Pure. */

import type { LoggedEvent } from "../../base/events/index.ts";
import { type Block, reasoningLabel } from "../fragments/index.ts";

export function eventsOf(block: Block, events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  const seqs = new Set<number>(
    block.kind === "reasoning" ? block.seqs : "seq" in block && block.seq !== undefined ? [block.seq] : [],
  );
  const callId = block.kind === "tool" ? block.callId : undefined;
  return events.filter(
    (event) =>
      seqs.has(event.seq) ||
      (callId !== undefined && "callId" in event && event.callId === callId) ||
      (block.kind === "notice" && event.id === block.id) ||
      (block.kind === "turn_end" && event.type === "turn_end" && block.id === `turn_end/${event.turn}`),
  );
}

/** Returns the block that shows an event, if one does. */
export function blockOfSeq(
  seq: number,
  blocks: readonly Block[],
  events: readonly LoggedEvent[],
): Block | undefined {
  const event = events.find((one) => one.seq === seq);
  if (event === undefined) return undefined;
  return blocks.find((block) => eventsOf(block, [event]).length > 0);
}

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
