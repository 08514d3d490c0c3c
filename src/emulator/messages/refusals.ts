/**
 * The text of every refusal of the Messages API. One function per text, so that each exists once; docs/emulator.md
 * lists them with their evidence.
 */

import { refuse, type ApiRefusal } from "../api-refusal.ts";
import { BINDING_BETA } from "./vocabulary.ts";

const docs = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking";

const at = (rule: string, path: string, message: string): ApiRefusal =>
  refuse({ rule, message: `${path}: ${message}` });

export const fieldRequired = (path: string): ApiRefusal => at("X-missing", path, "Field required");

export const extraInput = (path: string): ApiRefusal =>
  at("X-unknown", path, "Extra inputs are not permitted");

export const wrongType = (path: string, expected: string): ApiRefusal =>
  at("X-type", path, `Input should be ${expected}`);

export const unexpectedValue = (path: string, allowed: readonly string[]): ApiRefusal =>
  at("X-value", path, `Input should be ${listed(allowed)}`);

export const unknownTag = (path: string, tag: string, known: readonly string[]): ApiRefusal =>
  at(
    "X-value",
    path,
    `Input tag '${tag}' found using 'type' does not match any of the expected tags: ${known.map((one) => `'${one}'`).join(", ")}`,
  );

export const tooSmall = (path: string, minimum: number): ApiRefusal =>
  at("X-minimum", path, `Input should be greater than or equal to ${minimum}`);

export const patternMismatch = (rule: string, path: string, pattern: string): ApiRefusal =>
  at(rule, path, `String should match pattern '${pattern}'`);

export const wrongLength = (path: string, length: string): ApiRefusal =>
  at("T15", path, `String should have ${length}`);

export const malformedJson = (): ApiRefusal =>
  refuse({ rule: "X-json", message: "The request body is not valid JSON: failed to decode it" });

export const versionRequired = (): ApiRefusal => at("X-version", "anthropic-version", "header is required");

export const versionUnknown = (version: string): ApiRefusal =>
  at("X-version", "anthropic-version", `"${version}" is not a valid version`);

export const keyMissing = (): ApiRefusal =>
  refuse({ rule: "X-key-missing", status: 401, message: "x-api-key header is required" });

export const keyWrong = (): ApiRefusal =>
  refuse({ rule: "X-key", status: 401, message: "invalid x-api-key" });

export const unknownModel = (model: string): ApiRefusal =>
  refuse({ rule: "X-model", status: 404, message: `model: ${model}` });

export const requestTooLarge = (): ApiRefusal =>
  refuse({ rule: "X-large", status: 413, message: "Request exceeds the maximum size" });

export const promptTooLong = (tokens: number, maximum: number): ApiRefusal =>
  refuse({ rule: "X-context", message: `prompt is too long: ${tokens} tokens > ${maximum} maximum` });

export const noMessages = (): ApiRefusal => at("X-empty", "messages", "at least one message is required");

export const firstNotUser = (): ApiRefusal =>
  at("X-first", "messages", 'first message must use the "user" role');

export const systemRole = (): ApiRefusal =>
  at(
    "X-role",
    "messages",
    'Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
  );

export const emptyText = (where: "messages" | "system"): ApiRefusal =>
  at("X-empty-text", where, "text content blocks must be non-empty");

export const imageBase64 = (path: string): ApiRefusal => at("X-image", path, "invalid base64 data");

/** `bytes`: the length of the base64. */
export const imageTooLarge = (path: string, bytes: number, most: number): ApiRefusal =>
  at("X-image", path, `image exceeds 5 MB maximum: ${bytes} bytes > ${most} bytes`);

export const imageTypeWrong = (path: string, said: string, found: string): ApiRefusal =>
  at(
    "X-image",
    path,
    `The image was specified using the ${said} media type, but the image appears to be a ${found} image`,
  );

export const imageUnreadable = (): ApiRefusal =>
  refuse({ rule: "X-image", message: "Could not process image" });

export const onlyTextInError = (path: string): ApiRefusal =>
  at("X-image", path, "all content must be type `text` if `is_error` is true");

/**
 * Blank text differs from empty text: it is refused only if the message has no other text (LibreChat-AI/agents#124).
 */
export const blankText = (): ApiRefusal =>
  at("X-blank-text", "messages", "text content blocks must contain non-whitespace text");

export const emptyContent = (message: number): ApiRefusal =>
  at(
    "X-empty",
    `messages.${message}`,
    "all messages must have non-empty content except for the optional final assistant message",
  );

export const tooManyBreakpoints = (found: number): ApiRefusal =>
  refuse({
    rule: "X-cache",
    message: `A maximum of 4 blocks with cache_control may be provided. Found ${found}.`,
  });

/** A thread reserves one marker for itself. */
export const tooManyInThread = (found: number): ApiRefusal =>
  refuse({
    rule: "X-cache",
    message: `thread: a maximum of 3 blocks with cache_control may be provided when thread is set -- the fourth marker slot is reserved for the marker the server places on the conversation's last cache-eligible block. Found ${found}.`,
    details: { error_code: "thread_unsupported_request", unsupported: ["cache_control"] },
  });

/** Clients read the code and send the whole conversation instead. */
export const threadUnsupported = (): ApiRefusal =>
  refuse({
    rule: "X-thread",
    message: "thread: Threads are not supported for this request.",
    details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
  });

export const threadNotFound = (id: string): ApiRefusal =>
  refuse({
    rule: "X-thread",
    status: 404,
    message: `thread.previous_message_id: No thread state was found for ${id}.`,
    details: { error_code: "thread_not_found" },
  });

