/** Previews: the exact next request, and what a switch of model would drop. */

import type { PreviewItem, RequestPreview, SwitchPreview } from "../../base/api/index.ts";
import type { LoggedEvent, Settings, SettingsEvent } from "../../base/events/index.ts";
import { arrayOf, codedError, isObject, objectOf, stringOf, tryParseJson } from "../../base/support/index.ts";
import { activePath, explain, planOf } from "../fold/index.ts";
import { BlobCache, type Log, rootOf } from "../log/index.ts";
import { createRenderer, type Model, type RenderContext } from "../providers/index.ts";
import { settingsFor } from "./settings.ts";

export interface PreviewParts extends RenderContext {
  readonly events: readonly LoggedEvent[];
  readonly model: Pick<Model, "createRenderer">;
  readonly settings: Settings;
}

export function previewRequest({ events, model, settings, cacheKey, blob }: PreviewParts): RequestPreview {
  const plan = planOf(events, settings);
  if (plan === undefined) throw codedError("no_settings", "the log has no settings yet");
  const rendered = model.createRenderer().render(plan, { cacheKey, blob });
  const body = Buffer.concat(rendered.body).toString("utf8");
  return {
    body,
    bodyHash: rendered.bodyHash,
    items: itemsOf(body),
    decisions: explain(events, rendered.entries),
    // Before a person has written, the request ends with the model's own text: not a fault of the history (C08).
    violations: rendered.violations.filter(({ rule }) => rule !== ENDS_WITH_A_USER),
  };
}

function isSettings(event: LoggedEvent): event is SettingsEvent {
  return event.type === "settings";
}

/** Returns the next request of a log, with its last settings or for another model. Sends nothing. */
export async function previewFromLog(log: Log, model?: Model): Promise<RequestPreview> {
  // An emptied path has no settings of its own; the next turn would log the previous ones again.
  const last = (activePath(log.events).findLast(isSettings) ?? log.events.findLast(isSettings))?.settings;
  if (last === undefined && model === undefined)
    throw codedError("no_settings", "the log has no settings yet: name a model");
  // Choices of the previous model that this one may leave open must not be carried over.
  const {
    effort: _effort,
    summary: _summary,
    reasoningContext: _context,
    maxOutputTokens: _limit,
    ...rest
  } = last ?? settingsFor(model as Model, { model: model as Model });
  const settings = model === undefined ? (last as Settings) : { ...rest, ...model.settings };
  const blobs = new BlobCache(log);
  await blobs.load();
  const renderer = createRenderer(settings.profile.dialect);
  return previewRequest({
    events: log.events,
    model: { createRenderer: () => renderer },
    settings,
    cacheKey: rootOf(log),
    blob: (name) => blobs.get(name),
  });
}

/** The rule that a request to Claude ends with a user message. */
const ENDS_WITH_A_USER = "M10";

const HEAD_LENGTH = 60;

function itemsOf(body: string): readonly PreviewItem[] {
  const parsed = objectOf(tryParseJson(body));
  return [...arrayOf(parsed["input"]), ...arrayOf(parsed["messages"]).flatMap(piecesOf)]
    .filter(isObject)
    .map((item) => ({
      type: stringOf(item["type"]) ?? "message",
      role: stringOf(item["role"]),
      bytes: Buffer.byteLength(JSON.stringify(item)),
      head: headOf(item),
    }));
}

/** A Claude message consists of its blocks, a chat message of its text and its calls. */
function piecesOf(message: unknown): readonly unknown[] {
  const { role, content, tool_calls: calls, ...rest } = objectOf(message);
  const blocks = arrayOf(content).filter(isObject);
  const called = arrayOf(calls)
    .filter(isObject)
    .map((call) => ({ type: "tool_call", role, ...objectOf(call["function"]) }));
  if (blocks.length > 0) return [...blocks.map((block) => ({ role, ...block })), ...called];
  const said = content === null ? [] : [{ role, content, ...rest }];
  return [...said, ...called];
}

/** The start of an item's readable text; never of a payload. */
function headOf(item: Readonly<Record<string, unknown>>): string {
  const content = item["content"];
  const first: unknown = Array.isArray(content) ? content[0] : content;
  const text =
    stringOf(item["output"]) ??
    stringOf(item["thinking"]) ??
    stringOf(item["text"]) ??
    (stringOf(item["name"]) === undefined
      ? undefined
      : `${String(item["name"])}(${stringOf(item["arguments"]) ?? ""})`) ??
    (isObject(first) ? (stringOf(first["text"]) ?? stringOf(first["refusal"])) : stringOf(first)) ??
    "";
  return text.replaceAll(/\s+/g, " ").slice(0, HEAD_LENGTH);
}

/** As it would be rendered: an endpoint may accept no thoughts back, and only its dialect knows. */
export function switchPreview(events: readonly LoggedEvent[], settings: Settings): SwitchPreview {
  const plan = planOf(events, settings);
  const renderer = createRenderer(settings.profile.dialect);
  const entries = plan === undefined ? [] : renderer.render(plan, NO_BLOBS).entries;
  const reasons: Record<string, number> = {};
  let kept = 0;
  let dropped = 0;
  for (const entry of entries) {
    if (entry.kind !== "group") continue;
    for (const { event, action, reason } of entry.items) {
      if (event.type !== "reasoning") continue;
      if (action === "replay") kept += 1;
      else {
        dropped += 1;
        reasons[reason] = (reasons[reason] ?? 0) + 1;
      }
    }
  }
  return { kept, dropped, reasons };
}

/** The blobs of messages do not affect which thoughts are kept. */
const NO_BLOBS = { cacheKey: "", blob: () => undefined } as const;
