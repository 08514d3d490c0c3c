import type { ChatMessageView, ChatRule } from "./chat-view.ts";

const MAX_LENGTH = 64;

export const validToolNames: ChatRule = {
  id: "Q12",
  title: "Tool names are 1 to 64 letters, digits, _ or -",
  evidence: "T15",
  todo: "Map the name, in both the call and its tool message, to one that no tool has.",
  start({ traits }) {
    const problem = traits.unknownField === "mistral" ? mistralProblem : openaiProblem;
    return {
      item: (message) =>
        namesOf(message).flatMap(({ part, at, name }) => {
          const wrong = name === undefined ? undefined : problem(name, at);
          if (wrong === undefined) return [];
          return [{ index: message.index, ...(part === undefined ? {} : { part }), message: wrong }];
        }),
    };
  },
};

function namesOf({ index, role, name, calls }: ChatMessageView): readonly {
  readonly part?: number;
  readonly at: string;
  readonly name: string | undefined;
}[] {
  if (role === "tool") return [{ at: `messages[${index}].name`, name }];
  return calls.map((call) => ({
    part: call.part,
    at: `messages[${index}].tool_calls[${call.part}].${call.member}.name`,
    name: call.name,
  }));
}

function openaiProblem(name: string, at: string): string | undefined {
  if (name === "") {
    return `Invalid '${at}': empty string. Expected a string with minimum length 1, but got an empty string instead.`;
  }
  if (name.length > MAX_LENGTH) {
    return `Invalid '${at}': string too long. Expected a string with maximum length ${MAX_LENGTH}, but got a string with length ${name.length} instead.`;
  }
  if (isName(name)) return undefined;
  return `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
}

function mistralProblem(name: string): string | undefined {
  if (isName(name)) return undefined;
  return `Function name was ${name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of ${MAX_LENGTH}.`;
}

function isName(name: string): boolean {
  return /^[a-zA-Z0-9_-]+$/.test(name) && name.length <= MAX_LENGTH;
}
