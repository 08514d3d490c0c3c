import type { ResponsesRule } from "./item-view.ts";

export const noDuplicateIds: ResponsesRule = {
  id: "R04",
  title: "No item id occurs twice",
  evidence: "I04",
  todo: "Send the item once.",
  start() {
    const seen = new Map<string, string | undefined>();
    return {
      item(item) {
        if (item.id === undefined || item.type === "item_reference") return undefined;
        const repeats = item.idsRepeat && item.group !== undefined && seen.get(item.id) === item.group;
        if (seen.has(item.id) && !repeats) {
          return `Duplicate item found with id ${item.id}. Remove duplicate items from your input and try again.`;
        }
        seen.set(item.id, item.group);
        return undefined;
      },
    };
  },
};
