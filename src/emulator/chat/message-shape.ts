/**
 * Each message by itself: role, content and its parts, calls and their ids, fields a vendor does not know. What stands
 * around a message is judged in `history.ts`.
 *
 * @module
 */

import { arrayOf, isObject, objectOf, stringOf } from "../../base/support/index.ts";
import { invalidType, invalidValue, missingParameter } from "../responses/judge/refusals.ts";
import type { Switches } from "../switches.ts";
import type { ChatMessage } from "./messages.ts";
import {
  type ChatRefusal,
  chatRefusal,
  invalidParameter,
  longCallId,
  missingCallId,
  strangeCallId,
  unknownMessageField,
} from "./refusals.ts";
import { emptyArray, inWordsOf } from "./request-shape.ts";
import type { ChatTraits } from "./vendors.ts";
import { CHAT_ROLES, CHAT_THINKING_PART } from "./vocabulary.ts";

const common = ["role", "content", "name"];

export function checkMessage(
  message: ChatMessage,
  chat: ChatTraits,
  switches: Switches,
): ChatRefusal | undefined {
  return (
    checkRole(message, chat) ??
    (switches.unknownFields === "refuse" ? checkFields(message, chat) : undefined) ??
    checkContent(message, chat) ??
    checkCalls(message, chat) ??
    (switches.callIdForm === "vendor" ? checkCallIds(message, chat) : undefined)
  );
}

function checkRole({ role, index }: ChatMessage, chat: ChatTraits): ChatRefusal | undefined {
  const known: readonly string[] = CHAT_ROLES.filter((one) => one !== "developer" || chat.developerRole);
  if (known.includes(role)) return undefined;
  return inWordsOf(chat.vendor, invalidValue("X-role", `messages[${index}].role`, role, known));
}

function checkFields(message: ChatMessage, chat: ChatTraits): ChatRefusal | undefined {
  const { role, index, raw } = message;
  if (chat.assistantFields === null) return undefined;
  const own =
    role === "assistant" ? ["tool_calls", ...chat.assistantFields] : role === "tool" ? ["tool_call_id"] : [];
  const [name, value] =
    Object.entries(raw).find(([key]) => !common.includes(key) && !own.includes(key)) ?? [];
  return name === undefined
    ? checkCallFields(message, chat)
    : unknownMessageField(chat.vendor, { index, role, name, value });
}

/** `index` is what a stream numbers its calls with; clients send it back. */
const callFields = ["id", "type", "function", "custom", "index"];

function checkCallFields({ index, role, raw }: ChatMessage, chat: ChatTraits): ChatRefusal | undefined {
  for (const [at, call] of arrayOf(raw["tool_calls"]).entries()) {
    const [name, value] = Object.entries(objectOf(call)).find(([key]) => !callFields.includes(key)) ?? [];
    if (name === undefined) continue;
    return unknownMessageField(chat.vendor, { index, role, name, value, path: ["tool_calls", at] });
  }
  return undefined;
}

/** What a part of `content` may be, by role. */
const partTypes: Readonly<Record<string, readonly string[]>> = {
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal"],
};

