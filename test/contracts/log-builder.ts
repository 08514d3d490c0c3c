/** Logs by value, for tests of the fold: no store, no clock, readable ids. */

import type {
  EventDraft,
  LoggedEvent,
  Origin,
  OverrideAction,
  OverrideScope,
  Profile,
  ResponseEnd,
  ResponseStatus,
  Settings,
  ToolStatus,
  Usage,
} from "../../src/base/events/index.ts";
import type { RawJson } from "../../src/base/support/index.ts";
import { PROFILES } from "../../src/runtime/providers/index.ts";

export const HOME: Origin = {
  provider: "openai",
  dialect: "openai-responses",
  model: "gpt-test",
  endpoint: "https://example.test/v1",
  credential: "abc",
};

export const settingsWith = (change: Partial<Settings> = {}, profile: Partial<Profile> = {}): Settings => ({
  target: HOME,
  tools: [],
  hosted: [],
  replay: "all",
  profile: { ...PROFILES["openai"], ...profile },
  capabilities: { reasoning: true, sampling: false, vision: true },
  parameters: {},
  renderer: 1,
  ...change,
});

/** One output item as its maker sends it. */
export interface ItemSpec {
  readonly type: "reasoning" | "message" | "call" | "custom" | "hosted" | "other";
  readonly id?: string | undefined;
  readonly text?: string;
  readonly refusal?: string;
  readonly callId?: string;
  readonly name?: string;
  readonly itemType?: string;
  readonly payload?: string | null;
  readonly outputIndex?: number;
}

export interface ResponseSpec {
  readonly items?: readonly ItemSpec[];
  readonly status?: ResponseStatus | "open";
  readonly step?: number;
  readonly attempt?: number;
  readonly origin?: Origin;
  readonly late?: ResponseEnd["late"];
  readonly prefixHash?: string;
  readonly usage?: Usage;
}

/** The event with its fields in the order in which a log writes them. */
export function inOrder(event: LoggedEvent): LoggedEvent {
  const { v, seq, id, at, epoch, turn, response, type, ...rest } = event;
  const own = { ...(turn === undefined ? {} : { turn }), ...(response === undefined ? {} : { response }) };
  return { v, seq, id, at, epoch, ...own, type, ...rest } as LoggedEvent;
}

export class LogBuilder {
  readonly events: LoggedEvent[] = [];
  #turn = 0;
  #responses = 0;
  #step = 0;

  get turn(): string {
    return `tn_${this.#turn}`;
  }

  get response(): string {
    return `rsp_${this.#responses}`;
  }

  get lastSeq(): number {
    return this.events.length - 1;
  }

  add(draft: EventDraft): this {
    const seq = this.events.length;
    const at = `2026-11-15T10:00:${String(seq % 60).padStart(2, "0")}.000Z`;
    this.events.push({ v: 1, seq, id: `ev_${seq}`, at, epoch: 1, ...draft });
    return this;
  }

  settings(change: Partial<Settings> = {}, profile: Partial<Profile> = {}): this {
    return this.add({ type: "settings", settings: settingsWith(change, profile) });
  }

  user(text: string, by: "person" | "runtime" = "person"): this {
    if (by === "person") {
      this.#turn += 1;
      this.#step = 0;
    }
    return this.add({ type: "user_message", turn: this.turn, by, content: [{ type: "text", text }] });
  }

  respond(spec: ResponseSpec = {}): this {
    this.#responses += 1;
    this.#step = spec.step ?? this.#step + 1;
    const { response, turn } = this;
    this.add({
      type: "response_start",
      turn,
      response,
      step: this.#step,
      attempt: spec.attempt ?? 1,
      origin: spec.origin ?? HOME,
      bodyHash: "b".repeat(64),
      prefixHash: spec.prefixHash ?? "p".repeat(64),
    });
    for (const [index, item] of (spec.items ?? []).entries()) this.item(item, index);
    if (spec.status === "open") return this;
    return this.add({
      type: "response_end",
      turn,
      response,
      status: spec.status ?? "completed",
      durationMs: 5,
      usage: spec.usage,
      ...(spec.late === undefined ? {} : { late: spec.late }),
    });
  }

  item(spec: ItemSpec, index: number): this {
    const { response, turn } = this;
    const id = "id" in spec ? spec.id : `${PREFIX[spec.type]}_${response}_${index}`;
    const itemType = spec.itemType ?? TYPE[spec.type];
    const envelope = {
      turn,
      response,
      outputIndex: spec.outputIndex ?? index,
      itemType,
      ...(id === undefined ? {} : { itemId: id }),
    };
    const raw = (fields: object): RawJson =>
      JSON.stringify({ ...(id === undefined ? {} : { id }), type: itemType, ...fields }) as RawJson;
    const { text = "", callId = `call_${response}_${index}`, name = "look" } = spec;
    switch (spec.type) {
      case "reasoning": {
        const payload = spec.payload === undefined ? `enc_${response}_${index}` : spec.payload;
        return this.add({
          ...envelope,
          type: "reasoning",
          opaque: payload !== null,
          parts: [],
          startedAt: "2026-11-15T10:00:00.000Z",
          durationMs: 1,
          item: raw({ summary: [], ...(payload === null ? {} : { encrypted_content: payload }) }),
        });
      }
      case "message":
        return this.add({
          ...envelope,
          type: "assistant_message",
          text,
          ...(spec.refusal === undefined ? {} : { refusal: spec.refusal }),
          item: raw({ role: "assistant", status: "completed", content: [{ type: "output_text", text }] }),
        });
      case "call":
      case "custom":
        return this.add({
          ...envelope,
          type: "tool_call",
          callId,
          name,
          arguments: text === "" ? "{}" : text,
          ...(spec.type === "custom" ? { custom: true as const } : {}),
          item: raw({ call_id: callId, name, arguments: text === "" ? "{}" : text, status: "completed" }),
        });
      case "hosted":
        return this.add({ ...envelope, type: "hosted_item", item: raw({ status: "completed" }) });
      case "other":
        return this.add({ ...envelope, type: "other_item", item: raw({}) });
      default:
        return this;
    }
  }

  start(callId: string, response = this.response): this {
    return this.add({
      type: "tool_start",
      turn: this.turn,
      response,
      callId,
      tool: "look",
      idempotencyKey: callId,
    });
  }

  result(callId: string, text = "done", status: ToolStatus = "ok", response = this.response): this {
    return this.add({ type: "tool_result", turn: this.turn, response, callId, status, text });
  }

  override(what: OverrideScope, action: OverrideAction, target: Origin = HOME): this {
    const cause = { code: "refused", message: "it was refused" };
    return this.add({ type: "replay_override", what, action, target, cause });
  }

  endTurn(): this {
    return this.add({
      type: "turn_end",
      turn: this.turn,
      status: "completed",
      steps: this.#step,
      usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
      durationMs: 1,
    });
  }

  branch(to: number): this {
    return this.add({ type: "branch", to, why: "undo" });
  }
}

const PREFIX = {
  reasoning: "rs",
  message: "msg",
  call: "fc",
  custom: "ctc",
  hosted: "ws",
  other: "xx",
} as const;
const TYPE = {
  reasoning: "reasoning",
  message: "message",
  call: "function_call",
  custom: "custom_tool_call",
  hosted: "web_search_call",
  other: "moon_phase",
} as const;
