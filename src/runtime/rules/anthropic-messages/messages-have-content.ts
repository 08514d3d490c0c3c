import type { MessagesRule } from "./message-view.ts";

export const messagesHaveContent: MessagesRule = {
  id: "M15",
  title: "Messages have content",
  evidence: "S06",
  todo: "Leave the empty message out.",
  item({ index, content, blocks }) {
    if (content === "missing") return `messages.${index}.content: Field required`;
    if (blocks.length > 0) return undefined;
    return `messages.${index}: all messages must have non-empty content except for the optional final assistant message`;
  },
};
