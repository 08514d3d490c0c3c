/**
 * A log of one user message and one response, from the exact text of the items a provider sent. The items go through
 * the decoder and through a line of the log, as in a session.
 *
 * @module
 */

import {
  type EventDraft,
  type LoggedEvent,
  parseLine,
  type Settings,
  toLine,
} from "../../src/base/events/index.ts";
import { ResponsesDecoder } from "../../src/runtime/providers/openai-responses/index.ts";
import { practiceSettings, stamped } from "./next-request.ts";
import { practiceModel } from "./practice-models.ts";

const BASE_URL = "http://127.0.0.1:9/v1";

export function settingsOf(name: Parameters<typeof practiceModel>[0]): Settings {
  return practiceSettings(practiceModel(name, BASE_URL), "all");
}

export type Close = "completed" | "incomplete" | "failed" | "cancelled" | "cut" | "never";

export function groupLog(items: readonly string[], close: Close = "completed"): readonly LoggedEvent[] {
  const settings = settingsOf("home");
  const base = { turn: "tn_1", response: "rsp_1" };
  const drafts: EventDraft[] = [
    { type: "session_start", session: "s", root: "s", writer: "test" },
    { type: "user_message", turn: "tn_1", by: "person", content: [{ type: "text", text: "Hello" }] },
    { type: "settings", turn: "tn_1", settings },
    {
      type: "response_start",
      ...base,
      step: 1,
      attempt: 1,
      origin: settings.target,
      bodyHash: "0",
      prefixHash: "0",
    },
    ...itemsOf(items).map((draft): EventDraft => ({ ...draft, ...base })),
    ...(close === "never" ? [] : [{ type: "response_end" as const, ...base, status: close, durationMs: 1 }]),
  ];
  return stamped([], drafts).map((event) => parseLine(toLine(event)));
}

function itemsOf(items: readonly string[]) {
  const decoder = new ResponsesDecoder();
  const frames = items.map((item, index) => ({
    event: "",
    data: `{"type":"response.output_item.done","output_index":${index},"item":${item}}`,
  }));
  return decoder.feed(frames).flatMap((event) => {
    if (event.type !== "item_done") return [];
    const { draft } = event;
    return [
      draft.type === "reasoning" ? { ...draft, startedAt: "2026-01-01T00:00:00.000Z", durationMs: 1 } : draft,
    ];
  });
}
