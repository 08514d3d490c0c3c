import type { ChatMessageView, ChatRule } from "./chat-view.ts";
import type { ChatTraits } from "./facts.ts";

export const validCallIds: ChatRule = {
  id: "Q08",
  title: "Call ids have the length and characters the vendor accepts",
  evidence: "T05, T06",
  todo: "Map the id, in both the call and its tool message.",
  start({ traits }) {
    return {
      item: (message) =>
        idsOf(message).flatMap(({ part, at, id }) => {
          const wrong = problem(id, at, traits);
          const spot = part === undefined ? { index: message.index } : { index: message.index, part };
          return wrong === undefined ? [] : [{ ...spot, message: wrong }];
        }),
    };
  },
};

function idsOf({ index, role, calls, toolCallId }: ChatMessageView): readonly {
  readonly part?: number;
  readonly at: string;
  readonly id: string | undefined;
}[] {
  if (role === "tool") return [{ at: `messages[${index}].tool_call_id`, id: toolCallId }];
  return calls.map(({ part, id }) => ({ part, at: `messages[${index}].tool_calls[${part}].id`, id }));
}

function problem(id: string | undefined, at: string, traits: ChatTraits): string | undefined {
  if (id === undefined) return `Missing required parameter: '${at}'.`;
  if (traits.nineCharacterCallIds === true) {
    return /^[a-zA-Z0-9]{9}$/.test(id)
      ? undefined
      : `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`;
  }
  if (id === "") {
    return `Invalid '${at}': empty string. Expected a string with minimum length 1, but got an empty string instead.`;
  }
  if (id.length <= traits.maxCallIdLength) return undefined;
  return `Invalid '${at}': string too long. Expected a string with maximum length ${traits.maxCallIdLength}, but got a string with length ${id.length} instead.`;
}
