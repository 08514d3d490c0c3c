/**
 * The next request of a log, without a session: fold, render, and get a strict emulator's verdict.
 *
 * @module
 */

import type { EventDraft, LoggedEvent, Settings } from "../../src/base/events/index.ts";
import { planOf } from "../../src/runtime/fold/index.ts";
import type { Model, RenderedRequest } from "../../src/runtime/providers/index.ts";
import { settingsFor } from "../../src/runtime/session/settings.ts";
import type { ModelName } from "./conversation.ts";
import { MODELS, practiceModel } from "./practice-models.ts";
import { practiceTools } from "./practice-tools.ts";

/** Events as a log would stamp them, after the existing ones. */
export function stamped(
  after: readonly LoggedEvent[],
  drafts: readonly EventDraft[],
): readonly LoggedEvent[] {
  return [
    ...after,
    ...drafts.map((draft, index) => {
      const seq = after.length + index;
      return { v: 1 as const, seq, id: `ev_test${seq}`, at: "2026-01-01T00:00:00.000Z", epoch: 9, ...draft };
    }),
  ];
}

export function userMessage(text: string): EventDraft {
  return { type: "user_message", turn: "tn_next", by: "person", content: [{ type: "text", text }] };
}

const tools = practiceTools({ began: () => undefined });

export function practiceSettings(model: Model, replay: Settings["replay"]): Settings {
  return settingsFor(model, { model, tools, system: "Be brief.", replay: { reasoning: replay } });
}

export function renderNext(events: readonly LoggedEvent[], settings: Settings): RenderedRequest {
  const plan = planOf(events, settings);
  if (plan === undefined) throw new Error("no plan");
  return practiceModel("home", "http://localhost/v1")
    .createRenderer()
    .render(plan, { cacheKey: "next", blob: () => undefined });
}

export function bodyText({ body }: RenderedRequest): string {
  return Buffer.concat(body).toString("utf8");
}

/** The key of the practice model that the target is. */
export function keyOf(settings: Settings): string {
  const names = Object.keys(MODELS) as ModelName[];
  const name = names.find((one) => {
    const { target } = practiceModel(one, settings.target.endpoint).settings;
    return target.model === settings.target.model && target.credential === settings.target.credential;
  });
  return MODELS[name ?? "home"].key;
}

/** Undefined if it was accepted, else what was wrong. */
export async function verdictOf(baseUrl: string, body: string, key: string): Promise<string | undefined> {
  const response = await fetch(`${baseUrl}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body,
  });
  const text = await response.text();
  return response.ok ? undefined : `${response.status} ${text}`;
}
