import type { ResponsesRule } from "./item-view.ts";

export const messagesHaveContent: ResponsesRule = {
  id: "R17",
  title: "A message has its content field",
  evidence: "S06",
  todo: "Leave the message out.",
  about: (type) => type === "message",
  item: (item) =>
    !item.hasContent ? `Missing required parameter: 'input[${item.index}].content'.` : undefined,
};
