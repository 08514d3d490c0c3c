import type { ChatRule } from "./chat-view.ts";

const MAX_CALLS = 128;

export const callsAreFunctions: ChatRule = {
  id: "Q11",
  title: "A call has a name and its arguments as a string; a message has at most 128 calls",
  evidence: "S12, T11",
  todo: 'Send "function": {"name": …, "arguments": "…"} as received.',
  item({ index, calls }) {
    const wrong = calls.flatMap(({ part, member, name, arguments: text }) => {
      const at = `messages[${index}].tool_calls[${part}].${member}`;
      const written = `${at}.${member === "custom" ? "input" : "arguments"}`;
      if (name === undefined) return [{ index, part, message: `Missing required parameter: '${at}.name'.` }];
      if (text === "absent" || text === "null")
        return [{ index, part, message: `Missing required parameter: '${written}'.` }];
      if (text !== "other") return [];
      const message = `Invalid type for '${written}': expected a string, but got an object instead.`;
      return [{ index, part, message }];
    });
    if (calls.length <= MAX_CALLS) return wrong;
    const message = `Invalid 'messages[${index}].tool_calls': array too long. Expected an array with maximum length ${MAX_CALLS}, but got an array with length ${calls.length} instead.`;
    return [...wrong, { index, message }];
  },
};
