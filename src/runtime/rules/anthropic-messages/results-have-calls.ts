import type { MessagesRule } from "./message-view.ts";

export const resultsHaveCalls: MessagesRule = {
  id: "M09",
  title: "Every tool_result answers a tool_use in the message before it",
  evidence: "C07, T02",
  todo: "Leave the result out, or send its call.",
  start({ keptFront }) {
    let calls: ReadonlySet<string | undefined> = new Set();
    return {
      item({ index, role, blocks }) {
        const open = calls;
        calls = new Set(
          role === "assistant" ? blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id) : [],
        );
        if (keptFront && index === 0) return undefined; // the server has their calls
        return blocks
          .filter(({ type, toolUseId }) => type === "tool_result" && !open.has(toolUseId))
          .map(({ part, toolUseId }) => ({
            index,
            part,
            message: `messages.${index}.content.${part}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${toolUseId ?? ""}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
          }));
      },
    };
  },
};
