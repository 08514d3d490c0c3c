/**
 * The text of every refusal in the chat dialect, and the body each vendor wraps it in. One function per text;
 * docs/emulator.md lists them with their evidence.
 */

import { assertNever } from "../../base/support/index.ts";
import { refuse, type ApiRefusal } from "../api-refusal.ts";
import { badCallName, emptyString, stringTooLong } from "../responses/judge/refusals.ts";
import { ensure, type Row } from "../shape/shape-rows.ts";
import type { ChatTraits, Vendor } from "./vendors.ts";
import { CHAT_REASONING_FIELDS } from "./vocabulary.ts";

/** A refusal with its body in the vendor's form. */
export interface ChatRefusal extends ApiRefusal {
  readonly body: unknown;
}

type Draft = Parameters<typeof refuse>[0];

export function chatRefusal(vendor: Vendor, draft: Draft): ChatRefusal {
  return inWordsOf(vendor, refuse(draft));
}

export function inWordsOf(vendor: Vendor, refusal: ApiRefusal): ChatRefusal {
  return { ...refusal, body: bodyOf(vendor, refusal) };
}

export function bodyOf(vendor: Vendor, refusal: ApiRefusal): unknown {
  const { message, type, param, code, status } = refusal;
  const error = { message, type, param, code };
  switch (vendor) {
    case "openai":
    case "compatible":
      return { error };
    case "deepseek":
      return { error: { message, type, param: null, code: code ?? type } };
    case "kimi": // recorded: neither `param` nor `code`
      return { error: { message, type } };
    case "groq":
      return { error: { message, type, ...(code === null ? {} : { code }) } };
    case "mistral":
      return { object: "error", message, type, param: null, code };
    case "openrouter": {
      const raw = JSON.stringify({ error });
      return {
        error: {
          message: "Provider returned error",
          code: status,
          metadata: { raw, provider_name: "OpenAI", is_byok: false },
        },
        user_id: "user_emulator",
      };
    }
    default:
      return assertNever(vendor, "vendor");
  }
}

export const unknownModel = (model: string): ChatRefusal =>
  chatRefusal("openai", {
    rule: "X-model",
    status: 404,
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    code: "model_not_found",
  });

/** V04 and every other unknown field: pydantic's list inside Mistral's body. */
const extraForbidden = (rule: string, loc: readonly (string | number)[], input: unknown): ChatRefusal => {
  const detail = [
    { type: "extra_forbidden", loc: ["body", ...loc], msg: "Extra inputs are not permitted", input },
  ];
  const refusal = refuse({ rule, status: 422, message: `Extra inputs are not permitted: ${loc.join(".")}` });
  return {
    ...refusal,
    body: {
      object: "error",
      message: { detail },
      type: refusal.type,
      param: null,
      code: null,
    },
  };
};

/** OpenAI has two messages: newer models name the parameter (open-responses-server#41), older ones do not. */
export const unknownParameter = (chat: ChatTraits, name: string, value: unknown): ChatRefusal => {
  const { vendor } = chat;
  if (vendor === "mistral") return extraForbidden("X-unknown", [name], value);
  if (vendor === "groq")
    return chatRefusal(vendor, { rule: "X-unknown", message: `property '${name}' is unsupported` });
  return chatRefusal(
    vendor,
    chat.efforts === undefined
      ? { rule: "X-unknown", message: `Unrecognized request argument supplied: ${name}` }
      : {
          rule: "X-unknown",
          message: `Unknown parameter: '${name}'.`,
          param: name,
          code: "unknown_parameter",
        },
  );
};

