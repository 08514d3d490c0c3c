/**
 * Each message and block by itself: roles, known types, fields the input takes, ids, empty texts. Field list:
 * @anthropic-ai/sdk 1.8.0 messages.d.ts, *BlockParam.
 */

import { isObject, stringOf } from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import { by, ensure, type Row, rows } from "../../shape/shape-rows.ts";
import type { ValueKind } from "../../shape/value-kind.ts";
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
  wrongLength,
  wrongType,
} from "../refusals.ts";
import { SERVER_BLOCKS, TOOL_ID_PATTERN, TOOL_NAME_PATTERN } from "../vocabulary.ts";
import { messagesRows } from "./shape-words.ts";

const { each, field, is, mustBe, only, required, under } = messagesRows;

interface BlockFields {
  readonly required: Readonly<Record<string, ValueKind>>;
  readonly optional: readonly string[];
  /** What else must be right once its fields are the right ones. */
  readonly own?: Row<ApiRefusal>;
}

const toolId = ensure(
  (id: string) => TOOL_ID_PATTERN.test(id),
  (path) => patternMismatch("C09", path, TOOL_ID_PATTERN.source),
);

/** T15: the length first, which has a limit of its own. */
const toolName = rows(
  ensure(
    (name: string) => name !== "",
    (path) => wrongLength(path, "at least 1 character"),
  ),
  ensure(
    (name: string) => name.length <= 200,
    (path) => wrongLength(path, "at most 200 characters"),
  ),
  ensure(
    (name: string) => TOOL_NAME_PATTERN.test(name),
    (path) => patternMismatch("T15", path, TOOL_NAME_PATTERN.source),
  ),
);

const filled = ensure(
  (text) => text !== "",
  () => emptyText("messages"),
);

const toolUse: BlockFields = {
  required: { id: "string", name: "string", input: "object" },
  optional: ["cache_control", "caller", "toolset_name"],
};

const blockFields: Readonly<Record<string, BlockFields>> = {
  text: {
    required: { text: "string" },
    optional: ["cache_control", "citations"],
    own: field("text", filled),
  },
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
  tool_use: { ...toolUse, own: rows(field("id", toolId), field("name", toolName)) },
  tool_result: {
    required: { tool_use_id: "string" },
    optional: ["cache_control", "content", "is_error", "toolset_name"],
    own: rows(
      field("tool_use_id", toolId),
      field("is_error", is("boolean")),
      field(
        "content",
        is(["string", "array"], "a valid list"),
        each(
          is("object"),
          by(({ type }) => (type === "text" ? field("text", filled) : undefined)),
        ),
      ),
    ),
  },
  server_tool_use: toolUse,
};

/** Types whose fields are not checked: they are not ours to write. `emulator_surprise` comes from a fault. */
const free = [...SERVER_BLOCKS, "compaction", "container_upload", "emulator_surprise", "fallback"].filter(
  (type) => !Object.hasOwn(blockFields, type),
);

const inAssistant = new Set(["thinking", "redacted_thinking", "tool_use", "server_tool_use", ...free]);

export function* checkMessages(messages: readonly unknown[], switches: Switches): Generator<ApiRefusal> {
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
): Generator<ApiRefusal> {
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
      const wrong = blockOf(stringOf(role) ?? "user")(block, `${path}.content.${at}`);
      if (wrong !== undefined) yield wrong;
    }
  }
}

const blockOf = (role: string): Row<ApiRefusal> =>
  rows(
    is("object"),
    field("type", mustBe("string")),
    by(({ type }) => blockShape(String(type), role)),
  );

function blockShape(type: string, role: string): Row<ApiRefusal> {
  if (!isAllowedIn(role, type)) return (_, path) => unknownTag(path, type, allowedIn(role));
  const table = Object.hasOwn(blockFields, type) ? blockFields[type] : undefined;
  if (table === undefined) return rows();
  return under(
    type,
    ...Object.entries(table.required).map(([name, kind]) => field(name, required(), is(kind))),
    only(["type", ...Object.keys(table.required), ...table.optional]),
    table.own ?? rows(),
  );
}

function isAllowedIn(role: string, type: string): boolean {
  if (!Object.hasOwn(blockFields, type) && !free.includes(type)) return false;
  return role === "assistant" ? type !== "tool_result" : !inAssistant.has(type);
}

function allowedIn(role: string): readonly string[] {
  const all = [...Object.keys(blockFields), ...free.filter((type) => type !== "emulator_surprise")];
  return all.filter((type) => isAllowedIn(role, type)).toSorted();
}
