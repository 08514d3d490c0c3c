/**
 * Which fields of an output item the input accepts back, per type (openai 7.53 responses.d.ts; failures.md S03, S04,
 * T14). An allow-list: fields the API adds later stay in the log and out of requests until they are listed here.
 */

export interface HostedRule {
  /** `pair`: sent only together with the other half, the call or the output (whole-pairs.ts). */
  readonly home: "replay" | "pair" | "omit";
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
/** Calls to tools that OpenAI defines and the client runs (client-calls.ts). */
const CLIENT_CALLS: Readonly<Record<string, readonly string[]>> = {
  function_call: FUNCTION_CALL,
  custom_tool_call: CUSTOM_CALL,
  local_shell_call: ["id", "type", "status", "call_id", "action"],
  apply_patch_call: ["id", "type", "status", "call_id", "operation", "caller"],
  mcp_approval_request: ["id", "type", "server_label", "name", "arguments"],
};

/** How hosted types are handled at home. Abroad they are always left out, because no other model can use them. */
export const HOSTED_RULES: Readonly<Record<string, HostedRule>> = {
  web_search_call: {
    home: "replay",
    fields: ["id", "type", "status", "action"],
    why: "the input accepts it back (§2.2)",
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
    why: "saves the server from listing the tools again",
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
  program: {
    home: "replay",
    fields: ["id", "type", "call_id", "code", "fingerprint"],
    why: "typed as an input item; the fingerprint must come back unchanged",
  },
  program_output: {
    home: "pair",
    fields: ["id", "type", "status", "call_id", "result"],
    why: "sent with its program, which may be in an earlier response",
  },
  tool_search_call: {
    home: "pair",
    fields: ["id", "type", "status", "call_id", "execution", "arguments"],
    why: "sent with its output; a search that the client runs is an ordinary call",
  },
  tool_search_output: {
    home: "pair",
    fields: ["id", "type", "status", "call_id", "execution", "tools"],
    why: "sent with its call, whose id it does not share (I04)",
  },
  additional_tools: {
    home: "replay",
    fields: ["id", "type", "role", "tools"],
    why: "typed as an input item",
  },
  mcp_approval_response: {
    home: "pair",
    fields: ["id", "type", "approval_request_id", "approve", "reason"],
    why: "sent with the request it answers",
  },
  computer_call: {
    home: "pair",
    fields: ["id", "type", "status", "call_id", "action", "actions", "pending_safety_checks"],
    why: "sent only with its screenshot, which no text can replace",
  },
  computer_call_output: {
    home: "pair",
    fields: ["id", "type", "status", "call_id", "output", "acknowledged_safety_checks"],
    why: "sent with its call",
  },
  shell_call: {
    home: "pair",
    fields: ["id", "type", "status", "call_id", "action", "environment", "caller"],
    why: "sent with its output if it ran in a container; otherwise it is an ordinary call",
  },
  shell_call_output: {
    home: "pair",
    fields: ["id", "type", "status", "call_id", "output", "max_output_length", "caller"],
    why: "sent with its call",
  },
  local_shell_call_output: {
    home: "pair",
    fields: ["id", "type", "status", "call_id", "output"],
    why: "sent with its call",
  },
  apply_patch_call_output: {
    home: "pair",
    fields: ["id", "type", "status", "call_id", "output", "caller"],
    why: "sent with its call",
  },
  function_call_output: {
    home: "pair",
    fields: ["id", "type", "status", "call_id", "output", "name", "namespace", "caller"],
    why: "sent with its call",
  },
  custom_tool_call_output: {
    home: "pair",
    fields: ["id", "type", "call_id", "output", "caller"],
    why: "sent with its call",
  },
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
    default:
      return CLIENT_CALLS[itemType] ?? HOSTED_RULES[itemType]?.fields;
  }
}

export const HOSTED_OMIT: readonly string[] = Object.entries(HOSTED_RULES)
  .filter(([, rule]) => rule.home === "omit")
  .map(([type]) => type);
