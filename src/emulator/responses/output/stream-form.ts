/** How the Responses API writes its stream, and the faults that only its events can show. */

import { isObject, type JsonObject } from "../../../base/support/index.ts";
import type { Fault } from "../../faults/fault.ts";
import type { StreamEvent, StreamForm } from "../../output/stream-event.ts";

export function streamForm(doneMarker: boolean): StreamForm {
  return {
    named: true,
    numbered: true,
    doneMarker,
    surprise: { type: "response.emulator_surprise", note: "clients ignore what they do not know", depth: 1 },
    keepalive: { type: "keepalive" },
    ofAnother: (event) => rotated(event, "another", 55),
    alter,
  };
}

function alter(list: readonly StreamEvent[], fault: Fault, seed: string): readonly StreamEvent[] {
  if (fault.type === "late-ciphertext")
    return list.map((event) => (isItemEvent(event) ? withoutCiphertext(event) : event));
  if (fault.type === "rotate-ids")
    return list.map((event, index) => rotated(event, `${seed}${index}`, fault.length ?? 416));
  if (fault.type === "done-only")
    return list.filter((event) => event.item === undefined || isItemEvent(event));
  if (fault.type === "empty-output") return withTerminal(list, { output: [] });
  return fault.type === "missing-output" ? withTerminal(list, { output: undefined }) : list;
}

function withTerminal(list: readonly StreamEvent[], change: JsonObject): readonly StreamEvent[] {
  return list.map((event) => (event.terminal === undefined ? event : withResponse(event, change)));
}

function isItemEvent(event: StreamEvent): boolean {
  return String(event.body["type"]).startsWith("response.output_item.");
}

function withResponse(event: StreamEvent, change: JsonObject): StreamEvent {
  const response = isObject(event.body["response"]) ? event.body["response"] : {};
  return { ...event, body: { ...event.body, response: { ...response, ...change } } };
}

function withoutCiphertext(event: StreamEvent): StreamEvent {
  if (!isObject(event.body["item"])) return event;
  const { encrypted_content: _, ...item } = event.body["item"];
  return { ...event, body: { ...event.body, item } };
}

/** Copilot's ids are long and change from event to event; only output_index identifies an item (I08). */
function rotated(event: StreamEvent, seed: string, length: number): StreamEvent {
  const body = { ...event.body } as Record<string, unknown>;
  const fresh = (salt: string): string =>
    Buffer.from(`${seed}:${salt}:`.repeat(Math.ceil(length / 4)))
      .toString("base64url")
      .slice(0, length);
  if (typeof body["item_id"] === "string") body["item_id"] = fresh("item_id");
  if (isObject(body["item"])) body["item"] = { ...body["item"], id: fresh("item") };
  if (isObject(body["response"])) {
    const output: unknown = body["response"]["output"];
    body["response"] = {
      ...body["response"],
      id: fresh("response"),
      output: Array.isArray(output)
        ? output.map((item: unknown, index) =>
            isObject(item) ? { ...item, id: fresh(`output${index}`) } : item,
          )
        : output,
    };
  }
  return { ...event, body };
}
