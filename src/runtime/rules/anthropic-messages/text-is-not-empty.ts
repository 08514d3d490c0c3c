import type { MessagesRule } from "./message-view.ts";

export const textIsNotEmpty: MessagesRule = {
  id: "M14",
  title: "Text blocks are not empty",
  evidence: "S06",
  todo: "Leave the empty block out, and a message that has no other.",
  item: ({ index, blocks }) =>
    blocks.flatMap(({ part, type, text }) => {
      if (type !== "text" || text === "present") return [];
      if (text === "empty")
        return [{ index, part, message: "messages: text content blocks must be non-empty" }];
      if (text === "blank")
        return [{ index, part, message: "messages: text content blocks must contain non-whitespace text" }];
      return [{ index, part, message: `messages.${index}.content.${part}.text.text: Field required` }];
    }),
};