/** V04, V05, V06 for a reasoning field; `path` leads from the message to the field. */
export const unknownMessageField = (
  vendor: Vendor,
  at: {
    readonly index: number;
    readonly role: string;
    readonly name: string;
    readonly value: unknown;
    readonly path?: readonly (string | number)[];
  },
): ChatRefusal => {
  const { index, role, name, value, path = [] } = at;
  const reasoning = path.length === 0 && CHAT_REASONING_FIELDS.some((field) => field === name);
  if (vendor === "mistral")
    return extraForbidden(reasoning ? "V04" : "X-field", ["messages", index, role, ...path, name], value);
  if (vendor === "groq") {
    const where = ["messages", index, ...path].join(".");
    return chatRefusal(vendor, {
      rule: reasoning ? "V05" : "X-field",
      message: `'messages.${index}' : for 'role:${role}' the following must be satisfied[('${where}' : property '${name}' is unsupported)]`,
    });
  }
  const inside = path.map((one) => (typeof one === "number" ? `[${one}]` : `.${one}`)).join("");
  const param = `messages[${index}]${inside}.${name}`;
  return chatRefusal(vendor, {
    rule: reasoning ? "V06" : "X-field",
    message: `Unknown parameter: '${param}'.`,
    param,
    code: "unknown_parameter",
  });
};

export const unsupportedMaxTokens = (vendor: Vendor): ChatRefusal =>
  chatRefusal(vendor, {
    rule: "X-max-tokens",
    message:
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    param: "max_tokens",
    code: "unsupported_parameter",
  });

export const unsupportedTemperature = (vendor: Vendor, value: number): ChatRefusal =>
  chatRefusal(vendor, {
    rule: "S08",
    message: `Unsupported value: 'temperature' does not support ${value} with this model. Only the default (1) value is supported.`,
    param: "temperature",
    code: "unsupported_value",
  });

export const unsupportedEffort = (
  vendor: Vendor,
  value: string,
  supported: readonly string[],
): ChatRefusal => {
  const quoted = supported.map((one) => `'${one}'`);
  return chatRefusal(vendor, {
    rule: "X-effort",
    message: `Unsupported value: 'reasoning_effort' does not support '${value}' with this model. Supported values are: ${quoted.slice(0, -1).join(", ")}, and ${quoted.at(-1)}.`,
    param: "reasoning_effort",
    code: "unsupported_value",
  });
};

export const invalidParameter = (
  vendor: Vendor,
  draft: Omit<Draft, "rule" | "param"> & { readonly rule?: string; readonly param: string },
): ChatRefusal => chatRefusal(vendor, { rule: "X-type", ...draft });

