import type { Rule } from "./rule.ts";

export const noServerState: Rule = {
  id: "R14",
  title: "Nothing refers to items the server would have to remember",
  evidence: "I02, I10",
  todo: "Send the item itself.",
  start() {
    return {
      item: (item) =>
        item.type === "item_reference"
          ? `Item with id '${item.id ?? ""}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
          : undefined,
    };
  },
};
