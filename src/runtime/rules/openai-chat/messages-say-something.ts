import type { ChatRule } from "./chat-view.ts";

export const messagesSaySomething: ChatRule = {
  id: "Q09",
  title: "Every message has content; an assistant message has content or calls",
  evidence: "S06, T09",
  todo: 'Leave an empty assistant message out; an empty tool output is "content": "".',
  item({ index, role, content, partTypes, calls, hasCallsField }) {
    if (hasCallsField && calls.length === 0) {
      return `Invalid 'messages[${index}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
    }
    if (role === "assistant" && calls.length > 0) return undefined;
    if (content === "absent") return `Missing required parameter: 'messages[${index}].content'.`;
    if (content === "null") return "Invalid value for 'content': expected a string, got null.";
    if (content !== "other" || partTypes.length > 0) return undefined;
    return `Invalid 'messages[${index}].content': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
  },
};
