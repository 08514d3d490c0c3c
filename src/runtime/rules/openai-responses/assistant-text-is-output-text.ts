import type { ResponsesRule } from "./item-view.ts";

export const assistantTextIsOutputText: ResponsesRule = {
  id: "R12",
  title: "Assistant messages hold output_text or refusal, and are not empty",
  evidence: "S05, S06, S14",
  todo: "Use output_text parts; leave an empty message out.",
  about: (type) => type === "message",
  item(item) {
    if (item.role !== "assistant" || item.contentTypes === undefined) return undefined;
    if (item.contentTypes.length === 0) return `Invalid 'input[${item.index}].content': empty array.`;
    const wrong = item.contentTypes.find((type) => type !== "output_text" && type !== "refusal");
    if (wrong === undefined) return undefined;
    return `Invalid value: '${wrong}'. Supported values are: 'output_text' and 'refusal'.`;
  },
};
