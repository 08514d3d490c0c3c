import { HEAD } from "../rule.ts";
import type { MessagesRule } from "./message-view.ts";

export const limitsAreSound: MessagesRule = {
  id: "M19",
  title: "max_tokens is set and exceeds the thinking budget",
  evidence: "R03",
  todo: "Set max_tokens; with thinking enabled, set a budget of at least 1024 and below max_tokens.",
  start({ known, thinking, budgetTokens, maxTokens }) {
    const message = !known ? undefined : problem(thinking, budgetTokens, maxTokens);
    return { end: () => (message === undefined ? [] : [{ index: HEAD, message }]) };
  },
};

function problem(
  thinking: string | undefined,
  budget: number | undefined,
  max: number | undefined,
): string | undefined {
  if (max === undefined) return "max_tokens: Field required";
  if (thinking !== "enabled") return undefined;
  if (budget === undefined) return "thinking.enabled.budget_tokens: Field required";
  if (budget < 1024) return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  return budget < max ? undefined : "`max_tokens` must be greater than `thinking.budget_tokens`.";
}
