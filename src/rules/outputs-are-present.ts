import { isOutput } from "./item-view.ts";
import type { Rule } from "./rule.ts";

export const outputsArePresent: Rule = {
  id: "R13",
  title: "A call output has its output field, if an empty one",
  evidence: "T09",
  todo: 'Send "output": "".',
  start() {
    return {
      item: (item) =>
        isOutput(item) && !item.keys.has("output")
          ? `Missing required parameter: 'input[${item.index}].output'.`
          : undefined,
    };
  },
};
