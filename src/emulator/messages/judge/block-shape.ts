/**
 * Checks each message and block on its own: roles, known types, fields the input accepts, ids, empty texts. Field list:
 * @anthropic-ai/sdk 1.8.0 beta messages.d.ts, *BlockParam.
 */

import { arrayOf, isObject, stringOf } from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import { by, ensure, type Row, rows } from "../../shape/shape-rows.ts";
import type { ValueKind } from "../../shape/value-kind.ts";
import type { Switches } from "../../switches.ts";
import {
  blankText,
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
import { SERVER_TOOL_ID_PATTERN, TOOL_ID_PATTERN, TOOL_NAME_PATTERN } from "../vocabulary.ts";
import { resultContent } from "./result-content.ts";
import { messagesRows } from "./shape-words.ts";

const { field, is, mustBe, only, required, under } = messagesRows;

interface BlockFields {
  readonly required: Readonly<Record<string, ValueKind>>;
  readonly optional: readonly string[];
  /** Further checks once its fields are correct. */
  readonly own?: Row<ApiRefusal>;
}

const toolId = ensure(
  (id: string) => TOOL_ID_PATTERN.test(id),
  (path) => patternMismatch("C09", path, TOOL_ID_PATTERN.source),
);

const serverId = ensure(
  (id: string) => SERVER_TOOL_ID_PATTERN.test(id),
  (path) => patternMismatch("C09", path, SERVER_TOOL_ID_PATTERN.source),
);

/** T15: the length is checked first, against its own limit. */
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

const cached = ["cache_control"];

/** A result of a tool that the API ran; its content is not checked. */
const serverResult: BlockFields = {
  required: { tool_use_id: "string", content: "any" },
  optional: [...cached, "caller"],
  own: field("tool_use_id", serverId),
};

const call = { id: "string", name: "string", input: "object" } as const;

const both: Readonly<Record<string, BlockFields>> = {
  text: { required: { text: "string" }, optional: [...cached, "citations"], own: field("text", filled) },
  container_upload: { required: { file_id: "string" }, optional: cached },
  image: { required: { source: "object" }, optional: [...cached, "transformations"] },
  document: { required: { source: "object" }, optional: [...cached, "citations", "context", "title"] },
  search_result: {
    required: { content: "any", source: "string", title: "string" },
    optional: [...cached, "citations"],
  },
};

const ofUser: Readonly<Record<string, BlockFields>> = {
  ...both,
  tool_result: {
    required: { tool_use_id: "string" },
    optional: [...cached, "content", "is_error", "toolset_name"],
    own: rows(field("tool_use_id", toolId), field("is_error", is("boolean")), resultContent),
  },
};

/** Tool changes within the conversation arrive as system messages. */
const ofSystem: Readonly<Record<string, BlockFields>> = {
  ...both,
  tool_addition: { required: { tool: "object" }, optional: cached },
  tool_removal: { required: { tool: "object" }, optional: cached },
};

const ofAssistant: Readonly<Record<string, BlockFields>> = {
  ...both,
  thinking: { required: { thinking: "string", signature: "string" }, optional: [] },
  redacted_thinking: { required: { data: "string" }, optional: [] },
  tool_use: {
    required: call,
    optional: [...cached, "caller", "toolset_name"],
    own: rows(field("id", toolId), field("name", toolName)),
  },
  server_tool_use: { required: call, optional: [...cached, "caller"], own: field("id", serverId) },
  advisor_tool_result: serverResult,
  bash_code_execution_tool_result: serverResult,
  code_execution_tool_result: serverResult,
  text_editor_code_execution_tool_result: serverResult,
  tool_search_tool_result: serverResult,
  web_fetch_tool_result: serverResult,
  web_search_tool_result: serverResult,
  mcp_tool_use: { required: { ...call, server_name: "string" }, optional: cached },
  mcp_tool_result: { required: { tool_use_id: "string" }, optional: [...cached, "content", "is_error"] },
  mcp_tool_listing: { required: { mcp_server_name: "string", tools: "array" }, optional: [] },
  compaction: {
    required: {},
    optional: [...cached, "content", "encrypted_content", "signature", "tool_changes"],
  },
  fallback: { required: { from: "object", to: "object" }, optional: ["trigger"] },
};

/** Fields a system message may have besides its text: per-turn effort and expiry (beta messages.d.ts). */
const ofSystemMessage = ["clear_at", "output_config"];

export interface BlockRules {
  readonly switches: Switches;
  /** Undocumented types that this server has sent, and so accepts back. */
  readonly ownTypes: ReadonlySet<string>;
}

export function* checkMessages(messages: readonly unknown[], rules: BlockRules): Generator<ApiRefusal> {
  if (messages.length === 0) yield noMessages();
  for (const [index, message] of messages.entries()) {
    yield* checkMessage(message, index, { ...rules, last: index === messages.length - 1 });
  }
  const [first] = messages;
  if (isObject(first) && first["role"] === "assistant") yield firstNotUser();
}

function* checkMessage(
  message: unknown,
  index: number,
  options: BlockRules & { readonly last: boolean },
): Generator<ApiRefusal> {
  const path = `messages.${index}`;
  if (!isObject(message)) {
    yield wrongType(path, "a valid dictionary");
    return;
  }
  const { role, content, ...rest } = message;
  const extra = Object.keys(rest).find((name) => role !== "system" || !ofSystemMessage.includes(name));
  if (extra !== undefined) yield extraInput(`${path}.${extra}`);
  if (role === undefined) yield fieldRequired(`${path}.role`);
  else if (role === "system" && options.switches.systemMessages === "refuse") yield systemRole();
  else if (role !== "user" && role !== "assistant" && role !== "system")
    yield unexpectedValue(`${path}.role`, ["user", "assistant"]);
  if (content === undefined && role === "system") return;
  if (content === undefined) yield fieldRequired(`${path}.content`);
  else if (typeof content !== "string" && !Array.isArray(content))
    yield wrongType(`${path}.content`, "a valid list");
  const optional = role === "system" || (options.last && role === "assistant");
  if (content === "" || (Array.isArray(content) && content.length === 0)) {
    if (!optional) yield emptyContent(index);
  } else if (Array.isArray(content)) {
    for (const [at, block] of content.entries()) {
      const wrong = blockOf(stringOf(role) ?? "user", options)(block, `${path}.content.${at}`);
      if (wrong !== undefined) yield wrong;
    }
  }
  if (saysNothing(content, options.switches.blankText)) yield blankText();
}

/** Whether the message has no text. Blank text counts as text next to other text; with `any` it never does. */
function saysNothing(content: unknown, rule: Switches["blankText"]): boolean {
  const texts = typeof content === "string" ? [content] : arrayOf(content).map(textIn);
  const blank = texts.filter((text) => text !== undefined && text !== "" && text.trim() === "");
  if (blank.length === 0 || rule === "any") return blank.length > 0;
  return texts.every((text) => text === undefined || text.trim() === "");
}

function textIn(block: unknown): string | undefined {
  return isObject(block) && block["type"] === "text" ? stringOf(block["text"]) : undefined;
}

const blockOf = (role: string, { ownTypes }: BlockRules): Row<ApiRefusal> =>
  rows(
    is("object"),
    field("type", mustBe("string")),
    by(({ type }) => {
      const own = role === "assistant" && ownTypes.has(String(type));
      return own ? undefined : blockShape(String(type), role);
    }),
  );

function blockShape(type: string, role: string): Row<ApiRefusal> {
  const tables = role === "assistant" ? ofAssistant : role === "system" ? ofSystem : ofUser;
  const table = Object.hasOwn(tables, type) ? tables[type] : undefined;
  if (table === undefined) return (_, path) => unknownTag(path, type, Object.keys(tables).toSorted());
  return under(
    type,
    ...Object.entries(table.required).map(([name, kind]) => field(name, required(), is(kind))),
    only(["type", ...Object.keys(table.required), ...table.optional]),
    table.own ?? rows(),
  );
}
