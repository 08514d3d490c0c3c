/** The items of an answer that another program received, read as a stream of ours would have delivered them. */

import type { Dialect } from "../../base/events/index.ts";
import { blockDraft } from "./anthropic-messages/item-draft.ts";
import { driverOf } from "./dialects.ts";
import { itemDraft } from "./openai-responses/item-draft.ts";
import type { ItemDraft } from "./provider.ts";

/**
 * `items` is JSON text: output items (Responses), content blocks (Messages), or whole messages (chat). Items keep their
 * exact text; a chat message becomes one item per field, as it does in a stream.
 */
export function readAnswer(dialect: Dialect, items: readonly string[]): readonly ItemDraft[] {
  if (dialect === "openai-responses") return items.map(itemDraft);
  if (dialect === "anthropic-messages") return items.map(blockDraft);
  const decoder = driverOf(dialect).createDecoder();
  const drafts: ItemDraft[] = [];
  for (const message of items)
    for (const event of decoder.feedResponse(`{"choices":[{"message":${message},"finish_reason":"stop"}]}`))
      if (event.type === "item_done") drafts.push({ ...event.draft, outputIndex: drafts.length });
  return drafts;
}
