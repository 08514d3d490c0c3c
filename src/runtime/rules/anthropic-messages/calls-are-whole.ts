import type { MessagesRule } from "./message-view.ts";

export const callsAreWhole: MessagesRule = {
  id: "M23",
  title: "A tool_use has an object as its input",
  evidence: "T11",
  todo: "Leave out the call and its result, or send {} if there was no input.",
  item: ({ index, blocks }) =>
    blocks
      .filter(({ type, inputIsObject }) => type === "tool_use" && !inputIsObject)
      .map(({ part }) => ({
        index,
        part,
        message: `messages.${index}.content.${part}.tool_use.input: Input should be a valid dictionary`,
      })),
};
