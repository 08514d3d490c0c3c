import type { ResponsesRule } from "./item-view.ts";

export const reasoningHasNoOutputFields: ResponsesRule = {
  id: "R11",
  title: "Reasoning carries no status",
  evidence: "S03",
  todo: "Remove the field.",
  about: (type) => type === "reasoning",
  item: (item) => (item.hasStatus ? `Unknown parameter: 'input[${item.index}].status'.` : undefined),
};
