import type { Problem } from "../rule.ts";
import { isInput, isOutput, type ItemView, type ResponsesRule } from "./item-view.ts";

export const reasoningNeedsFollower: ResponsesRule = {
  id: "R01",
  title: "Reasoning is followed by an item of its own response",
  evidence: "P01, P12, P15",
  todo: "Leave the reasoning out, or send what followed it.",
  start() {
    let open: ItemView | undefined;
    return {
      item(item) {
        const before = open;
        open = item.type === "reasoning" ? item : undefined;
        if (before === undefined) return undefined;
        const answers = isOutput(item) && !item.hosted;
        const follows = !isInput(item) && !answers && sameGroup(before, item);
        return follows ? undefined : problem(before);
      },
      end: () => (open === undefined ? [] : [problem(open)]),
    };
  },
};

function problem(item: ItemView): Problem {
  return {
    index: item.index,
    message: `Item '${item.id ?? ""}' of type 'reasoning' was provided without its required following item.`,
  };
}

/** Groups decide if they are known; in a foreign history only the position can. */
function sameGroup(a: ItemView, b: ItemView): boolean {
  return a.group === undefined || b.group === undefined || a.group === b.group;
}
