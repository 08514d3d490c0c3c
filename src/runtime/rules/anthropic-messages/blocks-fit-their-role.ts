import { isThinking, type MessagesRule } from "./message-view.ts";

export const blocksFitTheirRole: MessagesRule = {
  id: "M18",
  title: "Calls and thinking are in assistant messages, results in user messages",
  evidence: "S14",
  todo: "Move the block into a message of the right role.",
  item: ({ index, role, blocks }) =>
    blocks.flatMap((block) => {
      const { part, type } = block;
      const owner =
        type === "tool_use" || isThinking(block) ? "assistant" : type === "tool_result" ? "user" : role;
      if (owner === role) return [];
      const message = `messages.${index}.content.${part}: \`${type}\` blocks can only be in \`${owner}\` messages`;
      return [{ index, part, message }];
    }),
};
