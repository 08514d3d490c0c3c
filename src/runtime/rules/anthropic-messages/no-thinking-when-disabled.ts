import { isThinking, type MessagesRule } from "./message-view.ts";
import { OpenTurn } from "./open-turn.ts";

export const noThinkingWhenDisabled: MessagesRule = {
  id: "M06",
  title: "With thinking disabled, the open turn has none",
  evidence: "C06",
  todo: "Leave the thinking of the open turn out, or keep thinking on until it ends.",
  start({ thinking }) {
    const turn = new OpenTurn();
    return {
      item(message) {
        turn.push(message);
        return undefined;
      },
      end: () =>
        thinking !== "disabled"
          ? []
          : turn.answers().flatMap(({ index, blocks }) => {
              const block = blocks.find(isThinking);
              if (block === undefined) return [];
              const message = `messages.${index}.content.${block.part}: When thinking is disabled, an \`assistant\` message in the final position cannot contain \`thinking\`. To use thinking blocks, enable \`thinking\` in your request.`;
              return [{ index, part: block.part, message }];
            }),
    };
  },
};
