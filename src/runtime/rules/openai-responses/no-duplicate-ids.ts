import type { ResponsesRule } from "./item-view.ts";

export const noDuplicateIds: ResponsesRule = {
  id: "R04",
  title: "No item id stands twice",
  evidence: "I04",
  todo: "Send the item once.",
  start() {
    const seen = new Set<string>();
    return {
      item(item) {
        if (item.id === undefined || item.type === "item_reference") return undefined;
        if (seen.has(item.id)) {
          return `Duplicate item found with id ${item.id}. Remove duplicate items from your input and try again.`;
        }
        seen.add(item.id);
        return undefined;
      },
    };
  },
};
