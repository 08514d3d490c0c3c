/**
 * Removes reasoning from a bundle that remains a valid session. Each reasoning event keeps its line but is empty. Without
 * a payload it is not sent, and its response is sent as plain text.
 */

import type { LoggedEvent } from "../../../base/events/index.ts";
import { isObject, type RawJson, tryParseJson } from "../../../base/support/index.ts";
import { type SessionBundle, linesFrom } from "../../../runtime/log/index.ts";

export function withoutReasoning(bundle: SessionBundle): SessionBundle {
  const events = bundle.events.map((event): LoggedEvent => {
    if (event.type === "reasoning") {
      const item = JSON.stringify({ type: event.itemType }) as RawJson;
      return { ...event, opaque: false, parts: [], item };
    }
    if (event.type === "partial" && event.kind === "reasoning") return { ...event, parts: [] };
    if (event.type === "response_end" && event.late !== undefined)
      return { ...event, late: event.late.filter(({ item }) => !isThought(item)) };
    return event;
  });
  return { ...bundle, events, lines: linesFrom(events) };
}

function isThought(item: RawJson): boolean {
  const value = tryParseJson(item);
  return isObject(value) && value["type"] === "reasoning";
}
