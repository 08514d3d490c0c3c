/**
 * The `tools` of a request: those a client defines, and those Anthropic has defined, each by its type. Names come from
 * @anthropic-ai/sdk 1.8.0, BetaToolUnion: every tool except a toolset needs a name, which identifies the tool.
 */

import { stringOf } from "../../../base/support/index.ts";
import type { ApiRefusal } from "../../api-refusal.ts";
import { by, ensure, type Row, rows } from "../../shape/shape-rows.ts";
import { patternMismatch, toolNamesRepeat, unknownTag } from "../refusals.ts";
import { TOOL_NAME_PATTERN } from "../vocabulary.ts";
import { messagesRows } from "./shape-words.ts";

const { field, is, mustBe, oneOf, required, under } = messagesRows;

const isName = (name: unknown): boolean => typeof name === "string" && TOOL_NAME_PATTERN.test(name);

/** The name of each tool, and its versions. */
const versions: Readonly<Record<string, readonly string[]>> = {
  advisor: ["advisor_20260301"],
  bash: ["bash_20241022", "bash_20250124"],
  code_execution: [
    "code_execution_20250522",
    "code_execution_20250825",
    "code_execution_20260120",
    "code_execution_20260521",
  ],
  computer: ["computer_20241022", "computer_20250124", "computer_20251124"],
  memory: ["memory_20250818"],
  str_replace_based_edit_tool: ["text_editor_20250429", "text_editor_20250728"],
  str_replace_editor: ["text_editor_20241022", "text_editor_20250124"],
  tool_search_tool_bm25: ["tool_search_tool_bm25", "tool_search_tool_bm25_20251119"],
  tool_search_tool_regex: ["tool_search_tool_regex", "tool_search_tool_regex_20251119"],
  web_fetch: ["web_fetch_20250910", "web_fetch_20260209", "web_fetch_20260309", "web_fetch_20260318"],
  web_search: ["web_search_20250305", "web_search_20260209", "web_search_20260318"],
};

const named = (name: string, ...more: readonly Row<ApiRefusal>[]): Row<ApiRefusal> =>
  rows(field("name", required(), oneOf([name])), ...more);

const pixels = rows(
  field("display_height_px", required(), is("integer")),
  field("display_width_px", required(), is("integer")),
);

const further: Readonly<Record<string, Row<ApiRefusal>>> = {
  advisor: field("model", required(), is("string")),
  computer: pixels,
};

const predefined: ReadonlyMap<string, Row<ApiRefusal>> = new Map([
  ["browser_toolset_20260801", rows()],
  ["computer_toolset_20260801", rows()],
  ["mcp_toolset", field("mcp_server_name", required(), is("string"))],
  ...Object.entries(versions).flatMap(([name, types]) =>
    types.map((type): [string, Row<ApiRefusal>] => [type, named(name, further[name] ?? rows())]),
  ),
]);

/** Checks one tool after another; names must be unique. */
export function toolRows(): Row<ApiRefusal> {
  const names = new Set<unknown>();
  const unique = field(
    "name",
    ensure((name) => names.size < names.add(name).size, toolNamesRepeat),
  );
  const custom = under(
    "custom",
    field(
      "name",
      required(),
      ensure(isName, (path) => patternMismatch("X-tools", path, TOOL_NAME_PATTERN.source)),
    ),
    field("input_schema", mustBe("object")),
  );
  return by(({ type: given }) => {
    const type = stringOf(given) ?? "custom";
    if (type === "custom") return rows(custom, unique);
    const shape = predefined.get(type);
    if (shape === undefined)
      return (_, path) => unknownTag(path, type, [...predefined.keys(), "custom"].toSorted());
    return rows(under(type, shape), unique);
  });
}
