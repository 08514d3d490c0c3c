import type { ResponsesRule } from "./item-view.ts";

export const noBareReasoning: ResponsesRule = {
  id: "R03",
  title: "Reasoning sent by id carries its encrypted payload",
  evidence: "I01, I03, S10",
  todo: "Leave it out, with the ids of its response.",
  about: (type) => type === "reasoning",
  start({ kept }) {
    if (kept?.items === true) return {};
    return {
      item: (item) =>
        item.id !== undefined && item.payload !== "present"
          ? `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
          : undefined,
    };
  },
};
