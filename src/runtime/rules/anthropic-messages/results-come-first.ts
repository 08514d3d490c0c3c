import type { MessagesRule, MessageView } from "./message-view.ts";

export const resultsComeFirst: MessagesRule = {
  id: "M08",
  title: "Results come first in their message",
  evidence: "C07",
  todo: "Put the results before everything else the message says.",
  start() {
    let before: MessageView | undefined;
    return {
      item(message) {
        const call = before;
        before = message;
        if (message.role !== "user" || call?.role !== "assistant") return undefined;
        const other = message.blocks.findIndex(({ type }) => type !== "tool_result");
        const late = message.blocks.find(({ type, part }) => type === "tool_result" && part > other);
        if (other === -1 || late === undefined) return undefined;
        return {
          index: message.index,
          part: late.part,
          message: `messages.${call.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${late.toolUseId ?? ""}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
        };
      },
    };
  },
};
