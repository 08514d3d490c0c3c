import type { MessagesRule } from "./message-view.ts";

export const uniqueToolIds: MessagesRule = {
  id: "M12",
  title: "No tool id occurs twice",
  evidence: "T07",
  todo: "Send the call once; map an id that is reused.",
  start() {
    const seen = new Set<string>();
    return {
      item: ({ index, blocks }) =>
        blocks.flatMap(({ part, type, id }) => {
          if (type !== "tool_use" || id === undefined) return [];
          if (!seen.has(id)) {
            seen.add(id);
            return [];
          }
          return [
            { index, part, message: `messages.${index}.content.${part}: \`tool_use\` ids must be unique` },
          ];
        }),
    };
  },
};
