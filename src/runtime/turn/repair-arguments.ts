/**
 * Asks the agent's hook `repairArguments` for the arguments of a call that do not parse or do not fit its tool. The call
 * stays in the log as the model wrote it, and goes back to the provider like that; `tool_start` records what the tool ran
 * with. A hook that fails repairs nothing: the model learns what is wrong with its own text, as without a hook.
 */

import {
  eventsWhere,
  type PermissionRequest,
  type ToolCall,
  type ToolStart,
} from "../../base/events/index.ts";
import { messageOf, shown, untilAborted } from "../../base/support/index.ts";
import type { TurnContext } from "./context.ts";

/** Arguments that do not parse as a JSON object, or that the tool's schema refuses. */
export interface ArgumentsToRepair {
  /** The name of the tool. */
  readonly tool: string;
  /** The provider's id of the call. */
  readonly callId: string;
  /** The exact text from the model. */
  readonly arguments: string;
  /** What is wrong with it, as the model would read it. */
  readonly problem: string;
  /** Aborted when the turn is cancelled or runs out of time. */
  readonly signal: AbortSignal;
}

/** Returns the repaired JSON text, or undefined to leave the arguments as they are. */
export type RepairArguments = (call: ArgumentsToRepair) => Promise<string | undefined> | string | undefined;

/** Returns the text to use instead of the call's own. Undefined if there is none, or the turn was stopped meanwhile. */
export async function repairedText(
  context: TurnContext,
  call: ToolCall,
  problem: string,
): Promise<string | undefined> {
  const before = context.resumed === true ? repairedBefore(context, call) : undefined;
  if (before !== undefined || context.repairArguments === undefined) return before;
  const { repairArguments, signal } = context;
  const { name: tool, callId, arguments: text } = call;
  const ask = async (): Promise<unknown> =>
    repairArguments({ tool, callId, arguments: text, problem, signal });
  try {
    const answer = await untilAborted(ask(), signal);
    if (answer === undefined || answer === text) return undefined;
    if (typeof answer === "string") return answer;
    await notRepaired(context, call, `returned ${shown(answer)}, not a text`);
  } catch (error) {
    await notRepaired(context, call, `failed: ${messageOf(error)}`);
  }
  return undefined;
}

/** Logs why the call's own text stays. */
export async function notRepaired(context: TurnContext, call: ToolCall, why: string): Promise<void> {
  const message = `the arguments of "${call.name}" (${call.callId}) are not repaired: repairArguments ${why}`;
  await context.live.append([
    { type: "notice", turn: context.turn, code: "repair_failed", message: context.redact(message) },
  ]);
}

/** What the process that died had started the call with, or had asked a person about. */
function repairedBefore({ live }: TurnContext, call: ToolCall): string | undefined {
  const found = eventsWhere(live.log.events, ({ response }) => response === call.response).findLast(
    (event): event is ToolStart | PermissionRequest =>
      (event.type === "tool_start" || event.type === "permission_request") &&
      event.response === call.response &&
      event.callId === call.callId &&
      event.arguments !== undefined,
  );
  return found?.arguments === call.arguments ? undefined : found?.arguments;
}
