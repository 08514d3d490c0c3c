/** A decoded response as a log, and the request that follows from it. */

import type { EventDraft, LoggedEvent, Origin, Profile, Settings } from "../../src/base/events/index.ts";
import { type Plan, planOf } from "../../src/runtime/fold/index.ts";
import { memoryStore } from "../../src/runtime/log/index.ts";
import { PROFILES, type RenderedRequest } from "../../src/runtime/providers/index.ts";
import { openaiResponses } from "../../src/runtime/providers/openai-responses/index.ts";
import type { Decoded } from "./recordings.ts";

export const HOME: Origin = {
  provider: "openai",
  dialect: "openai-responses",
  model: "test-model",
  endpoint: "https://example.test/v1",
  credential: "abc",
};

export function settingsOf(profile: string, target: Origin = HOME): Settings {
  return {
    target,
    tools: [],
    hosted: [],
    replay: "all",
    profile: PROFILES[profile] as Profile,
    capabilities: { reasoning: true, sampling: false, vision: true },
    parameters: {},
    renderer: 1,
  };
}

/** One turn whose steps are these responses, every call answered, then another message. */
export async function logOf(
  responses: readonly Decoded[],
  settings: Settings,
): Promise<readonly LoggedEvent[]> {
  const log = await memoryStore().open("recorded", { mode: "write" });
  const turn = "tn_1";
  const user = (text: string): EventDraft => ({
    type: "user_message",
    turn,
    by: "person",
    content: [{ type: "text", text }],
  });
  const drafts: EventDraft[] = [
    { type: "session_start", session: "recorded", root: "recorded", writer: "test" },
    { type: "settings", settings },
    user("Hello."),
  ];
  for (const [index, { items, end }] of responses.entries()) {
    const response = `rsp_${index}`;
    drafts.push({
      type: "response_start",
      turn,
      response,
      step: index + 1,
      attempt: 1,
      origin: HOME,
      bodyHash: "",
      prefixHash: "",
    });
    for (const item of items) {
      const base = { ...item, turn, response };
      drafts.push(
        base.type === "reasoning" ? { ...base, startedAt: "2026-01-01T00:00:00.000Z", durationMs: 1 } : base,
      );
    }
    drafts.push({ type: "response_end", turn, response, durationMs: 1, ...(end ?? { status: "cut" }) });
    for (const item of items) {
      if (item.type !== "tool_call") continue;
      drafts.push({ type: "tool_result", turn, response, callId: item.callId, status: "ok", text: "done" });
    }
  }
  await log.append([...drafts, user("And now?")]);
  return log.events;
}

export function render(events: readonly LoggedEvent[], settings?: Settings): RenderedRequest {
  const plan = planOf(events, settings) as Plan;
  return openaiResponses.createRenderer().render(plan, { cacheKey: "recorded", blob: () => undefined });
}

export function inputTexts(rendered: RenderedRequest): readonly Record<string, unknown>[] {
  const body = JSON.parse(Buffer.concat(rendered.body).toString("utf8")) as {
    readonly input: readonly Record<string, unknown>[];
  };
  return body.input;
}
