import type { ChatRule } from "./chat-view.ts";

export const noForeignReasoning: ChatRule = {
  id: "Q05",
  title: "No reasoning of another origin",
  evidence: "V06, V07, V08",
  todo: "Leave it out: thoughts of one vendor never go to another.",
  item({ role, reasoning, foreign }) {
    // An empty one says that there was none.
    const carried = [...reasoning.values()].some((state) => state !== "empty");
    if (role !== "assistant" || foreign !== true || !carried) return undefined;
    return "reasoning of another origin: no API has to refuse it, and it is a leak all the same";
  },
};
