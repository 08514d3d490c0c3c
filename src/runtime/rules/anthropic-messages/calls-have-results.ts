import type { Problem } from "../rule.ts";
import type { MessagesRule, MessageView } from "./message-view.ts";

export const callsHaveResults: MessagesRule = {
  id: "M07",
  title: "Every tool_use has its tool_result in the next message",
  evidence: "C07",
  todo: "Put a result that says what became of the call into the next user message.",
  start() {
    let before: MessageView | undefined;
    return {
      item(message) {
        const problem = before === undefined ? undefined : unanswered(before, message);
        before = message;
        return problem;
      },
      end() {
        const problem = before === undefined ? undefined : unanswered(before, undefined);
        return problem === undefined ? [] : [problem];
      },
    };
  },
};

function unanswered(message: MessageView, next: MessageView | undefined): Problem | undefined {
  if (message.role !== "assistant") return undefined;
  const results = new Set(
    next?.role === "user"
      ? next.blocks.filter(({ type }) => type === "tool_result").map((one) => one.toolUseId)
      : [],
  );
  const open = message.blocks.filter(({ type, id }) => type === "tool_use" && !results.has(id));
  const [first] = open;
  if (first === undefined) return undefined;
  const ids = open.map(({ id }) => id ?? "").join(", ");
  return {
    index: message.index,
    part: first.part,
    message: `messages.${message.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  };
}
