/** Turns canonical and ephemeral events into fragments. Stateless: each event is complete in itself. */

import type {
  AssistantMessage,
  CanonicalEvent,
  EphemeralEvent,
  InputPart,
  PartialItem,
  Reasoning,
  SessionEvent,
  ToolCall,
} from "../../base/events/index.ts";
import { elicitationOf, isEphemeral, shownParts } from "../../base/events/index.ts";
import { assertNever } from "../../base/support/index.ts";
import { formatDuration } from "./duration.ts";
import { type Fragment, itemKey } from "./fragment.ts";
import { splitPart } from "./reasoning-text.ts";

/** Returns the fragments of one event. Many events have none. */
export function fragmentsOf(event: SessionEvent): readonly Fragment[] {
  if (event.type === "unknown") return [];
  return isEphemeral(event) ? live(event) : history(event);
}

function live(event: EphemeralEvent): readonly Fragment[] {
  const item = "outputIndex" in event ? itemKey(event.response, event.outputIndex) : "";
  switch (event.type) {
    case "reasoning_start":
      return [{ type: "reasoning_start", item, response: event.response, final: false }];
    case "reasoning_part_start":
      return [{ type: "reasoning_part_start", item, part: event.part, title: event.title }];
    case "reasoning_delta":
      return [{ type: "reasoning_delta", item, part: event.part, text: event.delta }];
    case "reasoning_end":
      return [
        { type: "reasoning_end", item, seq: undefined, startedAt: undefined, durationMs: event.durationMs },
      ];
    case "text_start":
      return [{ type: "text_start", item, response: event.response, final: false, phase: event.phase }];
    case "text_delta":
      return [{ type: "text_delta", item, text: event.delta }];
    case "text_end":
      return [{ type: "text_end", item, seq: undefined }];
    case "tool_call_start":
      return [{ type: "tool_call_start", item, response: event.response, final: false, name: event.name }];
    case "tool_call_delta":
      return [{ type: "tool_call_delta", item, text: event.delta }];
    case "tool_progress":
      return [{ type: "tool_progress", response: event.response, callId: event.callId, text: event.text }];
    case "retry": {
      const text = `${event.error.message}; attempt ${event.attempt} in ${formatDuration(event.delayMs)}`;
      const key = `retry/${event.response}`;
      return [{ type: "notice", seq: undefined, key, code: "retry", text, waitMs: event.delayMs }];
    }
    case "reset":
      return [{ type: "reset" }];
    case "usage":
      return []; // the canonical response_end has this
    default:
      return assertNever(event, "live event");
  }
}

