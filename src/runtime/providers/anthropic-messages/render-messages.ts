/**
 * Plan entries → messages, as text. At home, the provider's own blocks field by field; abroad, plain meaning (law 1).
 *
 * Once written, a message never changes: content after a user message becomes another message (the API joins neighbours
 * of the same role), so the same prefix gives the same bytes (law 4). All results of a batch are in the one user
 * message that follows, before anything else (failures.md C07).
 */

import type { UserMessage } from "../../../base/events/index.ts";
import { sliceObject } from "../../../base/support/index.ts";
import {
  type Plan,
  type PlanEntry,
  type PlannedGroup,
  type PlannedItem,
  type PlannedResult,
  serverBlockOf,
} from "../../fold/index.ts";
import type { RenderedElement } from "../growing-request.ts";
import { fileAsText, type ReadyPart, readyParts } from "../input-parts.ts";
import { foreignNote, isNote, objectArguments, plainText } from "../plain-meaning.ts";
import type { ItemSource, RenderContext } from "../provider.ts";
import { resultContent } from "../result-content.ts";
import { blockFields } from "./block-fields.ts";

export function renderEntry(
  entry: PlanEntry,
  plan: Plan,
  context: RenderContext,
): readonly RenderedElement[] {
  if (entry.kind === "user") return [userMessage(entry.event, plan, context)];
  if (entry.kind === "summary") {
    return [textMessage(`Summary of the conversation so far:\n\n${entry.event.summary}`)];
  }
  const note = foreignNote(entry);
  return [...(note === undefined ? [] : [textMessage(note)]), ...groupMessages(entry, plan, context)];
}

/** What the API accepts in one image, counted in base64 (earendil-works/pi#824). */
const LARGEST_IMAGE = 5 * 1024 * 1024;

function groupMessages(entry: PlannedGroup, plan: Plan, context: RenderContext): readonly RenderedElement[] {
  const response = entry.group.start.response;
  const sent = entry.items.filter((item) => item.action !== "omit" && !isNote(item));
  if (sent.length === 0) return [];
  const blocks = sent.map((item) => (item.action === "replay" ? verbatim(item, plan) : translated(item)));
  const sources = (): readonly ItemSource[] =>
    sent.map((item, index) => ({
      path: `.content.${index}`,
      response,
      itemType: item.event.itemType,
      callId: item.callId ?? serverBlockOf(item.event)?.id,
    }));
  const reasoningMade = entry.group.items.filter((item) => item.type === "reasoning").length;
  const foreign = sent.some((item) => item.reason === "foreign_origin");
  const answer: RenderedElement = {
    text: `{"role":"assistant","content":[${blocks.join(",")}]}`,
    sources,
    piece: { group: response, reasoningMade, ...(foreign ? { foreign } : {}) },
  };
  if (entry.results.length === 0) return [answer];
  const results = entry.results.map((result) => ({
    type: "tool_result",
    tool_use_id: result.callId,
    content: contentOf(result, plan, context),
    ...(result.failed ? { is_error: true } : {}),
  }));
  return [
    answer,
    {
      text: JSON.stringify({ role: "user", content: results }),
      sources: () =>
        entry.results.map(({ callId }, index) => ({
          path: `.content.${index}`,
          itemType: "tool_result",
          callId,
        })),
    },
  ];
}

/** A failed result may have text only (`all content must be type "text" if "is_error" is true`). */
function contentOf(result: PlannedResult, plan: Plan, context: RenderContext): string | readonly object[] {
  if (result.failed) return result.text;
  const content = resultContent(result, plan, context, LARGEST_IMAGE);
  if (typeof content === "string") return content;
  // A block of white space says nothing, and some versions of the API refuse it.
  return content.filter((part) => part.kind !== "text" || part.text.trim() !== "").map(contentBlock);
}

/** The exact text of every field the input accepts; `explain` and the log keep the rest. */
function verbatim(item: PlannedItem, plan: Plan): string {
  const { itemType } = item.event;
  const allowed = blockFields(itemType);
  const refused = plan.strip.filter((one) => one.itemType === itemType).map((one) => one.field);
  const parts = sliceObject(item.item)
    .filter(({ key }) => allowed.includes(key) && !refused.includes(key))
    .map(({ key, value }) => `"${key}":${asSent(key, value, item)}`);
  return `{${parts.join(",")}}`;
}

/** The parts of a call that may differ from the provider's own text. */
function asSent(key: string, value: string, { event, callId, name }: PlannedItem): string {
  if (event.type !== "tool_call") return value;
  if (key === "id" && callId !== undefined) return JSON.stringify(callId);
  return key === "name" && name !== undefined && name !== event.name ? JSON.stringify(name) : value;
}

function translated({ event, callId, name }: PlannedItem): string {
  if (event.type === "tool_call") {
    const head = JSON.stringify({ type: "tool_use", id: callId ?? event.callId, name: name ?? event.name });
    return `${head.slice(0, -1)},"input":${objectArguments(event)}}`;
  }
  if (event.type !== "assistant_message") throw new Error(`a ${event.type} has no plain form`);
  return JSON.stringify({ type: "text", text: plainText(event) });
}

function userMessage(event: UserMessage, plan: Plan, context: RenderContext): RenderedElement {
  const parts = readyParts(event.content, plan.settings, context);
  // The API refuses a user message of white space only, as it does a model's (rule M14, home-assistant/core#175637).
  const speaks = parts.some((part) => part.kind === "text" && part.text.trim() !== "");
  const sent = parts.filter((part) => part.kind !== "text" || (speaks ? part.text : part.text.trim()) !== "");
  return message(sent.length === 0 ? [{ type: "text", text: "(empty)" }] : sent.map(contentBlock));
}

function contentBlock(part: ReadyPart): object {
  if (part.kind === "text") return { type: "text", text: part.text };
  if (part.kind === "image_url") return { type: "image", source: { type: "url", url: part.url } };
  const source = { type: "base64", media_type: part.mediaType, data: part.data };
  if (part.kind === "image") return { type: "image", source };
  if (part.mediaType === "application/pdf") return { type: "document", title: part.name, source };
  return { type: "text", text: fileAsText(part) };
}

function textMessage(text: string): RenderedElement {
  return message([{ type: "text", text }]);
}

function message(content: readonly object[]): RenderedElement {
  return {
    text: JSON.stringify({ role: "user", content }),
    sources: () => [{ path: "", itemType: "message" }],
  };
}
