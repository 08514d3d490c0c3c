import { isThinking, type MessagesRule } from "./message-view.ts";

export const thinkingAllOrNone: MessagesRule = {
  id: "M05",
  title: "The thinking of one response is all sent or none is",
  evidence: "C01, C11, C12",
  todo: "Send every thinking block of the response as it was, the empty and the redacted ones too, or none.",
  item({ index, blocks, reasoningMade }) {
    const sent = blocks.filter(isThinking);
    const [first] = sent;
    if (reasoningMade === undefined || first === undefined || sent.length === reasoningMade) return undefined;
    const message = `messages.${index}.content.${first.part}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`;
    return { index, part: first.part, message };
  },
};
