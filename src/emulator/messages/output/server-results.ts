/** The results of server tools when their turn resumes: a small, valid result for each tool the API runs itself. */

import type { JsonObject } from "../../../base/support/index.ts";
import type { Draft, Reply } from "../../output/draft.ts";
import { isServerResult, resultTypeOf } from "../vocabulary.ts";

const page = {
  type: "web_search_result",
  title: "An emulated page",
  url: "https://example.com/emulated",
  encrypted_content: "EqgfCioIARgBIiQ",
  page_age: null,
};

const code = { stdout: "", stderr: "", return_code: 0, content: [] };

const contents: Readonly<Record<string, unknown>> = {
  web_search_tool_result: [page],
  web_fetch_tool_result: {
    type: "web_fetch_result",
    url: page.url,
    retrieved_at: null,
    content: {
      type: "document",
      source: { type: "text", media_type: "text/plain", data: "An emulated page." },
      title: page.title,
      citations: null,
    },
  },
  code_execution_tool_result: { type: "code_execution_result", ...code },
  bash_code_execution_tool_result: { type: "bash_code_execution_result", ...code },
  text_editor_code_execution_tool_result: {
    type: "text_editor_code_execution_create_result",
    is_file_update: false,
  },
  tool_search_tool_result: { type: "tool_search_tool_search_result", tool_references: [] },
  advisor_tool_result: { type: "advisor_result", text: "An emulated second opinion." },
  mcp_tool_result: [{ type: "text", text: "An emulated result." }],
};

export function resultBlock(call: JsonObject): JsonObject {
  const type = resultTypeOf(call);
  const block = { type, tool_use_id: call["id"], content: contents[type] ?? [] };
  return type === "mcp_tool_result" ? { ...block, is_error: false } : block;
}

/**
 * The results an answer begins with if calls were waiting. Code keeps waiting while the answer calls client tools or
 * pauses again; results that the answer contains itself are not added.
 */
export function resumedResults(pending: readonly JsonObject[], reply: Reply): readonly Draft[] {
  const own = new Set(reply.output.flatMap(answeredBy));
  const goesOn = reply.status === "incomplete" || reply.output.some(callsClient);
  return pending.flatMap((call): Draft[] => {
    const waits = goesOn && String(call["name"]).endsWith("code_execution");
    return own.has(call["id"]) || waits ? [] : [{ type: "raw", item: resultBlock(call) }];
  });
}

function answeredBy(draft: Draft): readonly unknown[] {
  if (draft.type !== "raw" || !isServerResult(String(draft.item["type"]))) return [];
  return [draft.item["tool_use_id"]];
}

export function callsClient(draft: Draft): boolean {
  if (draft.type === "raw") return draft.item["type"] === "tool_use";
  return draft.type === "function_call" || draft.type === "custom_tool_call";
}