function checkContent(message: ChatMessage, chat: ChatTraits): ChatRefusal | undefined {
  const { role, index, raw } = message;
  const { content } = raw;
  if (typeof content === "string") return undefined;
  if (content === undefined || content === null) {
    const without =
      message.calls.length > 0 || isObject(raw["function_call"]) || typeof raw["refusal"] === "string";
    if (role === "assistant" && without) return undefined;
    return role === "assistant" && chat.vendor === "mistral" ? emptyAssistant() : nullContent(message, chat);
  }
  if (!Array.isArray(content))
    return inWordsOf(chat.vendor, invalidType(`messages[${index}].content`, "a string or an array", content));
  const thinking = chat.shows === "content" && role === "assistant" ? [CHAT_THINKING_PART] : [];
  const known = [...(partTypes[role] ?? ["text"]), ...thinking];
  for (const [at, value] of content.entries()) {
    const wrong = checkPart(value, { known, chat, param: `messages[${index}].content[${at}]`, index });
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function checkPart(
  value: unknown,
  at: {
    readonly known: readonly string[];
    readonly chat: ChatTraits;
    readonly param: string;
    readonly index: number;
  },
): ChatRefusal | undefined {
  const { known, chat, param } = at;
  const part = objectOf(value);
  const type = stringOf(part["type"]) ?? "";
  // DeepSeek has no vision: its deserialiser knows no other variant.
  if (chat.vendor === "deepseek" && type !== "text") {
    return chatRefusal("deepseek", {
      rule: "X-part",
      message: `Failed to deserialize the JSON body into the target type: messages[${at.index}]: unknown variant \`${type}\`, expected \`text\``,
    });
  }
  if (!known.includes(type))
    return inWordsOf(chat.vendor, invalidValue("X-part", `${param}.type`, type, known));
  const needs = type === "text" ? "text" : type === "image_url" ? "image_url" : undefined;
  if (needs === "text" && typeof part["text"] !== "string")
    return inWordsOf(chat.vendor, missingParameter("X-part", `${param}.text`));
  const image = part["image_url"];
  if (needs === "image_url" && stringOf(objectOf(image)["url"]) === undefined) {
    if (chat.vendor === "mistral" && typeof image === "string") return undefined;
    return inWordsOf(chat.vendor, missingParameter("X-part", `${param}.image_url.url`));
  }
  return undefined;
}

function nullContent({ index }: ChatMessage, chat: ChatTraits): ChatRefusal {
  return invalidParameter(chat.vendor, {
    rule: "X-content",
    message: "Invalid value for 'content': expected a string, got null.",
    param: `messages.[${index}].content`,
  });
}

function emptyAssistant(): ChatRefusal {
  return chatRefusal("mistral", {
    rule: "X-content",
    message: "Assistant message must have either content or tool_calls, but not none.",
    type: "invalid_request_assistant_message",
    code: "3240",
  });
}

function checkCalls(message: ChatMessage, chat: ChatTraits): ChatRefusal | undefined {
  const { role, index, raw } = message;
  const { vendor } = chat;
  if (role === "tool" && message.callId === undefined) return missingCallId(vendor, index);
  const calls = raw["tool_calls"];
  if (role !== "assistant" || calls === undefined || calls === null) return undefined;
  const param = `messages[${index}].tool_calls`;
  if (!Array.isArray(calls)) return inWordsOf(vendor, invalidType(param, "an array", calls));
  if (calls.length === 0 && vendor === "openai") return emptyArray(vendor, param);
  const typed = vendor === "openai" || vendor === "groq";
  for (const [at, value] of arrayOf(calls).entries()) {
    const call = objectOf(value);
    const here = `${param}[${at}]`;
    if (typeof call["id"] !== "string") return inWordsOf(vendor, missingParameter("X-call", `${here}.id`));
    if (typed && typeof call["type"] !== "string")
      return inWordsOf(vendor, missingParameter("X-call", `${here}.type`));
    if (call["type"] === "custom") continue;
    const made = objectOf(call["function"]);
    if (typeof made["name"] !== "string")
      return inWordsOf(vendor, missingParameter("X-call", `${here}.function.name`));
    if (typeof made["arguments"] !== "string")
      return inWordsOf(vendor, invalidType(`${here}.function.arguments`, "a string", made["arguments"]));
  }
  return undefined;
}

function checkCallIds(message: ChatMessage, chat: ChatTraits): ChatRefusal | undefined {
  if (chat.callIds === "any") return undefined;
  const { index, callId } = message;
  const ids = [
    ...message.calls.map(({ id }, at) => [id, `messages[${index}].tool_calls[${at}].id`] as const),
    ...(message.role === "tool" && callId !== undefined
      ? [[callId, `messages[${index}].tool_call_id`] as const]
      : []),
  ];
  for (const [id, param] of ids) {
    if (chat.callIds === "nine" && !/^[a-zA-Z0-9]{9}$/.test(id)) return strangeCallId(id);
    if (chat.callIds === "forty" && id.length > 40) return longCallId(chat.vendor, param, id.length);
  }
  return undefined;
}
