import type { MessagesRule } from "./message-view.ts";

export const textIsNotEmpty: MessagesRule = {
  id: "M14",
  title: "Text blocks are not empty, and not all of a message's are blank",
  evidence: "S06",
  todo: "Leave the block out, and the message too if it has no other.",
  item({ index, blocks }) {
    const texts = blocks.filter(({ type }) => type === "text");
    // A blank block is accepted next to a block with text (LibreChat-AI/agents#124, a table of live answers).
    const silent = !texts.some(({ text }) => text === "present");
    return texts.flatMap(({ part, text }) => {
      if (text === "empty")
        return [{ index, part, message: "messages: text content blocks must be non-empty" }];
      if (text === "blank")
        return silent
          ? [{ index, part, message: "messages: text content blocks must contain non-whitespace text" }]
          : [];
      return text === "present"
        ? []
        : [{ index, part, message: `messages.${index}.content.${part}.text.text: Field required` }];
    });
  },
};
