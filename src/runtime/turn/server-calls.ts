/**
 * Custom calls that the provider ran itself. They look like calls to our tools; only their name tells them apart, by
 * the settings (`profile.serverCustomCalls`). They are recorded as hosted items: logged, shown and sent back as such,
 * never run and never answered.
 */

import type { Settings } from "../../base/events/index.ts";
import { sendableToolName } from "../../base/support/index.ts";
import type { ItemDraft, StreamEvent } from "../providers/index.ts";

/** The event as it is recorded. */
export function withServerCalls(event: StreamEvent, settings: Settings | undefined): StreamEvent {
  if (settings?.profile.serverCustomCalls !== true) return event;
  if (event.type === "item_start" && event.custom === true && isTheirs(event.name, settings))
    return { ...event, kind: "other" };
  if (event.type !== "item_done" || event.draft.type !== "tool_call") return event;
  const { custom, name } = event.draft;
  return custom === true && isTheirs(name, settings) ? { ...event, draft: hosted(event.draft) } : event;
}

/**
 * A name that cannot be sent back was invented by the model; only our own calls are sent under a changed name (rule
 * R18).
 */
function isTheirs(name: string | undefined, { tools, hosted: declared }: Settings): boolean {
  if (name !== undefined && sendableToolName(name, () => false) !== name) return false;
  return !tools.some((tool) => tool.name === name) && !declared.some((tool) => tool["name"] === name);
}

function hosted({ outputIndex, itemType, itemId, item }: ItemDraft): ItemDraft {
  return { type: "hosted_item", outputIndex, itemType, itemId, item };
}
