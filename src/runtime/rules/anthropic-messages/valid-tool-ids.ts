import type { MessagesRule } from "./message-view.ts";

const VALID = /^[a-zA-Z0-9_-]+$/;

export const validToolIds: MessagesRule = {
  id: "M11",
  title: "Tool ids are letters, digits, _ or -",
  evidence: "C09",
  todo: "Map the id, in both the call and its result.",
  item: ({ index, blocks }) =>
    blocks.flatMap(({ part, type, id, toolUseId }) => {
      const field = type === "tool_use" ? "id" : type === "tool_result" ? "tool_use_id" : undefined;
      if (field === undefined || VALID.test((field === "id" ? id : toolUseId) ?? "")) return [];
      const at = `messages.${index}.content.${part}.${type}.${field}`;
      const missing = (field === "id" ? id : toolUseId) === undefined;
      const message = missing
        ? `${at}: Field required`
        : `${at}: String should match pattern '^[a-zA-Z0-9_-]+$'`;
      return [{ index, part, message }];
    }),
};
