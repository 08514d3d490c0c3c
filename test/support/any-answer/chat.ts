/** Random answers of chat-completions servers: each profile's thoughts, text, calls with odd ids and arguments. */

import fc from "fast-check";

import { chunk, DONE } from "../../recordings/odd-answers/chat.ts";
import type { AnswerSpec, Built, Maker } from "./maker.ts";
import { HOW_IT_ARRIVES, TOOL_NAMES } from "./maker.ts";

const piece = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      k: fc.constantFrom(
        "reasoning_content",
        "reasoning",
        "reasoning_text",
        "details",
        "sealed",
        "part",
        "invented",
      ),
      text: fc.constantFrom("Hm.", "", "\n"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      k: fc.constantFrom("content", "content", "content", "parts", "refusal", "inline"),
      text: fc.constantFrom("Well.", "", "\n\n"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      k: fc.constantFrom("call", "call", "call", "old_call"),
      name: fc.constantFrom(...TOOL_NAMES),
      input: fc.constantFrom('{"city":"Rome"}', "{}", "", '{"city":', "[1]", '"Rome"', "null", "NaN"),
      id: fc.constantFrom("own", "own", "own", "same", "empty", "none", "long", "kimi", "odd"),
      index: fc.constantFrom("count", "count", "zero", "none"),
    }),
  },
);

export interface ChatSpec extends AnswerSpec {
  readonly pieces: readonly Readonly<Record<string, unknown>>[];
  readonly finish: string | null;
}

export const chatSpec: fc.Arbitrary<ChatSpec> = fc.record({
  pieces: fc.array(piece, { maxLength: 6 }),
  finish: fc.constantFrom(
    "fit",
    "fit",
    "fit",
    "fit",
    "stop",
    "tool_calls",
    "length",
    "content_filter",
    "tired",
    null,
  ),
  ...HOW_IT_ARRIVES,
});

export function chatAnswer(spec: ChatSpec, maker: Maker): Built {
  const id = `chatcmpl-${maker.next()}`;
  const say = (delta: object, finish: string | null = null): string => chunk(delta, finish, id);
  const events: string[] = [say({ role: "assistant", content: null })];
  let calls = 0;
  for (const one of spec.pieces) {
    const n = maker.next();
    switch (one["k"]) {
      case "details":
        events.push(
          say({
            reasoning_details: [
              {
                type: "reasoning.text",
                index: 0,
                text: one["text"],
                signature: `sig${n}`,
                format: "anthropic-claude-v1",
              },
            ],
          }),
        );
        break;
      case "sealed":
        events.push(
          say({
            reasoning_details: [{ type: "reasoning.encrypted", id: `rs_${n}`, index: 0, data: `AAAA${n}` }],
          }),
        );
        break;
      case "part":
        events.push(
          say({ content: [{ type: "thinking", thinking: [{ type: "text", text: one["text"] }] }] }),
        );
        break;
      case "parts":
        events.push(say({ content: [{ type: "text", text: one["text"] }] }));
        break;
      case "inline":
        events.push(say({ content: `<think>Hm.</think>${String(one["text"])}` }));
        break;
      case "invented":
        events.push(say({ hologram: { voxels: "x" } }));
        break;
      case "call":
        events.push(
          say({
            tool_calls: [
              {
                ...(one["index"] === "none" ? {} : { index: one["index"] === "zero" ? 0 : calls }),
                ...callId(one["id"], n, calls),
                type: "function",
                function: { name: one["name"], arguments: one["input"] },
              },
            ],
          }),
        );
        calls += 1;
        break;
      case "old_call":
        events.push(say({ function_call: { name: one["name"], arguments: one["input"] } }));
        break;
      default:
        events.push(say({ [String(one["k"])]: one["text"] }));
    }
  }
  const finish = spec.finish === "fit" ? (calls > 0 ? "tool_calls" : "stop") : spec.finish;
  return { events: [...events, say({}, finish), DONE], payloads: [] };
}

function callId(how: unknown, n: number, calls: number): object {
  switch (how) {
    case "same":
      return { id: "call_0" };
    case "empty":
      return { id: "" };
    case "none":
      return {};
    case "long":
      return { id: `call_${n}__thought__${"QUJD".repeat(60)}` };
    case "kimi":
      return { id: `functions.get_weather:${calls}` };
    case "odd":
      return { id: `chat:cmpl/ü ${n}` };
    default:
      return { id: `call_${n}` };
  }
}
