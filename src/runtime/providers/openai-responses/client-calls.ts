/**
 * Calls that the client answers (openai 7.53 responses.d.ts).
 *
 * Besides functions and custom tools, OpenAI defines tools that the client runs: shell, apply_patch, local_shell, tool
 * search and the approval of an MCP call. Here each is an ordinary call to a tool with the name below. A program
 * without such a tool answers with a failure in the form the call requires (`callOutput`): the model reads it, nothing
 * gets stuck, and the reasoning before the call has its follower.
 */

import { objectOf, stringOf } from "../../../base/support/index.ts";

/** Access to an item's members: parsed, and as exact text. */
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

/** Returns the call; undefined for other items and for calls that the server runs itself. */
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
      // This item has no call id: the answer refers to the item's own id.
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

/** Refused without their id, so if ids are not sent, they become plain calls. */
export const CALLS_BY_ID: ReadonlySet<string> = new Set(["local_shell_call", "mcp_approval_request"]);
