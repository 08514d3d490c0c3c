/**
 * The content of a played answer: its items or blocks as a client must have read them, derived from the events alone.
 */

import type { Issued, Json } from "./judgement.ts";
import { list, object, text } from "./judgement.ts";

export type Dialect = "openai-responses" | "openai-chat" | "anthropic-messages";

export class IssuedRecord implements Issued {
  readonly answers: (readonly Json[])[] = [];
  paused = false;
  container: string | undefined;

  add(dialect: Dialect, events: readonly string[]): void {
    if (dialect === "openai-chat") return; // nothing in its answers is encrypted
    const read = events.map((line) => object(JSON.parse(line)));
    if (dialect === "openai-responses") this.answers.push(itemsOf(read));
    if (dialect === "anthropic-messages") {
      this.answers.push(blocksOf(read));
      this.paused = read.some(
        (event) =>
          object(event["delta"])["stop_reason"] === "pause_turn" ||
          object(event["delta"])["stop_reason"] === "compaction",
      );
      for (const event of read) {
        const id = object(object(event["delta"])["container"] ?? object(event["message"])["container"])["id"];
        if (id !== undefined) this.container = text(id);
      }
    }
  }
}

/**
 * As they were finished, and as the last event lists them: its ciphertexts differ and are equally valid (failures.md
 * E08).
 */
function itemsOf(events: readonly Json[]): readonly Json[] {
  return events.flatMap((event) => {
    if (event["type"] === "response.output_item.done") return [object(event["item"])];
    return list(object(event["response"])["output"]);
  });
}

function blocksOf(events: readonly Json[]): readonly Json[] {
  const blocks = new Map<unknown, Record<string, unknown>>();
  const whole: Json[] = [];
  for (const event of events) {
    const { index } = event;
    if (event["type"] === "message_start") whole.push(...list(object(event["message"])["content"]));
    if (event["type"] === "content_block_start") {
      const block = { ...object(event["content_block"]) };
      blocks.set(index, block);
      whole.push(block);
    }
    const { signature } = object(event["delta"]);
    const block = blocks.get(index);
    if (block !== undefined && signature !== undefined) block["signature"] = signature;
  }
  return whole;
}
