import type { ResponsesRule } from "./item-view.ts";

export const responsesAreContiguous: ResponsesRule = {
  id: "R15",
  title: "The items of one response are contiguous",
  evidence: "P09, P10",
  todo: "Keep the items of one response together, in their order.",
  start() {
    const closed = new Set<string>();
    let current: string | undefined;
    return {
      item(item) {
        if (item.group === current) return undefined;
        if (current !== undefined) closed.add(current);
        current = item.group;
        if (current === undefined || !closed.has(current)) return undefined;
        return `items of response ${current} are not contiguous`;
      },
    };
  },
};
