import type { MessagesRule } from "./message-view.ts";

export const oneResultPerCall: MessagesRule = {
  id: "M13",
  title: "A call has one result",
  evidence: "T10",
  todo: "Keep the first result that was sent.",
  item({ index, blocks }) {
    const seen = new Set<string>();
    return blocks.flatMap(({ part, type, toolUseId }) => {
      if (type !== "tool_result" || toolUseId === undefined) return [];
      if (!seen.has(toolUseId)) {
        seen.add(toolUseId);
        return [];
      }
      const message = `messages.${index}.content.${part}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${toolUseId}`;
      return [{ index, part, message }];
    });
  },
};
