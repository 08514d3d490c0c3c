/** Chat completions: every call answered at once, names, text (failures.md §4, T10, V01, V04). */

import {
  first,
  type Json,
  type Judge,
  list,
  object,
  refuse,
  type Refusal,
  text,
  TOOL_NAME,
} from "./judgement.ts";

export const judgeChat: Judge = (body) => {
  const messages = list(body["messages"]);
  return first(messages, shape) ?? answered(messages);
};

function shape(message: Json, index: number): Refusal | undefined {
  const calls = list(message["tool_calls"]);
  const wrong = calls.findIndex((call) => !TOOL_NAME.test(text(object(call["function"])["name"])));
  if (wrong !== -1) {
    return refuse(
      `Invalid 'messages[${index}].tool_calls[${wrong}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      { param: `messages[${index}].tool_calls[${wrong}].function.name`, code: "invalid_value" },
    );
  }
  const broken = calls.some((call) => !isObjectText(text(object(call["function"])["arguments"])));
  if (broken) {
    return refuse(
      '<400> InternalError.Algo.InvalidParameter: The "function.arguments" parameter of the code model must be in JSON format.',
      { code: "invalid_parameter_error" },
    );
  }
  const { content } = message;
  const says = Array.isArray(content) ? content.length > 0 : text(content) !== "";
  if (message["role"] === "assistant" && !says && calls.length === 0) {
    return refuse("Invalid value for 'content': expected a string, got null.", {
      param: `messages.[${index}].content`,
    });
  }
  return undefined;
}

function answered(messages: readonly Json[]): Refusal | undefined {
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message["role"] === "tool") {
      if (open.delete(text(message["tool_call_id"]))) continue;
      return refuse(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        { param: `messages.[${index}].role` },
      );
    }
    if (open.size > 0) return unanswered(open);
    open = new Set(list(message["tool_calls"]).map((call) => text(call["id"])));
  }
  return open.size === 0 ? undefined : unanswered(open);
}

function unanswered(open: ReadonlySet<string>): Refusal {
  return refuse(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(", ")}`,
    { param: "messages" },
  );
}

function isObjectText(value: string): boolean {
  try {
    return typeof JSON.parse(value) === "object";
  } catch {
    return false;
  }
}
