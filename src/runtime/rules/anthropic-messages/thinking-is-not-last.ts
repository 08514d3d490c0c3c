import { isThinking, type MessagesRule } from "./message-view.ts";

export const thinkingIsNotLast: MessagesRule = {
  id: "M01",
  title: "An assistant message does not end with thinking",
  evidence: "C05",
  todo: "Leave the thinking out, or send what followed it.",
  item({ index, role, blocks }) {
    const last = blocks.at(-1);
    if (role !== "assistant" || last === undefined || !isThinking(last)) return undefined;
    return {
      index,
      part: last.part,
      message: `messages.${index}: The final block in an assistant message cannot be \`thinking\`.`,
    };
  },
};
