/**
 * The text of every refusal of the Responses API. One function per text, so that each exists once; docs/emulator.md
 * lists them with their evidence.
 */

import { refuse, type ApiRefusal } from "../../api-refusal.ts";

export function errorBody(refusal: ApiRefusal): { readonly error: Readonly<Record<string, string | null>> } {
  const { message, type, param, code } = refusal;
  return { error: { message, type, param, code } };
}

export const missingParameter = (rule: string, param: string): ApiRefusal =>
  refuse({
    rule,
    message: `Missing required parameter: '${param}'.`,
    param,
    code: "missing_required_parameter",
  });

export const unknownParameter = (rule: string, param: string): ApiRefusal =>
  refuse({ rule, message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" });

export const invalidType = (param: string, expected: string, got: unknown): ApiRefusal =>
  refuse({
    rule: "X-type",
    message: `Invalid type for '${param}': expected ${expected}, but got ${typeName(got)} instead.`,
    param,
    code: "invalid_type",
  });

export const invalidValue = (
  rule: string,
  param: string,
  value: string,
  supported: readonly string[],
): ApiRefusal =>
  refuse({
    rule,
    message: `Invalid value: '${value}'. Supported values are: ${listed(supported)}.`,
    param,
    code: "invalid_value",
  });

export const stringTooLong = (rule: string, param: string, length: number, max = 64): ApiRefusal =>
  refuse({
    rule,
    message: `Invalid '${param}': string too long. Expected a string with maximum length ${max}, but got a string with length ${length} instead.`,
    param,
    code: "string_above_max_length",
  });

export const arrayTooLong = (rule: string, param: string, length: number, max: number): ApiRefusal =>
  refuse({
    rule,
    message: `Invalid '${param}': array too long. Expected an array with maximum length ${max}, but got an array with length ${length} instead.`,
    param,
    code: "array_above_max_length",
  });

export const emptyString = (rule: string, param: string): ApiRefusal =>
  refuse({
    rule,
    message: `Invalid '${param}': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
    param,
    code: "empty_string",
  });

export const integerTooSmall = (param: string, value: number, min: number): ApiRefusal =>
  refuse({
    rule: "X-minimum",
    message: `Invalid '${param}': integer below minimum value. Expected a value >= ${min}, but got ${value} instead.`,
    param,
    code: "integer_below_min_value",
  });

export const imageUrl = (param: string): ApiRefusal =>
  refuse({
    rule: "X-image",
    message: `Invalid '${param}'. Expected a valid URL, but got a value with an invalid format.`,
    param,
    code: "invalid_value",
  });

export const imageData = (param: string, got: string): ApiRefusal =>
  refuse({
    rule: "X-image",
    message: `Invalid '${param}'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got ${got}.`,
    param,
    code: "invalid_value",
  });

export const badToolName = (param: string): ApiRefusal =>
  refuse({
    rule: "X-pattern",
    message: `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    param,
    code: "invalid_value",
  });

/** T15: the same, for a call in the history. */
export const badCallName = (param: string): ApiRefusal => ({ ...badToolName(param), rule: "T15" });

export const badIdCharacters = (param: string, id: string): ApiRefusal =>
  refuse({
    rule: "I07",
    message: `Invalid '${param}': '${id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.`,
    param,
    code: "invalid_value",
  });

export const badIdPrefix = (param: string, id: string, prefix: string): ApiRefusal =>
  refuse({
    rule: "I06",
    message: `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`,
    param,
    code: "invalid_id_prefix",
  });

export const withoutFollower = (rule: string, id: string): ApiRefusal =>
  refuse({
    rule,
    message: `Item '${id}' of type 'reasoning' was provided without its required following item.`,
    param: "input",
  });

export const withoutReasoning = (rule: string, id: string, type: string, needed: string): ApiRefusal =>
  refuse({
    rule,
    message: `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: '${needed}'.`,
    param: "input",
  });

export const notAReasoningModel = (): ApiRefusal =>
  refuse({
    rule: "P14",
    message: "Reasoning input items can only be provided to a reasoning or computer use model.",
    param: "input",
  });

export const itemNotPersisted = (rule: string, id: string): ApiRefusal =>
  refuse({
    rule,
    status: 404,
    message: `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    param: "input",
  });

export const itemNotFound = (rule: string, id: string): ApiRefusal =>
  refuse({ rule, status: 404, message: `Item with id '${id}' not found.`, param: "input" });

export const itemNotRetained = (id: string): ApiRefusal =>
  refuse({
    rule: "I02",
    status: 404,
    message: `Item with id '${id}' not found. Items are not persisted for Zero Data Retention organizations.`,
    param: "input",
  });

export const duplicateItem = (id: string): ApiRefusal =>
  refuse({
    rule: "I04",
    message: `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
    param: "input",
  });

export const previousNotFound = (id: string): ApiRefusal =>
  refuse({
    rule: "I10",
    message: `Previous response with id '${id}' not found.`,
    param: "previous_response_id",
    code: "previous_response_not_found",
  });

export const previousNotRetained = (): ApiRefusal =>
  refuse({
    rule: "I10",
    message: "Previous response cannot be used for this organization due to Zero Data Retention.",
    param: "previous_response_id",
    code: "unsupported_parameter",
  });

const reasons = {
  E01: "",
  E02: " Reason: Encrypted content could not be decrypted or parsed.",
  E03: " Reason: Encrypted content item_id did not match the target item id.",
  E04: " Reason: Encrypted content organization_id did not match the target organization.",
} as const;

/** With an id the text names the item; without one it quotes the first and last four characters (E01, E02). */
export const ciphertextRefused = (options: {
  readonly rule: string;
  readonly reason: keyof typeof reasons;
  readonly id: string | undefined;
  readonly ciphertext: string;
}): ApiRefusal => {
  const quoted =
    options.ciphertext.length <= 8
      ? options.ciphertext
      : `${options.ciphertext.slice(0, 4)}...${options.ciphertext.slice(-4)}`;
  // The bare form never names the item (openai/codex#8119); the others do if there is an id.
  const what = options.id === undefined || options.reason === "E01" ? quoted : `for item ${options.id}`;
  return refuse({
    rule: options.rule,
    message: `The encrypted content ${what} could not be verified.${reasons[options.reason]}`,
    code: "invalid_encrypted_content",
  });
};

export const ciphertextUnsupported = (): ApiRefusal =>
  refuse({ rule: "E11", message: "Encrypted content is not supported with this model.", param: "include" });

export const prefixChanged = (id: string): ApiRefusal =>
  refuse({
    rule: "H06",
    message: `The encrypted content for item ${id} could not be verified. Reason: The reasoning item is bound to a different conversation.`,
    code: "invalid_encrypted_content",
  });

const callNouns: Readonly<Record<string, string>> = {
  function_call: "function call",
  custom_tool_call: "custom tool call",
  computer_call: "computer call",
  local_shell_call: "local shell call",
  shell_call: "shell call",
  apply_patch_call: "apply patch call",
  tool_search_call: "tool search call",
  tool_search: "tool search call", // its output is not named after the call
};

export const noToolOutput = (type: string, callId: string): ApiRefusal =>
  refuse({
    rule: "T01",
    message: `No tool output found for ${callNouns[type] ?? "tool call"} ${callId}.`,
    param: "input",
  });

export const noToolCall = (rule: string, outputType: string, callId: string): ApiRefusal =>
  refuse({
    rule,
    message: `No tool call found for ${callNouns[outputType.replace(/_output$/, "")] ?? "tool call"} output with call_id ${callId}.`,
    param: "input",
  });

export const noProgram = (type: string, callId: string, program: string): ApiRefusal =>
  refuse({
    rule: "X-caller",
    message: `No program found for ${callNouns[type] ?? "tool call"} ${callId} with caller_id ${program}.`,
    param: "input",
  });

export const fingerprintChanged = (param: string, id: string): ApiRefusal =>
  refuse({
    rule: "X-fingerprint",
    message: `Invalid '${param}': the fingerprint of program ${id} could not be verified. It must be sent back unchanged.`,
    param,
    code: "invalid_value",
  });

export const unsupportedParameter = (param: string): ApiRefusal =>
  refuse({
    rule: "S08",
    message: `Unsupported parameter: '${param}' is not supported with this model.`,
    param,
  });

export const unknownModel = (model: string): ApiRefusal =>
  refuse({
    rule: "X-model",
    message: `The requested model '${model}' does not exist.`,
    param: "model",
    code: "model_not_found",
  });

export const malformedJson = (): ApiRefusal =>
  refuse({
    rule: "X-json",
    message:
      "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
  });

export const contextTooLong = (): ApiRefusal =>
  refuse({
    rule: "X-context",
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    param: "input",
    code: "context_length_exceeded",
  });

function listed(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  if (quoted.length < 3) return quoted.join(" and ");
  return `${quoted.slice(0, -1).join(", ")}, and ${quoted.at(-1)}`;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
