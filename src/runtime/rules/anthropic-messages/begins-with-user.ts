import type { MessagesRule } from "./message-view.ts";

export const beginsWithUser: MessagesRule = {
  id: "M16",
  title: "The conversation begins with a user message",
  evidence: "H01",
  todo: "Start at the next user message, or keep the one that began the conversation.",
  start: ({ keptFront }) => ({
    item: ({ index, role }) =>
      index === 0 && role === "assistant" && !keptFront
        ? 'messages: first message must use the "user" role'
        : undefined,
  }),
};
