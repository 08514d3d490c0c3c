import type { ResponsesRule } from "./item-view.ts";

export const reasoningHasSummary: ResponsesRule = {
  id: "R10",
  title: "Reasoning has a summary array, even if it is empty",
  evidence: "S01, S02",
  todo: 'Add "summary": [].',
  about: (type) => type === "reasoning",
  item: (item) =>
    item.summary !== "array" ? `Missing required parameter: 'input[${item.index}].summary'.` : undefined,
};