export const notEmptyList = (vendor: Vendor): Row<ChatRefusal> =>
  ensure(
    (list) => !Array.isArray(list) || list.length > 0,
    (param) =>
      chatRefusal(vendor, {
        rule: "X-empty",
        message: `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
        param,
        code: "empty_array",
      }),
  );

export const choiceWithoutTools = (vendor: Vendor): ChatRefusal =>
  chatRefusal(vendor, {
    rule: "X-tool-choice",
    message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
    param: "tool_choice",
  });

/** T01 in chat: three messages are known. */
export const unansweredCalls = (vendor: Vendor, index: number, ids: readonly string[]): ChatRefusal => {
  if (vendor === "mistral") {
    return chatRefusal(vendor, {
      rule: "T01",
      message: "Not the same number of function calls and responses",
      type: "invalid_request_message_order",
      code: "3230",
    });
  }
  const start =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
  const end =
    vendor === "deepseek"
      ? "(insufficient tool messages following tool_calls message)"
      : `The following tool_call_ids did not have response messages: ${ids.join(", ")}`;
  return chatRefusal(vendor, { rule: "T01", message: `${start} ${end}`, param: `messages.[${index}].role` });
};

/** T02 and T10 in chat: the typo is OpenAI's own. */
export const strayResult = (vendor: Vendor, rule: "T02" | "T10", index: number): ChatRefusal => {
  const message =
    vendor === "deepseek"
      ? "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
      : "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
  return chatRefusal(vendor, { rule, message, param: `messages.[${index}].role` });
};

export const unknownCall = (vendor: Vendor, index: number, id: string): ChatRefusal =>
  chatRefusal(vendor, {
    rule: "T02",
    message: `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`,
    param: `messages.[${index}].tool_call_id`,
  });

export const missingCallId = (vendor: Vendor, index: number): ChatRefusal =>
  chatRefusal(vendor, {
    rule: "X-missing",
    message: "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
    param: `messages.[${index}].tool_call_id`,
  });

/** Mistral's role order: an aborted tool loop needs an assistant message before the next user message. */
export const unexpectedRole = (role: string, before: string): ChatRefusal =>
  chatRefusal("mistral", {
    rule: "X-role-order",
    message: `Unexpected role '${role}' after role '${before}'`,
    type: "invalid_request_message_order",
    code: "3230",
  });

export const lastRole = (role: string): ChatRefusal =>
  chatRefusal("mistral", {
    rule: "X-last-role",
    message: `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${role}`,
    type: "invalid_request_message_order",
    code: "3230",
  });

export const successiveRoles = (model: string, index: number): ChatRefusal =>
  chatRefusal("deepseek", {
    rule: "X-role-order",
    message: `${model} does not support successive user or assistant messages (messages[${index - 1}] and messages[${index}] in your input). You should interleave the user/assistant messages in the message sequence.`,
  });

export const longCallId = (vendor: Vendor, param: string, length: number): ChatRefusal =>
  chatRefusal(vendor, {
    rule: "T05",
    message: `Invalid '${param}': string too long. Expected a string with maximum length 40, but got a string with length ${length} instead.`,
    param,
    code: "string_above_max_length",
  });

export const strangeCallId = (id: string): ChatRefusal =>
  chatRefusal("mistral", {
    rule: "T05",
    message: `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`,
    type: "invalid_function_call",
    code: "3280",
  });

/** T15. */
export function strangeToolName(vendor: Vendor, param: string, name: string): ChatRefusal {
  if (vendor === "mistral") {
    return chatRefusal(vendor, {
      rule: "T15",
      message: `Function name was ${name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`,
      type: "invalid_request_error",
    });
  }
  if (name === "") return inWordsOf(vendor, emptyString("T15", param));
  return inWordsOf(
    vendor,
    name.length > 64 ? stringTooLong("T15", param, name.length, 64) : badCallName(param),
  );
}

/** V01, V02: the reasoning of a message that requires it is missing or empty. */
export const reasoningMissing = (vendor: Vendor, index: number): ChatRefusal =>
  vendor === "kimi"
    ? chatRefusal(vendor, {
        rule: "V01",
        message: `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
      })
    : chatRefusal(vendor, {
        rule: "V02",
        message: "The `reasoning_content` in the thinking mode must be passed back to the API.",
      });

/** Kimi K2.7 accepts nothing else; the text is ours. */
export const thinkingNotEnabled = (vendor: Vendor, type: string): ChatRefusal =>
  chatRefusal(vendor, {
    rule: "X-thinking",
    message: `Invalid value: '${type}'. 'thinking.type' of this model must be 'enabled'.`,
    param: "thinking.type",
    code: "invalid_value",
  });

/** V03: the guide says that it returns 400, but not with which message. */
export const reasoningRefused = (index: number): ChatRefusal =>
  chatRefusal("deepseek", {
    rule: "V03",
    message: `The \`reasoning_content\` field is not allowed in the input messages (messages[${index}]).`,
  });

export const reasoningUnknown = (vendor: Vendor, index: number): ChatRefusal =>
  chatRefusal(vendor, {
    rule: "X-unknown-reasoning",
    message: `The reasoning of messages[${index}] was not written by this server.`,
    param: `messages[${index}]`,
    code: "unknown_reasoning",
  });

export const contextTooLong = (vendor: Vendor, limit: number, tokens: number): ChatRefusal =>
  chatRefusal(vendor, {
    rule: "X-context",
    message: `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
    param: "messages",
    code: "context_length_exceeded",
  });