export const threadSettings = (): ApiRefusal =>
  refuse({
    rule: "X-thread",
    message: "thread: `system` and `tools` cannot be set when a thread is continued.",
  });

export const toolNamesRepeat = (): ApiRefusal => at("X-tools", "tools", "Tool names must be unique.");

export const thinkingUnsupported = (model: string): ApiRefusal =>
  refuse({ rule: "X-thinking", message: `'${model}' does not support thinking.` });

const alternatives = (modes: readonly string[]): string =>
  modes.includes("between_tools")
    ? ' Use "thinking.type.between_tools" for the lowest thinking setting, or "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
    : ' Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';

/** `modes`: what the model accepts instead. */
export const modeUnsupported = (mode: string, modes: readonly string[]): ApiRefusal => {
  const words = `"thinking.type.${mode}" is not supported for this model.`;
  const message =
    mode === "adaptive"
      ? "adaptive thinking is not supported on this model"
      : mode === "between_tools"
        ? words
        : `${words}${alternatives(mode === "disabled" ? modes : [])}`;
  return refuse({ rule: "C18", message });
};

export const effortTooHigh = (effort: string): ApiRefusal =>
  refuse({
    rule: "C18",
    message: `output_config.effort '${effort}' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.`,
  });

export const samplingDeprecated = (name: string): ApiRefusal =>
  refuse({ rule: "X-sampling", message: `\`${name}\` is deprecated for this model.` });

export const forcedToolUnsupported = (): ApiRefusal =>
  refuse({
    rule: "C20",
    message: 'tool_choice: type "tool" and "any" are not supported for this model.',
  });

export const budgetTooLarge = (): ApiRefusal =>
  refuse({
    rule: "X-budget",
    message: `\`max_tokens\` must be greater than \`thinking.budget_tokens\`. Please consult our documentation at ${docs}#max-tokens-and-context-window-size`,
  });

export const forcedTool = (): ApiRefusal =>
  refuse({ rule: "C13", message: "Thinking may not be enabled when tool_choice forces tool use." });

export const temperatureWhileThinking = (): ApiRefusal =>
  refuse({
    rule: "X-sampling",
    message: `\`temperature\` may only be set to 1 when thinking is enabled. Please consult our documentation at ${docs}#important-considerations-when-using-extended-thinking`,
  });

export const thinkingModified = (path: string, rule = "C01"): ApiRefusal =>
  at(
    rule,
    path,
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
  );

export const thinkingExpected = (path: string, found: string): ApiRefusal =>
  at(
    "C02",
    `${path}.type`,
    `Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. Please consult our documentation at ${docs}`,
  );

export const invalidSignature = (path: string): ApiRefusal =>
  at("C03", path, "Invalid `signature` in `thinking` block");

export const invalidData = (path: string): ApiRefusal =>
  at("C11", path, "Invalid `data` in `redacted_thinking` block");

const changes = {
  system: " The `system` prompt differs from the one this block was created with.",
  tools: " The `tools` differ from the ones this block was created with.",
  previous: " The `thinking` block that preceded this one when it was created is missing from this request.",
  messages: "",
} as const;

export type PrefixChange = keyof typeof changes;

export const otherConversation = (path: string, change: PrefixChange): ApiRefusal =>
  at(
    "C04",
    path,
    `Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block". That setting requires the \`${BINDING_BETA}\` value in the \`anthropic-beta\` header.${changes[change]}`,
  );

export const finalBlockThinking = (message: number, type: string): ApiRefusal =>
  at("C05", `messages.${message}`, `The final block in an assistant message cannot be \`${type}\`.`);

export const thinkingWhileOff = (path: string, type: string): ApiRefusal =>
  at(
    "C06",
    path,
    `When thinking is disabled, an \`assistant\` message in the final position cannot contain \`${type}\`. To use thinking blocks, enable \`thinking\` in your request.`,
  );

export const resultsMissing = (message: number, ids: readonly string[]): ApiRefusal =>
  at(
    "C07",
    `messages.${message}`,
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );

export const unexpectedResult = (path: string, id: string): ApiRefusal =>
  at(
    "C07",
    path,
    `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
  );

export const repeatedResult = (path: string, id: string): ApiRefusal =>
  at(
    "C07",
    path,
    `each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
  );

export const repeatedToolId = (path: string): ApiRefusal => at("C07", path, "`tool_use` ids must be unique");

export const containerRequired = (): ApiRefusal =>
  refuse({
    rule: "C17",
    message:
      "container_id is required when there are pending tool uses generated by code execution with tools.",
  });

export const serverResultMissing = (
  path: string,
  call: { readonly name: string; readonly id: string; readonly type: string },
): ApiRefusal =>
  at(
    "C19",
    path,
    `\`${call.name}\` tool use with id \`${call.id}\` was found without a corresponding \`${call.type}\` block`,
  );

export const unexpectedServerResult = (path: string, type: string, id: string): ApiRefusal =>
  at(
    "C19",
    path,
    `unexpected \`tool_use_id\` found in \`${type}\` blocks: ${id}. Each \`${type}\` block must have a corresponding \`${type === "mcp_tool_result" ? "mcp_tool_use" : "server_tool_use"}\` block before it.`,
  );

export const prefillRefused = (): ApiRefusal =>
  refuse({
    rule: "C08",
    message:
      "This model does not support assistant message prefill. The conversation must end with a user message.",
  });

export const trailingWhitespace = (): ApiRefusal =>
  at("C08", "messages", "final assistant content cannot end with trailing whitespace");

function listed(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  return quoted.length < 2 ? (quoted[0] ?? "") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}
