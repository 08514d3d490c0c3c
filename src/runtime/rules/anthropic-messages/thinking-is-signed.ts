import type { BlockView, MessagesRule } from "./message-view.ts";

export const thinkingIsSigned: MessagesRule = {
  id: "M03",
  title: "Thinking carries the signature of this origin",
  evidence: "C03, C11, C12",
  todo: "Leave the block out: only its origin can sign it.",
  item: ({ index, role, blocks, foreign = false }) =>
    role !== "assistant"
      ? undefined
      : blocks.flatMap((block) => {
          const wrong = problemOf(block, foreign);
          if (wrong === undefined) return [];
          const at = `messages.${index}.content.${block.part}`;
          return [{ index, part: block.part, message: wrong(at) }];
        }),
};

function problemOf(
  { type, signature, data }: BlockView,
  foreign: boolean,
): ((at: string) => string) | undefined {
  if (type === "thinking") {
    if (signature === "absent") return (at) => `${at}.thinking.signature: Field required`;
    if (signature === "present" && !foreign) return undefined;
    return (at) => `${at}: Invalid \`signature\` in \`thinking\` block`;
  }
  if (type !== "redacted_thinking") return undefined;
  if (data === "absent") return (at) => `${at}.redacted_thinking.data: Field required`;
  if (data === "present" && !foreign) return undefined;
  return (at) => `${at}: Invalid \`data\` in \`redacted_thinking\` block`;
}
