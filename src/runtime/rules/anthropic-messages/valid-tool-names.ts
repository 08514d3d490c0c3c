import type { MessagesRule } from "./message-view.ts";

const PATTERN = "^[a-zA-Z0-9_-]{1,128}$";
const MAX_LENGTH = 200;

export const validToolNames: MessagesRule = {
  id: "M25",
  title: "Tool names are 1 to 128 letters, digits, _ or -",
  evidence: "T15",
  todo: "Map the name to one that no tool has.",
  item: ({ index, blocks }) =>
    blocks.flatMap(({ part, type, name }) => {
      const wrong = type === "tool_use" && name !== undefined ? problem(name) : undefined;
      if (wrong === undefined) return [];
      return [{ index, part, message: `messages.${index}.content.${part}.tool_use.name: ${wrong}` }];
    }),
};

/** The length is checked first, against another limit than the pattern's. */
function problem(name: string): string | undefined {
  if (name === "") return "String should have at least 1 character";
  if (name.length > MAX_LENGTH) return `String should have at most ${MAX_LENGTH} characters`;
  return new RegExp(PATTERN).test(name) ? undefined : `String should match pattern '${PATTERN}'`;
}
