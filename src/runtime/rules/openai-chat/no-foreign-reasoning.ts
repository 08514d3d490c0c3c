import type { ChatRule } from "./chat-view.ts";

export const noForeignReasoning: ChatRule = {
  id: "Q05",
  title: "No reasoning from another origin",
  evidence: "V06, V07, V08",
  todo: "Leave it out: thoughts of one vendor never go to another.",
  item({ role, reasoning, foreign }) {
    // An empty field states that there was no reasoning.
    const carried = [...reasoning.values()].some((state) => state !== "empty");
    if (role !== "assistant" || foreign !== true || !carried) return undefined;
    return "reasoning from another origin: an API may accept it, but it is still a leak";
  },
};
