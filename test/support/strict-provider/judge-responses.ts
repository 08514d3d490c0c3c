/** OpenAI Responses under `store: false`: pairing by id, outputs, names, payloads (failures.md P, I, E, T, S). */

import {
  first,
  type Issued,
  type Json,
  type Judge,
  list,
  refuse,
  type Refusal,
  text,
  TOOL_NAME,
} from "./judgement.ts";

const OUTPUT_OF: Readonly<Record<string, string>> = {
  function_call: "function call",
  custom_tool_call: "custom tool call",
  shell_call: "shell call",
  local_shell_call: "local shell call",
  apply_patch_call: "apply patch call",
  computer_call: "computer call",
};

const INPUT_TYPES: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  ...Object.keys(OUTPUT_OF),
  ...Object.keys(OUTPUT_OF).map((type) => `${type}_output`),
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "mcp_call",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
  "tool_search_call",
  "tool_search_output",
  "program",
  "program_output",
  "compaction",
  "configuration_update",
  "additional_tools",
]);

export const judgeResponses: Judge = (body, issued) => {
  const input = list(body["input"]);
  return (
    first(input, shape) ??
    ids(input) ??
    first(input, (item, index) => follower(item, input[index + 1])) ??
    pairedReasoning(input, issued) ??
    unchanged(input, issued) ??
    outputs(input, text(body["model"]).startsWith("grok")) ??
    programs(input)
  );
};

function typeOf(item: Json): string {
  return text(item["type"]) || "message";
}

function shape(item: Json, index: number): Refusal | undefined {
  const type = typeOf(item);
  if (!INPUT_TYPES.has(type)) {
    return refuse(`Invalid value: '${type}'.`, { param: `input[${index}]`, code: "invalid_value" });
  }
  const name = item["name"];
  if ((type === "function_call" || type === "custom_tool_call") && !TOOL_NAME.test(text(name))) {
    return refuse(
      `Invalid 'input[${index}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      { param: `input[${index}].name`, code: "invalid_value" },
    );
  }
  if (type === "message" && Array.isArray(item["content"]) && item["content"].length === 0) {
    return refuse(`Invalid 'input[${index}].content': empty array.`, { param: `input[${index}].content` });
  }
  if (type === "reasoning" && !Array.isArray(item["summary"])) {
    return refuse(`Missing required parameter: 'input[${index}].summary'.`, {
      param: `input[${index}].summary`,
      code: "missing_required_parameter",
    });
  }
  // A server that gives readable thoughts accepts those back, and without an id there is nothing to look up.
  const empty = text(item["encrypted_content"]) === "" && list(item["content"]).length === 0;
  if (type === "reasoning" && item["id"] !== undefined && empty) {
    return refuse(
      `Item with id '${text(item["id"])}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
      { status: 404, param: "input" },
    );
  }
  if (type === "reasoning" && item["status"] !== undefined) {
    return refuse(`Unknown parameter: 'input[${index}].status'.`, { code: "unknown_parameter" });
  }
  const callId = item["call_id"];
  if (typeof callId === "string" && callId.length > 64) {
    return refuse(
      `Invalid 'input[${index}].call_id': string too long. Expected a string with maximum length 64, but got a string with length ${callId.length} instead.`,
      { param: `input[${index}].call_id`, code: "string_above_max_length" },
    );
  }
  return undefined;
}

function ids(input: readonly Json[]): Refusal | undefined {
  const seen = new Set<string>();
  return first(input, (item, index) => {
    const { id } = item;
    if (id === undefined) return undefined;
    if (!/^[\w-]{1,64}$/.test(text(id))) {
      return refuse(`Invalid 'input[${index}].id': '${text(id)}'.`, { param: `input[${index}].id` });
    }
    if (seen.has(text(id))) {
      return refuse(
        `Duplicate item found with id ${text(id)}. Remove duplicate items from your input and try again.`,
        { param: "input" },
      );
    }
    seen.add(text(id));
    return undefined;
  });
}

function follower(item: Json, next: Json | undefined): Refusal | undefined {
  if (typeOf(item) !== "reasoning") return undefined;
  const type = next === undefined ? "" : typeOf(next);
  const own = next !== undefined && (type !== "message" || next["role"] === "assistant");
  const answers = type.endsWith("_output") && text(next?.["id"]) === "";
  return own && !answers
    ? undefined
    : refuse(
        `Item '${text(item["id"])}' of type 'reasoning' was provided without its required following item.`,
        { param: "input" },
      );
}