function history(event: CanonicalEvent): readonly Fragment[] {
  switch (event.type) {
    case "user_message":
      return [
        {
          type: "user",
          seq: event.seq,
          at: event.at,
          turn: event.turn,
          text: textOf(event.content),
          by: event.by,
          ...(event.steer === undefined ? {} : { steer: true }),
          ...(event.purpose === undefined ? {} : { purpose: event.purpose }),
        },
      ];
    case "response_start": {
      const { seq, at, response, turn, step, attempt, origin } = event;
      return [{ type: "response_start", seq, at, response, turn, step, attempt, origin }];
    }
    case "reasoning":
      return reasoning(event);
    case "assistant_message":
      return message(event);
    case "tool_call":
      return toolCall(event);
    case "partial":
      return partial(event);
    case "response_end":
      return [{ type: "response_end", response: event.response, status: event.status, usage: event.usage }];
    case "permission_request": {
      const { response, callId, at, requestId, arguments: text, argumentsHash, rule, mcp, changed } = event;
      return [
        {
          type: "permission_request",
          response,
          callId,
          at,
          requestId,
          arguments: text,
          argumentsHash,
          rule,
          ...(mcp === undefined ? {} : { mcp }),
          ...(changed === true ? { changed } : {}),
        },
      ];
    }
    case "permission_decision": {
      const { response, callId, at, decision } = event;
      return [{ type: "permission_decision", response, callId, at, decision }];
    }
    case "elicitation_request": {
      const { response, callId, at, requestId } = event;
      return [{ type: "elicitation_request", response, callId, at, requestId, asked: elicitationOf(event) }];
    }
    case "elicitation_answer": {
      const { response, callId, at, requestId, action, by } = event;
      return [{ type: "elicitation_answer", response, callId, at, requestId, action, by }];
    }
    case "tool_start": {
      const { response, callId, at, arguments: text } = event;
      return [
        { type: "tool_start", response, callId, at, ...(text === undefined ? {} : { arguments: text }) },
      ];
    }
    case "tool_result": {
      const { response, callId, at, status, text, durationMs, parts, forPerson } = event;
      const sessions = event.spent?.map(({ session }) => session);
      const more = {
        ...(parts === undefined ? {} : { images: parts }),
        ...(forPerson === undefined ? {} : { forPerson }),
      };
      return [{ type: "tool_output", response, callId, at, status, text, durationMs, sessions, ...more }];
    }
    case "notice":
      return [{ type: "notice", seq: event.seq, key: event.id, code: event.code, text: event.message }];
    case "compaction": {
      const text =
        event.summary === "" ? "earlier messages are no longer sent" : "earlier messages were summarised";
      return [{ type: "notice", seq: event.seq, key: event.id, code: "compaction", text }];
    }
    case "permission_rule": {
      const text = `${event.removed === true ? "no longer allowed" : "allowed"} in this session: ${event.rule}`;
      return [{ type: "notice", seq: event.seq, key: event.id, code: "permission_rule", text }];
    }
    case "branch":
      return [{ type: "branch", seq: event.seq, to: event.to, why: event.why }];
    case "turn_end": {
      const { seq, at, turn, status, reason, error, steps, usage, durationMs } = event;
      return [{ type: "turn_end", seq, at, turn, status, reason, error, steps, usage, durationMs }];
    }
    case "hosted_item":
      return [{ type: "notice", seq: event.seq, key: event.id, code: "hosted_item", text: event.itemType }];
    case "session_start": {
      const { seq, id, parent } = event;
      if (parent?.call === undefined) return [];
      const text = `a sub-agent of session ${parent.session}, called by its event ${parent.seq}`;
      return [{ type: "notice", seq, key: id, code: "sub_agent", text }];
    }
    case "settings": {
      const tools = event.settings.tools.flatMap(({ name, mcp }) =>
        mcp === undefined ? [] : [{ name, mcp }],
      );
      return tools.length === 0 ? [] : [{ type: "tools", tools }];
    }
    case "title":
    case "other_item":
    case "replay_override":
      return []; // for programs; a notice says what the user needs to know
    default:
      return assertNever(event, "event");
  }
}

function reasoning(event: Reasoning): readonly Fragment[] {
  const item = itemKey(event.response, event.outputIndex);
  return [
    { type: "reasoning_start", item, response: event.response, final: true },
    ...event.parts.flatMap(({ text }, part) => partFragments(item, part, text)),
    { type: "reasoning_end", item, seq: event.seq, startedAt: event.startedAt, durationMs: event.durationMs },
  ];
}

function partFragments(item: string, part: number, text: string): readonly Fragment[] {
  return [
    { type: "reasoning_part_start", item, part, title: splitPart(text, true).title },
    { type: "reasoning_delta", item, part, text },
  ];
}

function message(event: AssistantMessage): readonly Fragment[] {
  const item = itemKey(event.response, event.outputIndex);
  return [
    { type: "text_start", item, response: event.response, final: true, phase: event.phase },
    { type: "text_delta", item, text: event.text === "" ? (event.refusal ?? "") : event.text },
    { type: "text_end", item, seq: event.seq },
  ];
}

function toolCall(event: ToolCall): readonly Fragment[] {
  const item = itemKey(event.response, event.outputIndex);
  return [
    { type: "tool_call_start", item, response: event.response, final: true, name: event.name },
    { type: "tool_call_delta", item, text: event.arguments },
    { type: "tool_call_end", item, seq: event.seq, callId: event.callId },
  ];
}

/** The seen part of an item that never finished: started, filled, and left open until its response ends. */
function partial(event: PartialItem): readonly Fragment[] {
  const item = itemKey(event.response, event.outputIndex);
  const { response } = event;
  const whole = event.parts.join("");
  switch (event.kind) {
    case "reasoning":
      return [
        { type: "reasoning_start", item, response, final: true },
        ...event.parts.flatMap((text, part) => partFragments(item, part, text)),
      ];
    case "text":
      return [
        { type: "text_start", item, response, final: true, phase: undefined },
        { type: "text_delta", item, text: whole },
      ];
    case "tool_call":
      return [
        { type: "tool_call_start", item, response, final: true, name: event.name ?? "" },
        { type: "tool_call_delta", item, text: whole },
      ];
    default:
      return assertNever(event.kind, "kind of item");
  }
}

function textOf(content: readonly InputPart[]): string {
  return shownParts(content).join("\n");
}
