import type { ChatRule } from "./chat-view.ts";

export const noUserAfterTool: ChatRule = {
  id: "Q07",
  title: "If a vendor requires it, an assistant message comes between a tool message and a user message",
  evidence: "T03",
  todo: "Put the assistant's answer, or a stub that says it was interrupted, before the user message.",
  start({ traits }) {
    let before: string | undefined;
    return {
      item({ role }) {
        const wrong = !traits.userAfterTool && before === "tool" && role === "user";
        before = role;
        return wrong ? "Unexpected role 'user' after role 'tool'" : undefined;
      },
    };
  },
};