/** An item sent by its id needs the thought it was made with, also by its id. */
function pairedReasoning(input: readonly Json[], { answers }: Issued): Refusal | undefined {
  const sent = new Set(input.map((item) => item["id"]));
  const thoughtOf = new Map<string, string>();
  for (const answer of answers) {
    let thought = "";
    const seen = new Set<unknown>();
    for (const item of answer) {
      // From here on the last event lists the items again, and its first item does not follow the last thought.
      if (item["id"] !== undefined && seen.has(item["id"])) break;
      seen.add(item["id"]);
      if (item["type"] === "reasoning") thought = text(item["id"]);
      else if (thought !== "") thoughtOf.set(text(item["id"]), thought);
    }
  }
  return first(input, (item) => {
    const id = text(item["id"]);
    const thought = id === "" ? undefined : thoughtOf.get(id);
    return thought === undefined || sent.has(thought)
      ? undefined
      : refuse(
          `Item '${id}' of type '${typeOf(item)}' was provided without its required 'reasoning' item: '${thought}'.`,
          { param: "input" },
        );
  });
}

/** A payload belongs to its id and must go back unchanged. */
function unchanged(input: readonly Json[], { answers }: Issued): Refusal | undefined {
  const payloads = new Map<string, Set<unknown>>();
  for (const item of answers.flat()) {
    for (const field of ["encrypted_content", "fingerprint"]) {
      if (typeof item[field] !== "string") continue;
      const known = payloads.get(text(item["id"])) ?? new Set();
      payloads.set(text(item["id"]), known.add(item[field]));
    }
  }
  const all = new Set([...payloads.values()].flatMap((known) => [...known]));
  return first(input, (item) => {
    for (const field of ["encrypted_content", "fingerprint"]) {
      const payload = item[field];
      if (payload === undefined || payload === null) continue;
      const id = item["id"];
      const known = id === undefined ? all : (payloads.get(text(id)) ?? new Set());
      if (known.has(payload)) continue;
      return refuse(
        `The encrypted content for item ${text(id)} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
        { code: "invalid_encrypted_content" },
      );
    }
    return undefined;
  });
}

/** `ranCustom`: xAI runs its own custom tools, and their calls go back without an output. */
function outputs(input: readonly Json[], ranCustom: boolean): Refusal | undefined {
  const open = new Map<string, string>();
  const answered = new Set<string>();
  for (const item of input) {
    const type = typeOf(item);
    const callId = text(item["call_id"]);
    if (Object.hasOwn(OUTPUT_OF, type)) open.set(callId, OUTPUT_OF[type] ?? "");
    if (type === "tool_search_call" && item["execution"] === "client") open.set(callId, "tool search call");
    if (type === "mcp_approval_request") open.set(text(item["id"]), "mcp approval request");
    if (type === "mcp_approval_response") answered.add(text(item["approval_request_id"]));
    if (type === "mcp_call") answered.add(text(item["approval_request_id"]));
    if (type === "tool_search_output" && callId !== "") answered.add(callId);
    if (!type.endsWith("_call_output")) continue;
    if (!open.has(callId) || answered.has(callId)) {
      return refuse(
        `No tool call found for ${type.replace("_output", "").replaceAll("_", " ")} output with call_id ${callId}.`,
        { param: "input" },
      );
    }
    answered.add(callId);
  }
  for (const [callId, what] of open) {
    if (ranCustom && what === OUTPUT_OF["custom_tool_call"]) continue;
    if (!answered.has(callId))
      return refuse(`No tool output found for ${what} ${callId}.`, { param: "input" });
  }
  return undefined;
}

/** A call that a program made goes with its program. */
function programs(input: readonly Json[]): Refusal | undefined {
  const known = new Set(input.filter((item) => item["type"] === "program").map((item) => item["call_id"]));
  return first(input, (item) => {
    const caller = item["caller"] as Json | undefined;
    return caller?.["type"] === "program" && !known.has(caller["caller_id"])
      ? refuse(`No program found for caller_id ${text(caller["caller_id"])}.`, { param: "input" })
      : undefined;
  });
}
