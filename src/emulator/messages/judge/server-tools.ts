/**
 * Tools that the API runs itself (C19, C17). A call and its result are in one assistant turn, which lasts from one user
 * text to the next, however many results of client tools come between. A call that waits at the very end is resumed.
 */

import { type JsonObject, objectOf, stringOf } from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import type { Switches } from "../../switches.ts";
import { containerRequired, serverResultMissing, unexpectedServerResult } from "../refusals.ts";
import { isServerCall, isServerResult, resultTypeOf } from "../vocabulary.ts";
import type { LocatedBlock } from "./context.ts";
import type { JoinedMessage } from "./tool-rules.ts";

export interface ServerTools {
  readonly refusals: readonly ApiRefusal[];
  /** Calls whose result the answer to this request will contain. */
  readonly pending: readonly LocatedBlock[];
}

export function judgeServerTools(
  messages: readonly JoinedMessage[],
  options: { readonly body: JsonObject; readonly switches: Switches },
): ServerTools {
  const refusals: ApiRefusal[] = [];
  let calls: LocatedBlock[] = [];
  let answered = new Set<string>();
  const unanswered = (): readonly LocatedBlock[] =>
    calls.filter(({ block, type }) => isServerCall(type) && !answered.has(idOf(block)));
  for (const message of messages) {
    if (endsTurn(message)) {
      for (const { path, block } of unanswered())
        refusals.push(
          serverResultMissing(path, { name: nameOf(block), id: idOf(block), type: resultTypeOf(block) }),
        );
      calls = [];
      answered = new Set();
    } else if (message.role === "assistant") {
      for (const one of message.blocks) {
        if (isServerCall(one.type) || one.type === "tool_use") calls.push(one);
        if (!isServerResult(one.type)) continue;
        const id = stringOf(one.block["tool_use_id"]) ?? "";
        if (calls.some(({ block, type }) => isServerCall(type) && idOf(block) === id)) answered.add(id);
        else refusals.push(unexpectedServerResult(one.path, one.type, id));
      }
    }
  }
  const pending = unanswered();
  if (needsContainer(pending, calls, options.switches) && containerOf(options.body) === undefined)
    refusals.push(containerRequired());
  return { refusals, pending };
}

/** Anything but results of client tools ends the assistant's turn (docs, handling stop reasons). */
function endsTurn({ role, blocks }: JoinedMessage): boolean {
  return role === "user" && blocks.some(({ type }) => type !== "tool_result");
}

/**
 * C17: waiting code lives in a container. One report saw such a request pass if the code had made no calls
 * (anthropic-sdk-python#1801), hence the switch.
 */
function needsContainer(
  pending: readonly LocatedBlock[],
  calls: readonly LocatedBlock[],
  { pendingContainer }: Switches,
): boolean {
  const runs = pending.some(({ block }) => nameOf(block).endsWith("code_execution") || isGenerated(block));
  return runs && (pendingContainer === "always" || calls.some(({ block }) => isGenerated(block)));
}

/** Whether code in the container made the call, not the model. */
function isGenerated(block: JsonObject): boolean {
  return String(objectOf(block["caller"])["type"]).startsWith("code_execution");
}

/** The container a request names; it may request skills without naming one. */
export function containerOf({ container }: JsonObject): string | undefined {
  return stringOf(container) ?? stringOf(objectOf(container)["id"]);
}

function idOf(block: JsonObject): string {
  return stringOf(block["id"]) ?? "";
}

function nameOf(block: JsonObject): string {
  return stringOf(block["name"]) ?? "";
}
