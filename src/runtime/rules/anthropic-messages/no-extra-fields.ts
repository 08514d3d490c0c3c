import type { MessagesRule } from "./message-view.ts";

/** The input fields of these block types; other types are not checked. From the types of @anthropic-ai/sdk 1.8.0. */
const FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(["type", "text", "cache_control", "citations"]),
  thinking: new Set(["type", "thinking", "signature"]),
  redacted_thinking: new Set(["type", "data"]),
  tool_use: new Set(["type", "id", "name", "input", "cache_control", "caller", "toolset_name"]),
  tool_result: new Set(["type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"]),
};
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(["role", "content"]);

export const noExtraFields: MessagesRule = {
  id: "M22",
  title: "Messages and blocks carry no unknown fields",
  evidence: "S03",
  todo: "Remove the field.",
  item: ({ index, keys, blocks }) => [
    ...[...keys]
      .filter((key) => !MESSAGE_FIELDS.has(key))
      .map((key) => ({ index, message: `messages.${index}.${key}: Extra inputs are not permitted` })),
    ...blocks.flatMap(({ part, type, keys: fields }) =>
      [...fields]
        .filter((key) => FIELDS[type]?.has(key) === false)
        .map((key) => ({
          index,
          part,
          message: `messages.${index}.content.${part}.${type}.${key}: Extra inputs are not permitted`,
        })),
    ),
  ],
};
