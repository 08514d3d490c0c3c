import { isThinking, type MessagesRule } from "./message-view.ts";

export const thinkingAllOrNone: MessagesRule = {
  id: "M05",
  title: "The thinking of one response is sent whole or not at all",
  evidence: "C01, C11, C12",
  todo: "Send every thinking block of the response unchanged, including empty and redacted ones, or send none.",
  item({ index, blocks, reasoningMade }) {
    const sent = blocks.filter(isThinking);
    const [first] = sent;
    if (reasoningMade === undefined || first === undefined || sent.length === reasoningMade) return undefined;
    const message = `messages.${index}.content.${first.part}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`;
    return { index, part: first.part, message };
  },
};
