/**
 * The event sequence of a message, as recorded (failures.md §3): a ping after the first block has begun, and an empty
 * delta, first for a call and last for thinking.
 */

import { addAll, type JsonObject } from "../../../base/support/index.ts";
import { deltaTexts, type StreamEvent, type StreamForm } from "../../output/stream-event.ts";
import type { IssuedBlock } from "./issue.ts";

export function messageEvents(options: {
  readonly start: JsonObject;
  readonly blocks: readonly IssuedBlock[];
  readonly end: readonly StreamEvent[];
}): readonly StreamEvent[] {
  const events: StreamEvent[] = [{ body: { type: "message_start", message: options.start } }];
  for (const block of options.blocks) {
    const [first, ...rest] = blockEvents(block);
    if (first !== undefined) events.push(first);
    if (block.index === 0) events.push({ body: { type: "ping" } });
    addAll(events, rest);
  }
  return [...events, ...options.end];
}

function blockEvents(one: IssuedBlock): readonly StreamEvent[] {
  const { index, final } = one;
  const delta = (body: JsonObject): StreamEvent => ({
    body: { type: "content_block_delta", index, delta: body },
    item: index,
    delta: true,
  });
  return [
    {
      body: { type: "content_block_start", index, content_block: opened(one) },
      whole: { type: "content_block_start", index, content_block: final },
      item: index,
    },
    ...deltasOf(final, one).map(delta),
    { body: { type: "content_block_stop", index }, item: index },
  ];
}

/** The block as it begins; a block without deltas is sent whole. */
function opened({ final }: IssuedBlock): JsonObject {
  switch (final["type"]) {
    case "text":
      return { type: "text", text: "" };
    case "thinking":
      return { type: "thinking", thinking: "", signature: "" };
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return { ...final, input: {} };
    case "compaction":
      return { ...final, content: null };
    default:
      return final;
  }
}

function deltasOf(final: JsonObject, one: IssuedBlock): readonly JsonObject[] {
  switch (final["type"]) {
    case "text":
      return [
        ...one.citations.map((citation) => ({ type: "citations_delta", citation })),
        ...deltaTexts(String(final["text"])).map((text) => ({ type: "text_delta", text })),
      ];
    case "thinking": {
      const text = String(final["thinking"]);
      const said = deltaTexts(text).map((thinking) => ({ type: "thinking_delta", thinking }));
      const last = said.length === 0 ? [] : [{ type: "thinking_delta", thinking: "" }];
      return [...said, ...last, { type: "signature_delta", signature: final["signature"] }];
    }
    case "compaction": {
      const { content = null, encrypted_content = null } = final;
      return [{ type: "compaction_delta", content, encrypted_content }];
    }
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return ["", ...deltaTexts(one.inputText ?? "")].map((partial) => ({
        type: "input_json_delta",
        partial_json: partial,
      }));
    default:
      return [];
  }
}

export const streamForm: StreamForm = {
  named: true,
  numbered: false,
  doneMarker: false,
  surprise: { type: "emulator_surprise", note: "clients ignore what they do not know" },
  keepalive: { type: "ping" },
  ofAnother: (event) =>
    event.body["type"] === "message_start"
      ? { ...event, body: { ...event.body, message: ofAnother(event.body["message"]) } }
      : event,
  alter(list, fault) {
    // C14: a gateway that swallows the signature.
    if (fault.type === "late-ciphertext")
      return list.filter((event) => deltaType(event) !== "signature_delta");
    return fault.type === "done-only" ? wholeBlocks(list) : list;
  },
};

function ofAnother(message: unknown): unknown {
  return { ...(message as JsonObject), id: "msg_011dead0dead0dead0dead00" };
}

function deltaType(event: StreamEvent): unknown {
  return (event.body["delta"] as JsonObject | undefined)?.["type"];
}

/** As some gateways do: the block whole at its start, and no deltas. */
function wholeBlocks(list: readonly StreamEvent[]): readonly StreamEvent[] {
  return list
    .filter((event) => event.body["type"] !== "content_block_delta")
    .map((event) => (event.whole === undefined ? event : { ...event, body: event.whole }));
}
