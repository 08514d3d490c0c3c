import type { MessagesRule } from "./message-view.ts";

const ROLES: ReadonlySet<string | undefined> = new Set(["user", "assistant", "system"]);

export const knownRoles: MessagesRule = {
  id: "M17",
  title: "Roles are user, assistant or system",
  evidence: "S14",
  todo: "Put results into blocks of a user message; there is no tool role.",
  item({ index, role }) {
    if (ROLES.has(role)) return undefined;
    return role === undefined
      ? `messages.${index}.role: Field required`
      : `messages.${index}.role: Input should be 'user' or 'assistant'`;
  },
};
