import type { ChatRule } from "./chat-view.ts";

export const answersHaveCalls: ChatRule = {
  id: "Q02",
  title: "Every tool message answers one call before it, once",
  evidence: "T02, T10",
  todo: "Leave the tool message out, or send its call.",
  start() {
    const open = new Set<string>();
    return {
      item({ role, calls, toolCallId }) {
        if (role !== "tool") {
          open.clear();
          if (role === "assistant") for (const { id } of calls) open.add(id ?? "");
          return undefined;
        }
        if (toolCallId === undefined || open.delete(toolCallId)) return undefined;
        return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
      },
    };
  },
};
