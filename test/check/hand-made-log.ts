/**
 * Logs as a person or another program might have made them: whole lines, but responses that none of our models would
 * give, or whose events do not match the text they carry.
 *
 * @module
 */

import { type EventDraft, type LoggedEvent, NO_USAGE, type Settings } from "../../src/base/events/index.ts";
import { toRawJson } from "../../src/base/support/index.ts";
import { blockDraft } from "../../src/runtime/providers/anthropic-messages/item-draft.ts";
import type { ItemDraft, Model } from "../../src/runtime/providers/index.ts";
import { itemDraft } from "../../src/runtime/providers/openai-responses/item-draft.ts";
import { settingsFor } from "../../src/runtime/session/settings.ts";
import { emulatedModel } from "../exhaustive/corpus.ts";
import { stamped, userMessage } from "../support/next-request.ts";
import { practiceTools } from "../support/practice-tools.ts";

export type Json = Readonly<Record<string, unknown>>;

/** An item as it was parsed; optionally extra fields of its event, and the text that is there instead. */
export interface HandMade {
  readonly raw: Json;
  readonly says?: Json;
  readonly instead?: Json;
}

export const tools = practiceTools({ began: () => undefined });

function settingsOf(model: Model): Settings {
  return settingsFor(model, { model, tools, system: "Be brief." });
}

/** `first`: false omits the question. */
export function handMadeLog(
  name: string,
  baseUrl: string,
  groups: readonly (readonly HandMade[])[],
  first = true,
): readonly LoggedEvent[] {
  const settings = settingsOf(emulatedModel(name, baseUrl));
  const drafts: EventDraft[] = [
    { type: "session_start", session: "s", root: "s", writer: "a hand" },
    ...(first ? [{ ...userMessage("Hello"), turn: "tn_1" }] : []),
    { type: "settings", turn: "tn_1", settings },
  ];
  for (const [index, group] of groups.entries()) {
    const base = { turn: "tn_1", response: `rsp_${index}` };
    const { target: origin } = settings;
    const items = group.map((item, at) => draftOf(item, at, settings));
    drafts.push(
      {
        type: "response_start",
        ...base,
        step: index + 1,
        attempt: 1,
        origin,
        bodyHash: "0",
        prefixHash: "0",
      },
      ...items.map(
        (item): EventDraft =>
          ({ ...item, ...base, ...(item.type === "reasoning" ? TIMES : {}) }) as EventDraft,
      ),
      { type: "response_end", ...base, status: "completed", durationMs: 1 },
      ...items.flatMap((item): readonly EventDraft[] =>
        item.type === "tool_call"
          ? [{ type: "tool_result", ...base, callId: item.callId, status: "ok", text: "done" }]
          : [],
      ),
    );
  }
  const end = { type: "turn_end", turn: "tn_1", status: "completed", steps: 1, durationMs: 1 } as const;
  drafts.push({ ...end, usage: NO_USAGE });
  return stamped([], drafts);
}

const TIMES = { startedAt: "2026-01-01T00:00:00.000Z", durationMs: 1 };

function draftOf(
  { raw, says = {}, instead }: HandMade,
  outputIndex: number,
  { target }: Settings,
): ItemDraft {
  const text = JSON.stringify(raw);
  const understood =
    target.dialect === "openai-responses"
      ? itemDraft(text, outputIndex)
      : target.dialect === "anthropic-messages"
        ? blockDraft(text, outputIndex)
        : understandPiece(raw, text, outputIndex);
  const item = instead === undefined ? {} : { item: toRawJson(JSON.stringify(instead)) };
  return { ...understood, ...says, ...item };
}

/** The decoder splits a chat message; here its parts are recognised by what they hold. */
function understandPiece(raw: Json, text: string, outputIndex: number): ItemDraft {
  const base = { outputIndex, item: toRawJson(text) };
  if ("content" in raw)
    return { ...base, type: "assistant_message", itemType: "content", text: String(raw["content"]) };
  if ("function" in raw) {
    const { name, arguments: written } = raw["function"] as {
      readonly name: string;
      readonly arguments: string;
    };
    return {
      ...base,
      type: "tool_call",
      itemType: "tool_call",
      callId: String(raw["id"]),
      name,
      arguments: written,
    };
  }
  const [field = "reasoning"] = Object.keys(raw);
  return { ...base, type: "reasoning", itemType: field, opaque: field === "reasoning_details", parts: [] };
}
