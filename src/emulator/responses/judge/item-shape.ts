/**
 * Each input item by itself: its type, its fields, its id. Refuses in the order of the live API's schema layer,
 * which answers before any rule about the history as a whole (groups B, D and E of failures.md).
 *
 * @module
 */

import { isObject, type JsonObject } from "../../../base/support/index.ts";
import type { Refusal } from "../../refusal.ts";
import { idPrefixes } from "../../seal.ts";
import type { Switches } from "../../switches.ts";
import {
  arrayTooLong,
  badIdCharacters,
  badIdPrefix,
  emptyString,
  invalidType,
  invalidValue,
  missingParameter,
  stringTooLong,
  unknownParameter,
} from "./refusals.ts";

interface ItemShape {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

const callOutput: ItemShape = {
  required: ["call_id", "output"],
  optional: ["id", "status", "name", "namespace", "caller"],
};

/** Fields each type takes on input. Hosted items are accepted as they came, so their lists are those of the output. */
const shapes: Readonly<Record<string, ItemShape>> = {
  message: { required: ["role", "content"], optional: ["id", "status", "phase"] },
  reasoning: { required: ["summary"], optional: ["id", "content", "encrypted_content", "status"] },
  function_call: {
    required: ["call_id", "name", "arguments"],
    optional: ["id", "status", "namespace", "caller", "async"],
  },
  function_call_output: callOutput,
  custom_tool_call: {
    required: ["call_id", "name", "input"],
    optional: ["id", "status", "namespace", "caller"],
  },
  custom_tool_call_output: callOutput,
  web_search_call: { required: ["id"], optional: ["status", "action", "results"] },
  file_search_call: { required: ["id", "queries"], optional: ["status", "results"] },
  code_interpreter_call: { required: ["id"], optional: ["status", "code", "container_id", "outputs"] },
  image_generation_call: { required: ["id"], optional: ["status", "result"] },
  computer_call: { required: ["id", "call_id"], optional: ["status", "action", "pending_safety_checks"] },
  computer_call_output: {
    required: ["call_id", "output"],
    optional: ["id", "status", "acknowledged_safety_checks"],
  },
  local_shell_call: { required: ["id", "call_id", "action"], optional: ["status"] },
  local_shell_call_output: { required: ["id", "output"], optional: ["status"] },
  mcp_call: {
    required: ["id", "name", "arguments", "server_label"],
    optional: ["status", "output", "error", "approval_request_id"],
  },
  mcp_list_tools: { required: ["id", "server_label", "tools"], optional: ["error"] },
  mcp_approval_request: { required: ["id", "name", "arguments", "server_label"], optional: [] },
  mcp_approval_response: { required: ["approval_request_id", "approve"], optional: ["id", "reason"] },
  tool_search_call: { required: ["id"], optional: ["status", "call_id", "arguments", "execution"] },
  tool_search_output: { required: ["tools"], optional: ["id", "status", "call_id", "execution"] },
  item_reference: { required: ["id"], optional: [] },
  compaction: { required: ["encrypted_content"], optional: ["id"] },
  compaction_trigger: { required: [], optional: [] },
  configuration_update: { required: [], optional: ["id", "reasoning", "tools", "instructions"] },
};

const roles = ["assistant", "system", "developer", "user"];
const userParts = [
  "input_text",
  "input_image",
  "output_text",
  "refusal",
  "input_file",
  "computer_screenshot",
  "summary_text",
];
const assistantParts = ["output_text", "refusal"];

export function typeOfItem(item: JsonObject): string {
  const type = item["type"];
  if (typeof type === "string") return type;
  return item["role"] === undefined ? "" : "message"; // the short form of a message has no type (EasyInputMessage)
}

export function checkItemShape(
  item: JsonObject,
  index: number,
  options: { readonly switches: Switches; readonly isOurs: (id: string) => boolean },
): Refusal | undefined {
  const { switches } = options;
  const at = `input[${index}]`;
  if (item["type"] !== undefined && typeof item["type"] !== "string") {
    return invalidType(`${at}.type`, "a string", item["type"]);
  }
  const type = typeOfItem(item);
  if (type === "") return missingParameter("X-missing", `${at}.type`);
  const shape = Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  // A type nobody knows is accepted back by the server that issued it.
  if (shape === undefined && typeof item["id"] === "string" && options.isOurs(item["id"])) return undefined;
  if (shape === undefined) return invalidValue("X-value", `${at}.type`, type, Object.keys(shapes));
  return (
    checkRequired(item, shape, at, type) ??
    checkUnknown(item, shape, at, switches) ??
    checkId(item, type, at) ??
    checkCallId(item, at) ??
    checkByType(item, type, at, switches)
  );
}

function checkRequired(item: JsonObject, shape: ItemShape, at: string, type: string): Refusal | undefined {
  for (const field of shape.required) {
    if (item[field] !== undefined) continue;
    const rule =
      type === "reasoning" ? "S01" : field === "output" ? "T09" : field === "call_id" ? "T06" : "X-missing";
    return missingParameter(rule, `${at}.${field}`);
  }
  return undefined;
}

function checkUnknown(
  item: JsonObject,
  shape: ItemShape,
  at: string,
  switches: Switches,
): Refusal | undefined {
  if (item["type"] === "reasoning" && item["status"] !== undefined && switches.reasoningStatus === "refuse") {
    return unknownParameter("S03", `${at}.status`);
  }
  if (switches.unknownFields === "accept") return undefined;
  const known = new Set(["type", ...shape.required, ...shape.optional]);
  const unknown = Object.keys(item).find((field) => !known.has(field));
  return unknown === undefined ? undefined : unknownParameter("T14", `${at}.${unknown}`);
}

function checkId(item: JsonObject, type: string, at: string): Refusal | undefined {
  const id = item["id"];
  if (id === undefined || id === null) return undefined;
  if (typeof id !== "string") return invalidType(`${at}.id`, "a string", id);
  if (id.length > 64) return stringTooLong("I05", `${at}.id`, id.length);
  if (!/^[\w-]+$/.test(id)) return badIdCharacters(`${at}.id`, id);
  const prefix = idPrefixes[type];
  if (prefix === undefined || type === "item_reference" || id.startsWith(prefix)) return undefined;
  return badIdPrefix(`${at}.id`, id, prefix);
}

function checkCallId(item: JsonObject, at: string): Refusal | undefined {
  const callId = item["call_id"];
  if (callId === undefined || callId === null) return undefined;
  if (typeof callId !== "string") return invalidType(`${at}.call_id`, "a string", callId);
  if (callId === "") return emptyString("T06", `${at}.call_id`);
  return callId.length > 64 ? stringTooLong("T05", `${at}.call_id`, callId.length) : undefined;
}

function checkByType(item: JsonObject, type: string, at: string, switches: Switches): Refusal | undefined {
  switch (type) {
    case "message":
      return checkMessage(item, at);
    case "reasoning":
      return checkReasoningItem(item, at, switches);
    case "function_call":
      return firstNotString(item, ["name", "arguments"], at);
    case "custom_tool_call":
      return firstNotString(item, ["name", "input"], at);
    case "function_call_output":
    case "custom_tool_call_output":
      return checkOutput(item["output"], `${at}.output`);
    case "compaction":
      return firstNotString(item, ["encrypted_content"], at);
    default:
      return undefined;
  }
}

function firstNotString(item: JsonObject, fields: readonly string[], at: string): Refusal | undefined {
  const field = fields.find((name) => typeof item[name] !== "string");
  return field === undefined ? undefined : invalidType(`${at}.${field}`, "a string", item[field]);
}

function checkReasoningItem(item: JsonObject, at: string, switches: Switches): Refusal | undefined {
  const { summary, content } = item;
  // S02: only llama.cpp's words for null are known; OpenAI's are by analogy with its other type errors.
  if (!Array.isArray(summary))
    return { ...invalidType(`${at}.summary`, "an array of objects", summary), rule: "S02" };
  for (const [index, part] of summary.entries()) {
    const path = `${at}.summary[${index}]`;
    if (!isObject(part)) return invalidType(path, "an object", part);
    if (part["type"] !== "summary_text") {
      return invalidValue("X-value", `${path}.type`, String(part["type"]), ["summary_text"]);
    }
    if (typeof part["text"] !== "string") return missingParameter("X-missing", `${path}.text`);
  }
  if (content !== undefined && content !== null) {
    if (!Array.isArray(content)) return invalidType(`${at}.content`, "an array of objects", content);
    if (content.length > 0 && switches.reasoningContent === "empty") {
      return arrayTooLong("S04", `${at}.content`, content.length, 0);
    }
  }
  const blob = item["encrypted_content"];
  if (blob === undefined || typeof blob === "string") return undefined;
  if (blob === null && switches.nullCiphertext === "absent") return undefined;
  return invalidType(`${at}.encrypted_content`, "a string", blob);
}

function checkMessage(item: JsonObject, at: string): Refusal | undefined {
  const { role, content, phase } = item;
  if (typeof role !== "string" || !roles.includes(role)) {
    return typeof role === "string"
      ? invalidValue("X-value", `${at}.role`, role, roles)
      : invalidType(`${at}.role`, "a string", role);
  }
  if (phase !== undefined && phase !== null && phase !== "commentary" && phase !== "final_answer") {
    return invalidValue("X-value", `${at}.phase`, typeof phase === "string" ? phase : JSON.stringify(phase), [
      "commentary",
      "final_answer",
    ]);
  }
  if (typeof content === "string") return undefined;
  if (!Array.isArray(content))
    return invalidType(`${at}.content`, "one of an array of objects or string", content);
  const allowed = role === "assistant" ? assistantParts : userParts;
  for (const [index, part] of content.entries()) {
    const wrong = checkPart(part, allowed, `${at}.content[${index}]`, role);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function checkPart(
  part: unknown,
  allowed: readonly string[],
  path: string,
  role: string,
): Refusal | undefined {
  if (!isObject(part)) return invalidType(path, "an object", part);
  const type = part["type"];
  if (typeof type !== "string") return missingParameter("X-missing", `${path}.type`);
  // S05: input_text in an assistant message. S14: calls and results as content parts.
  const rule = role === "assistant" && type.startsWith("input_") ? "S05" : "S14";
  if (!allowed.includes(type)) return invalidValue(rule, path, type, allowed);
  const field = type === "refusal" ? "refusal" : type.endsWith("_text") ? "text" : undefined;
  if (field !== undefined && typeof part[field] !== "string") {
    return part[field] === undefined
      ? missingParameter("X-missing", `${path}.${field}`)
      : invalidType(`${path}.${field}`, "a string", part[field]);
  }
  return undefined;
}

function checkOutput(output: unknown, path: string): Refusal | undefined {
  if (typeof output === "string") return undefined;
  if (!Array.isArray(output)) return invalidType(path, "one of an array of objects or string", output);
  for (const [index, part] of output.entries()) {
    const wrong = checkPart(part, ["input_text", "input_image", "input_file"], `${path}[${index}]`, "tool");
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
