import { isThinking, type MessagesRule } from "./message-view.ts";
import { OpenTurn } from "./open-turn.ts";

export const openTurnStartsWithThinking: MessagesRule = {
  id: "M02",
  title: "With thinking enabled, an open tool loop starts with thinking",
  evidence: "C02",
  todo: "Send the thinking of the open turn, or switch thinking off until it ends.",
  start({ thinking }) {
    const turn = new OpenTurn();
    return {
      item(message) {
        turn.push(message);
        return undefined;
      },
      end() {
        const first = turn.answers()[0];
        const block = first?.blocks[0];
        // With adaptive thinking, the model decides whether a turn begins with a thought.
        if (thinking !== "enabled" || first === undefined || block === undefined || isThinking(block))
          return [];
        const message = `messages.${first.index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${block.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`;
        return [{ index: first.index, part: 0, message }];
      },
    };
  },
};
