/**
 * Which fields of an output item the input takes back, per type (openai 7.53 responses.d.ts; failures.md S03, S04, T14).
 * An allow-list: what the API adds tomorrow stays in the log and out of the request until it is listed here.
 */

export interface HostedRule {
  readonly home: "replay" | "omit";
  readonly fields: readonly string[];
  readonly why: string;
}

const MESSAGE = ["id", "type", "role", "status", "content", "phase"];
const REASONING = ["id", "type", "summary", "encrypted_content"];
const FUNCTION_CALL = [
  "id",
  "type",
  "status",
  "arguments",
  "call_id",
  "name",
  "namespace",
  "caller",
  "async",
];
const CUSTOM_CALL = ["id", "type", "status", "call_id", "name", "input", "namespace", "caller"];

/** Hosted types: what happens at home. Abroad they are always left out: no other model can use them. */
export const HOSTED_RULES: Readonly<Record<string, HostedRule>> = {
  web_search_call: {
    home: "replay",
    fields: ["id", "type", "status", "action"],
    why: "input takes it back (§2.2)",
  },
  file_search_call: {
    home: "replay",
    fields: ["id", "type", "status", "queries", "results"],
    why: "typed as an input item",
  },
  code_interpreter_call: {
    home: "replay",
    fields: ["id", "type", "status", "code", "container_id", "outputs"],
    why: "typed as an input item",
  },
  mcp_call: {
    home: "replay",
    fields: [
      "id",
      "type",
      "server_label",
      "name",
      "arguments",
      "output",
      "error",
      "approval_request_id",
      "status",
    ],
    why: "typed as an input item; needs its reasoning like any other (P04)",
  },
  mcp_list_tools: {
    home: "replay",
    fields: ["id", "type", "server_label", "tools", "error"],
    why: "saves the server from listing again",
  },
  compaction: {
    home: "replay",
    fields: ["id", "type", "encrypted_content"],
    why: "bound like reasoning (H03)",
  },
  image_generation_call: {
    home: "omit",
    fields: [],
    why: "refused with or without its id under store:false (T14)",
  },
  computer_call: { home: "omit", fields: [], why: "needs its screenshot output, which we do not make" },
  mcp_approval_request: { home: "omit", fields: [], why: "needs an approval response, which we do not make" },
  tool_search_call: { home: "omit", fields: [], why: "needs its output item (I04), which we do not make" },
  program: { home: "omit", fields: [], why: "needs its output item (§2.2), which we do not make" },
};

export function inputFields(
  itemType: string,
  reasoningContent: "empty" | "verbatim",
): readonly string[] | undefined {
  switch (itemType) {
    case "message":
      return MESSAGE;
    case "reasoning":
      return reasoningContent === "verbatim" ? [...REASONING, "content"] : REASONING;
    case "function_call":
      return FUNCTION_CALL;
    case "custom_tool_call":
      return CUSTOM_CALL;
    default:
      return HOSTED_RULES[itemType]?.fields;
  }
}

export const HOSTED_OMIT: readonly string[] = Object.entries(HOSTED_RULES)
  .filter(([, rule]) => rule.home === "omit")
  .map(([type]) => type);
