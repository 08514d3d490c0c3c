import type { ChatRule } from "./chat-view.ts";

export const reasoningDetailsAreWhole: ChatRule = {
  id: "Q06",
  title: "reasoning_details are sent back whole, each entry once",
  evidence: "V08, I04",
  todo: "Send each message's array as received; remove an entry from a later message if an earlier one has it.",
  start() {
    const seen = new Set<string>();
    return {
      item({ index, role, detailKeys }) {
        if (role !== "assistant") return undefined;
        return detailKeys.flatMap((key) => {
          if (!seen.has(key)) {
            seen.add(key);
            return [];
          }
          const message = `Duplicate item found with id ${key.slice(0, 64)}. Remove duplicate items from your input and try again.`;
          return [{ index, message }];
        });
      },
    };
  },
};
