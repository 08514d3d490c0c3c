/**
 * Each message and block by itself: roles, known types, fields the input takes, ids, empty texts. Field list:
 * @anthropic-ai/sdk 1.8.0 messages.d.ts, *BlockParam.
 *
 * @module
 */

import { isObject, type JsonObject, stringOf } from "../../../base/support/index.ts";
import type { Refusal } from "../../refusal.ts";
import type { Switches } from "../../switches.ts";
import {
  emptyContent,
  emptyText,
  extraInput,
  fieldRequired,
  firstNotUser,
  noMessages,
  patternMismatch,
  systemRole,
  unexpectedValue,
  unknownTag,
  wrongType,
} from "../refusals.ts";
import { SERVER_BLOCKS, TOOL_ID_PATTERN } from "../vocabulary.ts";

type Kind = "string" | "object" | "boolean" | "any";

interface Shape {
  readonly required: Readonly<Record<string, Kind>>;
  readonly optional: readonly string[];
}

const toolUse: Shape = {
  required: { id: "string", name: "string", input: "object" },
  optional: ["cache_control", "caller", "toolset_name"],
};

const shapes: Readonly<Record<string, Shape>> = {
  text: { required: { text: "string" }, optional: ["cache_control", "citations"] },
  image: { required: { source: "object" }, optional: ["cache_control"] },
  document: {
    required: { source: "object" },
    optional: ["cache_control", "citations", "context", "title"],
  },
  search_result: {
    required: { content: "any", source: "string", title: "string" },
    optional: ["cache_control", "citations"],
  },
  thinking: { required: { thinking: "string", signature: "string" }, optional: [] },
  redacted_thinking: { required: { data: "string" }, optional: [] },
  tool_use: toolUse,
  tool_result: {
    required: { tool_use_id: "string" },
    optional: ["cache_control", "content", "is_error", "toolset_name"],
  },
  server_tool_use: toolUse,
};

/** Types whose fields are not checked: they are not ours to write. `emulator_surprise` comes from a fault. */
const free = [...SERVER_BLOCKS, "compaction", "container_upload", "emulator_surprise", "fallback"].filter(
  (type) => !Object.hasOwn(shapes, type),
);

const inAssistant = new Set(["thinking", "redacted_thinking", "tool_use", "server_tool_use", ...free]);

const kindWords: Readonly<Record<Kind, string>> = {
  string: "a valid string",
  object: "a valid dictionary",
  boolean: "a valid boolean",
  any: "a valid value",
};

export function* checkMessages(messages: readonly unknown[], switches: Switches): Generator<Refusal> {
  if (messages.length === 0) yield noMessages();
  for (const [index, message] of messages.entries()) {
    yield* checkMessage(message, index, { switches, last: index === messages.length - 1 });
  }
  const [first] = messages;
  if (isObject(first) && first["role"] === "assistant") yield firstNotUser();
}

function* checkMessage(
  message: unknown,
  index: number,
  options: { readonly switches: Switches; readonly last: boolean },
): Generator<Refusal> {
  const path = `messages.${index}`;
  if (!isObject(message)) {
    yield wrongType(path, "a valid dictionary");
    return;
  }
  const { role, content, ...rest } = message;
  const [extra] = Object.keys(rest);
  if (extra !== undefined) yield extraInput(`${path}.${extra}`);
  if (role === undefined) yield fieldRequired(`${path}.role`);
  else if (role === "system" && options.switches.systemMessages === "refuse") yield systemRole();
  else if (role !== "user" && role !== "assistant" && role !== "system")
    yield unexpectedValue(`${path}.role`, ["user", "assistant"]);
  if (content === undefined) yield fieldRequired(`${path}.content`);
  else if (typeof content !== "string" && !Array.isArray(content))
    yield wrongType(`${path}.content`, "a valid list");
  const optional = options.last && role === "assistant";
  if (content === "" || (Array.isArray(content) && content.length === 0)) {
    if (!optional) yield emptyContent(index);
  } else if (Array.isArray(content)) {
    for (const [at, block] of content.entries()) {
      const wrong = checkBlock(block, `${path}.content.${at}`, stringOf(role) ?? "user");
      if (wrong !== undefined) yield wrong;
    }
  }
}

function checkBlock(block: unknown, path: string, role: string): Refusal | undefined {
  if (!isObject(block)) return wrongType(path, "a valid dictionary");
  const type = stringOf(block["type"]);
  if (type === undefined) return fieldRequired(`${path}.type`);
  const known = Object.hasOwn(shapes, type) || free.includes(type);
  if (
    !known ||
    (role !== "assistant" && inAssistant.has(type)) ||
    (role === "assistant" && type === "tool_result")
  )
    return unknownTag(path, type, allowedIn(role));
  const shape = shapes[type];
  if (shape === undefined) return undefined;
  return checkFields(block, `${path}.${type}`, shape) ?? checkContent(block, type, path);
}

function allowedIn(role: string): readonly string[] {
  const all = [...Object.keys(shapes), ...free.filter((type) => type !== "emulator_surprise")];
  const fits =
    role === "assistant"
      ? (type: string) => type !== "tool_result"
      : (type: string) => !inAssistant.has(type);
  return all.filter(fits).toSorted();
}

function checkFields(block: JsonObject, path: string, shape: Shape): Refusal | undefined {
  for (const [name, kind] of Object.entries(shape.required)) {
    if (block[name] === undefined) return fieldRequired(`${path}.${name}`);
    if (!isKind(block[name], kind)) return wrongType(`${path}.${name}`, kindWords[kind]);
  }
  const extra = Object.keys(block).find(
    (name) => name !== "type" && !Object.hasOwn(shape.required, name) && !shape.optional.includes(name),
  );
  return extra === undefined ? undefined : extraInput(`${path}.${extra}`);
}

function checkContent(block: JsonObject, type: string, path: string): Refusal | undefined {
  const pattern = TOOL_ID_PATTERN.source;
  const idField = type === "tool_result" ? "tool_use_id" : "id";
  const id = block[idField];
  if ((type === "tool_use" || type === "tool_result") && !TOOL_ID_PATTERN.test(stringOf(id) ?? ""))
    return patternMismatch("C09", `${path}.${type}.${idField}`, pattern);
  if (type === "text" && block["text"] === "") return emptyText("messages");
  if (type !== "tool_result") return undefined;
  const { content, is_error: failed } = block;
  if (failed !== undefined && typeof failed !== "boolean")
    return wrongType(`${path}.tool_result.is_error`, kindWords.boolean);
  if (content === undefined || typeof content === "string") return undefined;
  if (!Array.isArray(content)) return wrongType(`${path}.tool_result.content`, "a valid list");
  for (const [at, part] of content.entries()) {
    const inner = `${path}.tool_result.content.${at}`;
    if (!isObject(part)) return wrongType(inner, kindWords.object);
    if (part["type"] === "text" && part["text"] === "") return emptyText("messages");
  }
  return undefined;
}

function isKind(value: unknown, kind: Kind): boolean {
  if (kind === "any") return true;
  return kind === "object" ? isObject(value) : typeof value === kind;
}
