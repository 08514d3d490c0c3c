import type { Problem } from "../rule.ts";
import type { ChatMessageView, ChatRule } from "./chat-view.ts";

export const callsAreAnswered: ChatRule = {
  id: "Q01",
  title: "Every call is answered by a tool message directly after it",
  evidence: "T01, T03, T04",
  todo: "Add a tool message that says what became of the call; move anything in between to after it.",
  start() {
    let open: { readonly message: ChatMessageView; readonly ids: Set<string> } | undefined;
    const close = (): Problem | undefined => {
      const left = open;
      open = undefined;
      return left === undefined || left.ids.size === 0 ? undefined : problem(left.message, left.ids);
    };
    return {
      item(message) {
        if (message.role === "tool") {
          if (message.toolCallId !== undefined) open?.ids.delete(message.toolCallId);
          return undefined;
        }
        const found = close();
        if (message.role === "assistant" && message.calls.length > 0) {
          open = { message, ids: new Set(message.calls.map(({ id }) => id ?? "")) };
        }
        return found;
      },
      end: () => (open === undefined || open.ids.size === 0 ? [] : [problem(open.message, open.ids)]),
    };
  },
};

function problem({ index, calls }: ChatMessageView, ids: ReadonlySet<string>): Problem {
  const part = calls.find(({ id }) => ids.has(id ?? ""))?.part ?? 0;
  const message = `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...ids].join(", ")}`;
  return { index, part, message };
}
