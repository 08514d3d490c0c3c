/**
 * Checks the order of messages: every call is answered next, no answer lacks its call, and roles are in the vendor's
 * order. Stateless.
 */

import type { ChatMessage } from "./messages.ts";
import {
  type ChatRefusal,
  lastRole,
  strayResult,
  successiveRoles,
  unansweredCalls,
  unexpectedRole,
  unknownCall,
} from "./refusals.ts";
import type { ChatRequest } from "./request-shape.ts";

export function checkOrder(request: ChatRequest): readonly ChatRefusal[] {
  return [...checkToolMessages(request), ...checkRoles(request)];
}

/** T01, T02, T10: results directly follow the message that called, one per call, in any order. */
function checkToolMessages({ messages, chat }: ChatRequest): readonly ChatRefusal[] {
  const refusals: ChatRefusal[] = [];
  const { vendor } = chat;
  let open: Set<string> | undefined;
  let known = new Set<string>();
  const close = (index: number): void => {
    if (open !== undefined && open.size > 0) refusals.push(unansweredCalls(vendor, index, [...open]));
    open = undefined;
  };
  for (const { role, index, calls, callId } of messages) {
    if (role !== "tool") {
      close(index);
      if (role === "assistant" && calls.length > 0) {
        open = new Set(calls.map(({ id }) => id));
        known = new Set(open);
      }
      continue;
    }
    const id = callId ?? "";
    if (open === undefined) {
      // Mistral reports this as a role error.
      if (vendor !== "mistral") refusals.push(strayResult(vendor, "T02", index));
    } else if (!open.delete(id)) {
      refusals.push(known.has(id) ? strayResult(vendor, "T10", index) : unknownCall(vendor, index, id));
    }
  }
  close(messages.length);
  return refusals;
}

function checkRoles({ messages, chat, model }: ChatRequest): readonly ChatRefusal[] {
  if (chat.roleOrder === "free") return [];
  const refusals: ChatRefusal[] = [];
  const said = messages.filter(({ role }) => role !== "system" && role !== "developer");
  for (const [at, message] of said.entries()) {
    const before = said[at - 1];
    if (before === undefined) continue;
    if (chat.roleOrder === "alternating") {
      const same = message.role === before.role && (message.role === "user" || message.role === "assistant");
      if (same) refusals.push(successiveRoles(model, message.index));
    } else if (!mayFollow(message, before)) {
      refusals.push(unexpectedRole(message.role, before.role));
    }
  }
  const last = said.at(-1);
  if (chat.roleOrder === "after-tool" && last?.role === "assistant" && last.raw["prefix"] !== true)
    refusals.push(lastRole("assistant"));
  return refusals;
}

/** Results follow calls, and only the model speaks after them. */
function mayFollow(message: ChatMessage, before: ChatMessage): boolean {
  if (message.role === "tool") return before.role === "tool" || before.calls.length > 0;
  return before.role !== "tool" || message.role === "assistant";
}
