import type { ChatRule } from "./chat-view.ts";

const ROLES: ReadonlySet<string> = new Set(["system", "assistant", "user", "function", "tool", "developer"]);

export const knownChatRoles: ChatRule = {
  id: "Q10",
  title: "Roles are known to the dialect",
  evidence: "S14",
  todo: "Use system, developer, user, assistant or tool.",
  item({ index, role }) {
    if (role === undefined) return `Missing required parameter: 'messages[${index}].role'.`;
    if (ROLES.has(role)) return undefined;
    return `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`;
  },
};
