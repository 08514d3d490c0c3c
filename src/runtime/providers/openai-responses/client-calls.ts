/**
 * Calls that the client answers (openai 7.53 responses.d.ts).
 *
 * Beside functions and custom tools OpenAI defines some tools itself and lets the client run them: shell, apply_patch,
 * local_shell, a tool search, and the approval of an MCP call. Each is a call like any other here, to the tool of the
 * name below. A program that has no such tool answers with a failure in the form the call demands (`callOutput`): the model
 * reads that, nothing is stuck, and the reasoning before the call has its follower.
 */

import { objectOf, stringOf } from "../../../base/support/index.ts";

/** A member of an item: parsed, and as its exact text. */
export interface ItemMembers {
  readonly read: (key: string) => unknown;
  readonly text: (key: string) => string | undefined;
}

export interface ClientCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  readonly custom?: true | undefined;
}

/** Undefined for anything else, and for a call that the server runs itself. */
export function clientCall(itemType: string, { read, text }: ItemMembers): ClientCall | undefined {
  const callId = stringOf(read("call_id")) ?? "";
  switch (itemType) {
    case "function_call":
      return { callId, name: stringOf(read("name")) ?? "", arguments: stringOf(read("arguments")) ?? "" };
    case "custom_tool_call":
      return {
        callId,
        name: stringOf(read("name")) ?? "",
        arguments: stringOf(read("input")) ?? "",
        custom: true,
      };
    case "shell_call":
      return objectOf(read("environment"))["type"] === "container_reference"
        ? undefined
        : { callId, name: "shell", arguments: text("action") ?? "" };
    case "local_shell_call":
      return { callId, name: "local_shell", arguments: text("action") ?? "" };
    case "apply_patch_call":
      return { callId, name: "apply_patch", arguments: text("operation") ?? "" };
    case "tool_search_call":
      return read("execution") === "client"
        ? { callId, name: "tool_search", arguments: text("arguments") ?? "" }
        : undefined;
    case "mcp_approval_request": {
      // It has no call id: the answer names the item's own.
      const asked = { server_label: read("server_label"), name: read("name"), arguments: read("arguments") };
      return {
        callId: stringOf(read("id")) ?? "",
        name: "mcp_approval_request",
        arguments: JSON.stringify(asked),
      };
    }
    default:
      return undefined;
  }
}

/** Refused without their id, so where no ids are sent they go as plain calls. */
export const CALLS_BY_ID: ReadonlySet<string> = new Set(["local_shell_call", "mcp_approval_request"]);
