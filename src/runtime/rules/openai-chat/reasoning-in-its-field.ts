import type { ChatRule } from "./chat-view.ts";
import type { ChatTraits } from "./facts.ts";

export const reasoningInItsField: ChatRule = {
  id: "Q04",
  title: "Reasoning is only in the field its vendor accepts",
  evidence: "V03, V04, V05, V06",
  todo: "Remove the field: reasoning goes back only to the vendor that made it, in the field it arrived in.",
  start({ traits }) {
    return {
      item({ index, role, reasoning }) {
        const { unknownField = "ignored", reasoningFields } = traits;
        if (role !== "assistant" || unknownField === "ignored") return undefined;
        return [...reasoning.keys()]
          .filter((field) => !reasoningFields.includes(field))
          .map((field) => ({ index, message: refusal(unknownField, index, field) }));
      },
    };
  },
};

function refusal(vendor: NonNullable<ChatTraits["unknownField"]>, index: number, field: string): string {
  if (field === "content_thinking") {
    return `Invalid value: 'thinking'. Supported values are: 'text' and 'refusal'.`;
  }
  if (vendor === "openai") return `Unknown parameter: 'messages[${index}].${field}'.`;
  if (vendor === "mistral") {
    const loc = ["body", "messages", index, "assistant", field];
    return JSON.stringify({ type: "extra_forbidden", msg: "Extra inputs are not permitted", loc });
  }
  if (vendor === "groq") {
    return `'messages.${index}' : for 'role:assistant' the following must be satisfied[('messages.${index}' : property '${field}' is unsupported)]`;
  }
  return `The \`${field}\` field is not allowed in the input messages (messages[${index}]).`;
}
