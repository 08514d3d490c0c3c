/**
 * Builds logs of answers in any dialect, by value. Each answer goes through its dialect's own decoder, as in a session.
 *
 * @module
 */

import type { EventDraft, LoggedEvent, Origin, Profile, Settings } from "../../../src/base/events/index.ts";
import { type Plan, planOf } from "../../../src/runtime/fold/index.ts";
import { driverOf } from "../../../src/runtime/providers/dialects.ts";
import { capabilitiesOf, PROFILES, type RenderedRequest } from "../../../src/runtime/providers/index.ts";
import { type Answer, SPEAKERS, type Speaker } from "./speakers.ts";

type Dialect = Origin["dialect"];

function speakerOf(dialect: Dialect): Speaker {
  return SPEAKERS.find((speaker) => speaker.dialect === dialect) as Speaker;
}

export function settingsOf(profileName: string, change: Partial<Settings> = {}): Settings {
  const profile = PROFILES[profileName] as Profile;
  const target: Origin = {
    provider: profileName,
    dialect: profile.dialect,
    model: `model-of-${profileName}`,
    endpoint: `https://${profileName}.test`,
    credential: "abc",
  };
  return {
    target,
    tools: [],
    hosted: [],
    replay: "all",
    profile,
    capabilities: capabilitiesOf(profile.dialect, target.model),
    parameters: {},
    renderer: 1,
    ...change,
  };
}

const chunk = (delta: object, finish: string | null): string =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] });

export class SpokenLog {
  readonly events: LoggedEvent[] = [];
  #responses = 0;

  add(draft: EventDraft): this {
    const seq = this.events.length;
    this.events.push({
      v: 1,
      seq,
      id: `ev_${seq}`,
      at: "2026-01-01T00:00:00.000Z",
      epoch: 1,
      ...draft,
    });
    return this;
  }

  user(text: string): this {
    return this.add({ type: "user_message", turn: "tn", by: "person", content: [{ type: "text", text }] });
  }

  /** Adds an answer of the settings' model, with a result for every call unless told otherwise. */
  answer(
    settings: Settings,
    answer: Answer,
    options: { readonly results?: boolean; readonly field?: string } = {},
  ): this {
    const { field, results } = options;
    const frames = speakerOf(settings.target.dialect)
      .frames(answer)
      .map((data) =>
        (field === undefined ? data : data.replaceAll("reasoning_content", field))
          // No provider issues an id twice.
          .replaceAll(/"(rs|msg|fc)_(\d)/g, `"$1_${this.#responses + 1}$2`),
      );
    return this.#decoded(settings, frames, results);
  }

  /** Adds a chat completions answer, delta by delta as its vendor sends it. */
  stream(settings: Settings, deltas: readonly object[]): this {
    return this.#decoded(settings, [...deltas.map((delta) => chunk(delta, null)), chunk({}, "stop")]);
  }

  #decoded(settings: Settings, data: readonly string[], results?: boolean): this {
    const { target } = settings;
    this.#responses += 1;
    const base = { turn: "tn", response: `rsp_${this.#responses}` };
    const decoder = driverOf(target.dialect).createDecoder();
    const frames = data.map((text) => ({ event: "", data: text }));
    const events = [...decoder.feed(frames), ...decoder.close()];
    const { prefixHash } = this.render(settings);
    this.add({
      type: "response_start",
      ...base,
      step: this.#responses,
      attempt: 1,
      origin: target,
      bodyHash: "",
      prefixHash,
    });
    const calls: string[] = [];
    for (const event of events) {
      if (event.type === "item_done") {
        const draft = { ...event.draft, ...base };
        if (draft.type === "tool_call") calls.push(draft.callId);
        this.add(draft.type === "reasoning" ? { ...draft, startedAt: "", durationMs: 0 } : draft);
      } else if (event.type === "end")
        this.add({ type: "response_end", ...base, durationMs: 0, ...event.end });
    }
    if (results === false) return this;
    for (const callId of calls)
      this.add({ type: "tool_result", ...base, callId, status: "ok", text: `result of ${callId}` });
    return this;
  }

  plan(settings: Settings): Plan {
    return planOf(this.events, settings) as Plan;
  }

  render(settings: Settings): RenderedRequest {
    const renderer = driverOf(settings.profile.dialect).createRenderer();
    return renderer.render(this.plan(settings), { cacheKey: "root", blob: () => undefined });
  }
}

export function bodyOf(rendered: RenderedRequest): Record<string, unknown> {
  return JSON.parse(Buffer.concat(rendered.body).toString("utf8")) as Record<string, unknown>;
}

export function messagesOf(rendered: RenderedRequest): readonly Record<string, unknown>[] {
  const body = bodyOf(rendered);
  return (body["messages"] ?? body["input"]) as readonly Record<string, unknown>[];
}
