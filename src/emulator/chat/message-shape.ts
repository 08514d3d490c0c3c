/**
 * Checks each message on its own: role, content and its parts, calls and their ids, fields the vendor does not know.
 * `history.ts` judges a message in context.
 */

import { arrayOf, isObject, objectOf } from "../../base/support/index.ts";
import { invalidType } from "../responses/judge/refusals.ts";
import { by, ensure, orNull, readAs, type Row, rows } from "../shape/shape-rows.ts";
import type { Switches } from "../switches.ts";
import type { ChatMessage } from "./messages.ts";
import {
  type ChatRefusal,
  chatRefusal,
  invalidParameter,
  inWordsOf,
  longCallId,
  missingCallId,
  notEmptyList,
  strangeCallId,
  strangeToolName,
  unknownMessageField,
} from "./refusals.ts";
import { chatRows, textOrNothing } from "./shape-words.ts";
import type { ChatTraits, Vendor } from "./vendors.ts";
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

const pathOf = ({ index }: ChatMessage): string => `messages[${index}]`;

function checkRole(message: ChatMessage, chat: ChatTraits): ChatRefusal | undefined {
  const { field, mustBeOneOf } = chatRows(chat.vendor, "X-role");
  const known = CHAT_ROLES.filter((one) => one !== "developer" || chat.developerRole);
  return field("role", readAs(textOrNothing, mustBeOneOf(known)))(message.raw, pathOf(message));
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

/** A stream numbers its calls with `index`; clients send it back. */
const callFields = ["id", "type", "function", "custom", "index"];

function checkCallFields({ index, role, raw }: ChatMessage, chat: ChatTraits): ChatRefusal | undefined {
  for (const [at, call] of arrayOf(raw["tool_calls"]).entries()) {
    const [name, value] = Object.entries(objectOf(call)).find(([key]) => !callFields.includes(key)) ?? [];
    if (name === undefined) continue;
    return unknownMessageField(chat.vendor, { index, role, name, value, path: ["tool_calls", at] });
  }
  return undefined;
}

/** The part types that `content` may have, by role. */
const partTypes: Readonly<Record<string, readonly string[]>> = {
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal"],
};

function checkContent(message: ChatMessage, chat: ChatTraits): ChatRefusal | undefined {
  const { role, raw } = message;
  if (raw["content"] === undefined || raw["content"] === null) {
    const without =
      message.calls.length > 0 || isObject(raw["function_call"]) || typeof raw["refusal"] === "string";
    if (role === "assistant" && without) return undefined;
    return role === "assistant" && chat.vendor === "mistral" ? emptyAssistant() : nullContent(message, chat);
  }
  const { each, field, is } = chatRows(chat.vendor);
  const parts = each(readAs(objectOf, partRows(message, chat)));
  return field("content", is(["string", "array"], "a string or an array"), parts)(raw, pathOf(message));
}

function partRows(message: ChatMessage, { vendor, shows }: ChatTraits): Row<ChatRefusal> {
  const { field, mustBe, mustBeOneOf } = chatRows(vendor, "X-part");
  const thinking = shows === "content" && message.role === "assistant" ? [CHAT_THINKING_PART] : [];
  const known = [...(partTypes[message.role] ?? ["text"]), ...thinking];
  return rows(
    vendor === "deepseek" ? (part) => unknownVariant(message, part) : rows(),
    field("type", readAs(textOrNothing, mustBeOneOf(known))),
    by(({ type, image_url: image }) => {
      if (type === "text") return field("text", mustBe("string"));
      if (type !== "image_url" || (vendor === "mistral" && typeof image === "string")) return undefined;
      return field("image_url", readAs(objectOf, field("url", mustBe("string"))));
    }),
  );
}

/** DeepSeek has no vision: its deserialiser knows no other variant. */
function unknownVariant(message: ChatMessage, part: unknown): ChatRefusal | undefined {
  const type = textOrNothing(objectOf(part)["type"]);
  if (type === "text") return undefined;
  return chatRefusal("deepseek", {
    rule: "X-part",
    message: `Failed to deserialize the JSON body into the target type: ${pathOf(message)}: unknown variant \`${type}\`, expected \`text\``,
  });
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
  const { each, field, is, mustBe } = chatRows(vendor, "X-call");
  if (role === "tool") {
    if (message.callId === undefined) return missingCallId(vendor, index);
    return field("name", orNull(is("string"), toolName(vendor)))(raw, pathOf(message));
  }
  if (role !== "assistant") return undefined;
  const typed = vendor === "openai" || vendor === "groq";
  const called = field("name", mustBe("string"), toolName(vendor));
  const made = readAs(objectOf, called, field("arguments", text(vendor)));
  const call = readAs(
    objectOf,
    field("id", mustBe("string")),
    typed ? field("type", mustBe("string")) : rows(),
    by(({ type }) =>
      type === "custom" ? field("custom", readAs(objectOf, called)) : field("function", made),
    ),
  );
  const filled = vendor === "openai" ? notEmptyList(vendor) : rows<ChatRefusal>();
  return field("tool_calls", orNull(is("array"), filled, each(call)))(raw, pathOf(message));
}

function toolName(vendor: Vendor): Row<ChatRefusal> {
  return ensure(
    (name: string) => /^[a-zA-Z0-9_-]{1,64}$/.test(name),
    (path, name) => strangeToolName(vendor, path, name),
  );
}

/** Here a missing value counts as a wrong type too. */
function text(vendor: Vendor): Row<ChatRefusal> {
  return (value, path) =>
    typeof value === "string" ? undefined : inWordsOf(vendor, invalidType(path, "a string", value));
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
