import type { MessagesRule, MessageView } from "./message-view.ts";

export const endsWithUser: MessagesRule = {
  id: "M10",
  title: "The conversation ends with a user message",
  evidence: "C08",
  todo: "Add the next user message, or leave out the last assistant message.",
  start({ prefill }) {
    let last: MessageView | undefined;
    return {
      item(message) {
        last = message;
        return undefined;
      },
      end() {
        if (last?.role !== "assistant" || prefill || paused(last)) return [];
        const message =
          "This model does not support assistant message prefill. The conversation must end with a user message.";
        return [{ index: last.index, message }];
      },
    };
  },
};

/** A response that ended with `pause_turn` is sent back unchanged, so that the server continues with its own tools. */
function paused({ blocks }: MessageView): boolean {
  return blocks.some(({ type }) => /._tool_(?:use|result)$/.test(type));
}
