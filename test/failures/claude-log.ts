/** Logs of Claude answers by their blocks, without a session: each goes through the decoder, as in a session. */

import type { EventDraft, LoggedEvent, Settings } from "../../src/base/events/index.ts";
import { type Plan, planOf } from "../../src/runtime/fold/index.ts";
import { anthropicMessages, MessagesDecoder } from "../../src/runtime/providers/anthropic-messages/index.ts";
import type { RenderedRequest } from "../../src/runtime/providers/index.ts";
import { settingsOf } from "../contracts/dialects/spoken-log.ts";
import { type ClaudeAnswer, messageEvents } from "./claude-harness.ts";
import type { Json } from "./harness.ts";

export const CLAUDE: Settings = settingsOf("anthropic");

export class ClaudeLog {
  readonly events: LoggedEvent[] = [];
  readonly settings: Settings;
  #responses = 0;
  #steps = 0;

  constructor(settings: Settings = CLAUDE) {
    this.settings = settings;
    this.add({ type: "settings", settings });
  }

  add(draft: EventDraft, at = "2026-01-01T00:00:00.000Z"): this {
    const seq = this.events.length;
    this.events.push({ v: 1, seq, id: `ev_${seq}`, at, epoch: 1, ...draft });
    return this;
  }

  user(text = "Go on.", at?: string): this {
    return this.add(
      { type: "user_message", turn: "tn", by: "person", content: [{ type: "text", text }] },
      at,
    );
  }

  /** Adds an answer with these blocks; calls to our tools get results. */
  answer(blocks: readonly Json[], answer: ClaudeAnswer & { readonly attempt?: number } = {}): this {
    const decoder = new MessagesDecoder();
    const frames = messageEvents(blocks, answer).map((event) => ({ event: "", data: JSON.stringify(event) }));
    const { prefixHash } = this.render();
    this.#responses += 1;
    if (answer.attempt === undefined) this.#steps += 1;
    const base = { turn: "tn", response: `rsp_${this.#responses}` };
    const origin = this.settings.target;
    const start = {
      ...base,
      step: this.#steps,
      attempt: answer.attempt ?? 1,
      origin,
      bodyHash: "",
      prefixHash,
    };
    this.add({ type: "response_start", ...start });
    const calls: string[] = [];
    for (const event of [...decoder.feed(frames), ...decoder.close()]) {
      if (event.type === "end") this.add({ type: "response_end", ...base, durationMs: 0, ...event.end });
      if (event.type !== "item_done") continue;
      const draft = { ...event.draft, ...base };
      if (draft.type === "tool_call") calls.push(draft.callId);
      this.add(draft.type === "reasoning" ? { ...draft, startedAt: "", durationMs: 0 } : draft);
    }
    for (const callId of calls)
      this.add({ type: "tool_result", ...base, callId, status: "ok", text: `result of ${callId}` });
    return this;
  }

  /** Adds a response that never ended well. */
  broken(): this {
    const base = { turn: "tn", response: `rsp_${(this.#responses += 1)}` };
    const origin = this.settings.target;
    this.#steps += 1;
    const hashes = { bodyHash: "", prefixHash: "" };
    this.add({ type: "response_start", ...base, step: this.#steps, attempt: 1, origin, ...hashes });
    return this.add({ type: "response_end", ...base, status: "cut", durationMs: 0 });
  }

  plan(settings = this.settings): Plan {
    return planOf(this.events, settings) as Plan;
  }

  render(settings = this.settings): RenderedRequest {
    const renderer = anthropicMessages.createRenderer();
    return renderer.render(this.plan(settings), { cacheKey: "k", blob: () => undefined });
  }

  body(settings = this.settings): Json {
    return JSON.parse(Buffer.concat(this.render(settings).body).toString("utf8")) as Json;
  }
}
