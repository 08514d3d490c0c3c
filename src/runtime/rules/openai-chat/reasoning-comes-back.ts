import type { Problem } from "../rule.ts";
import type { ChatMessageView, ChatRule } from "./chat-view.ts";

export const reasoningComesBack: ChatRule = {
  id: "Q03",
  title: "If a vendor requires its reasoning back, it is sent back",
  evidence: "V01, V02",
  todo: "Send the captured reasoning_content, or switch thinking off; never make one up.",
  start({ traits, thinking, tools }) {
    if (!thinking || traits.reasoningRequired === "never") return {};
    if (traits.reasoningRequired === "calls") return { item: missingOnCall };
    const carried = traits.reasoningRequired === "with_tools" && tools;
    /**
     * Assistant messages without reasoning since the last user message; a problem once a tool was called among them.
     */
    let bare: number[] = [];
    let called = carried;
    return {
      item(message) {
        if (message.role === "user") {
          bare = [];
          called = carried;
        }
        if (message.role !== "assistant") return undefined;
        if (!message.reasoning.has("reasoning_content")) bare.push(message.index);
        called ||= message.calls.length > 0;
        if (!called) return undefined;
        const found = bare.map((index): Problem => ({ index, message: NOT_PASSED_BACK }));
        bare = [];
        return found;
      },
    };
  },
};

const NOT_PASSED_BACK = "The `reasoning_content` in the thinking mode must be passed back to the API.";

/** Kimi treats an empty field as missing: clients had to put something into it (V01). */
function missingOnCall({ index, role, calls, reasoning }: ChatMessageView): string | undefined {
  if (role !== "assistant" || calls.length === 0) return undefined;
  const state = reasoning.get("reasoning_content");
  if (state === "present" || state === "blank") return undefined;
  return `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`;
}
