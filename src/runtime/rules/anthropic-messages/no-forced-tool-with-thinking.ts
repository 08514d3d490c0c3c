import { HEAD } from "../rule.ts";
import type { MessagesRule } from "./message-view.ts";

export const noForcedToolWithThinking: MessagesRule = {
  id: "M20",
  title: "With thinking enabled, no tool is forced",
  evidence: "C13",
  todo: "Use tool_choice auto or none, or adaptive thinking.",
  start({ thinking, toolChoice }) {
    const forced = thinking === "enabled" && (toolChoice === "any" || toolChoice === "tool");
    const message = "Thinking may not be enabled when tool_choice forces tool use.";
    return { end: () => (forced ? [{ index: HEAD, message }] : []) };
  },
};
