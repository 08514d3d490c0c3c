/**
 * Every refusal of the chat dialect: the breaking request, its status and its whole body; and the corrected request,
 * which passes. One row, one rule in one vendor's text.
 */

import { describe, expect, test } from "vitest";

import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { assistant, chat, type History, oneStep, resultsOf, toolResult, user } from "./chat-client.ts";
import { emulatorFor, type Json, without } from "./emulator-client.ts";

interface Row {
  readonly name: string;
  readonly rule: string;
  /** Default: "emu-chat". */
  readonly model?: string;
  readonly status?: number;
  /** Merged over `{model, messages}`. */
  readonly broken: (history: History) => Json;
  readonly mended: (history: History) => Json;
  /** The same for every history, or made from it. */
  readonly body: Json | ((history: History) => Json);
  readonly options?: EmulatorOptions;
}

const openai = (message: string, param: string | null = null, code: string | null = null): Json => ({
  error: { message, type: "invalid_request_error", param, code },
});
const missingAt = (param: string): Json =>
  openai(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
const unknownAt = (param: string): Json =>
  openai(`Unknown parameter: '${param}'.`, param, "unknown_parameter");
const deepseek = (message: string): Json => ({
  error: { message, type: "invalid_request_error", param: null, code: "invalid_request_error" },
});
const bare = (message: string): Json => ({ error: { message, type: "invalid_request_error" } });
const mistral = (message: string, type: string, code: string | null): Json => ({
  object: "error",
  message,
  type,
  param: null,
  code,
});
const extra = (loc: readonly unknown[], input: unknown): Json => ({
  object: "error",
  message: {
    detail: [
      { type: "extra_forbidden", loc: ["body", ...loc], msg: "Extra inputs are not permitted", input },
    ],
  },
  type: "invalid_request_error",
  param: null,
  code: null,
});
const router = (message: string, param: string | null, code: string | null): Json => ({
  error: {
    message: "Provider returned error",
    code: 400,
    metadata: {
      raw: JSON.stringify({ error: { message, type: "invalid_request_error", param, code } }),
      provider_name: "OpenAI",
      is_byok: false,
    },
  },
  user_id: "user_emulator",
});

const whole = ({ messages }: History): Json => ({ messages });
const hello =
  (more: Json = {}): (() => Json) =>
  () => ({ messages: [user("hello")], ...more });
const said =
  (...messages: readonly Json[]): (() => Json) =>
  () => ({ messages });
const look = { type: "function", function: { name: "look", parameters: { type: "object" } } };
const callOf = (id: string): Json => ({ id, type: "function", function: { name: "look", arguments: "{}" } });
const named = (name: string, id = "call_1"): Json => ({ ...callOf(id), function: { name, arguments: "{}" } });
const idOf = (history: History, at = 0): string => String(history.results[at]?.["tool_call_id"]);
const done = assistant("All done.");

/** The tool turn has ended, and there is a new question: with all its reasoning, or with a change. */
const later = (history: History, change: (answer: Json) => Json, last: Json): Json => ({
  messages: [history.first, change(history.answer), ...history.results, last, user("And now?")],
});
const same = (answer: Json): Json => answer;

const pure: readonly Row[] = [
  {
    name: "an unknown field of the request",
    rule: "X-unknown",
    broken: hello({ thinking: { type: "enabled" } }),
    mended: hello(),
    body: unknownAt("thinking"),
  },
  {
    name: "a parameter of the wrong type",
    rule: "X-type",
    broken: hello({ stream: "yes" }),
    mended: hello({ stream: false }),
    body: openai(
      "Invalid type for 'stream': expected a boolean, but got a string instead.",
      "stream",
      "invalid_type",
    ),
  },
  {
    name: "no messages",
    rule: "X-missing",
    broken: () => ({}),
    mended: hello(),
    body: missingAt("messages"),
  },
  {
    name: "an empty list of messages",
    rule: "X-empty",
    broken: said(),
    mended: hello(),
    body: openai(
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      "messages",
      "empty_array",
    ),
  },
  {
    name: "an unknown role",
    rule: "X-role",
    broken: said({ role: "narrator", content: "x" }),
    mended: said({ role: "developer", content: "x" }, user("hello")),
    body: openai(
      "Invalid value: 'narrator'. Supported values are: 'developer', 'system', 'user', 'assistant', 'tool', and 'function'.",
      "messages[0].role",
      "invalid_value",
    ),
  },
  {
    name: "an unknown field of a message",
    rule: "X-field",
    broken: said({ ...user("hello"), id: "msg_1" }),
    mended: hello(),
    body: unknownAt("messages[0].id"),
  },
  {
    name: "an unknown field of a call",
    rule: "X-field",
    broken: ({ first, answer, results }) => ({
      messages: [first, { ...answer, tool_calls: [{ ...callOf("call_1"), name: "x" }] }, ...results],
    }),
    mended: whole,
    body: unknownAt("messages[1].tool_calls[0].name"),
  },
  {
    name: "another vendor's reasoning to OpenAI itself",
    rule: "V06",
    broken: said(user("hello"), assistant("Hi.", { reasoning_content: "hm" }), user("more")),
    mended: said(user("hello"), assistant("Hi."), user("more")),
    body: unknownAt("messages[1].reasoning_content"),
  },
  {
    name: "an empty assistant message",
    rule: "X-content",
    broken: said(user("hello"), assistant(null), user("more")),
    mended: said(user("hello"), assistant(""), user("more")),
    body: openai("Invalid value for 'content': expected a string, got null.", "messages.[1].content"),
  },
  {
    name: "a content part of the Responses API",
    rule: "X-part",
    broken: said(user([{ type: "input_text", text: "hello" }])),
    mended: said(
      user([
        { type: "text", text: "hello" },
        { type: "image_url", image_url: { url: "data:," } },
      ]),
    ),
    body: openai(
      "Invalid value: 'input_text'. Supported values are: 'text', 'image_url', 'input_audio', and 'file'.",
      "messages[0].content[0].type",
      "invalid_value",
    ),
  },
  {
    name: "an image without its address",
    rule: "X-part",
    broken: said(user([{ type: "image_url", image_url: "data:," }])),
    mended: said(user([{ type: "image_url", image_url: { url: "data:," } }])),
    body: missingAt("messages[0].content[0].image_url.url"),
  },
  {
    name: "a tool in the form of the Responses API",
    rule: "X-tool",
    broken: hello({ tools: [{ type: "function", name: "look", parameters: {} }] }),
    mended: hello({ tools: [look] }),
    body: missingAt("tools[0].function.name"),
  },
  {
    name: "a tool_choice without tools",
    rule: "X-tool-choice",
    broken: hello({ tool_choice: "auto" }),
    mended: hello({ tool_choice: "auto", tools: [look] }),
    body: openai(
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      "tool_choice",
    ),
  },
  {
    name: "a schema without a name",
    rule: "X-format",
    broken: hello({ response_format: { type: "json_schema", json_schema: { schema: {} } } }),
    mended: hello({ response_format: { type: "json_schema", json_schema: { name: "x", schema: {} } } }),
    body: missingAt("response_format.json_schema.name"),
  },
  {
    name: "the old name of the limit",
    rule: "X-max-tokens",
    broken: hello({ max_tokens: 2000 }),
    mended: hello({ max_completion_tokens: 2000 }),
    body: openai(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "max_tokens",
      "unsupported_parameter",
    ),
  },
  {
    name: "a custom temperature",
    rule: "S08",
    broken: hello({ temperature: 0.2 }),
    mended: hello({ temperature: 1 }),
    body: openai(
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      "temperature",
      "unsupported_value",
    ),
  },
  {
    name: "an unknown effort",
    rule: "X-effort",
    broken: hello({ reasoning_effort: "ultra" }),
    mended: hello({ reasoning_effort: "high" }),
    body: openai(
      "Unsupported value: 'reasoning_effort' does not support 'ultra' with this model. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'.",
      "reasoning_effort",
      "unsupported_value",
    ),
  },
  {
    name: "an effort for a model that does not reason",
    rule: "X-unknown",
    model: "emu-chat-plain",
    broken: hello({ reasoning_effort: "low" }),
    mended: hello({ max_tokens: 2000, temperature: 0.2 }),
    body: openai("Unrecognized request argument supplied: reasoning_effort"),
  },
  {
    name: "several choices",
    rule: "X-n",
    broken: hello({ n: 2 }),
    mended: hello({ n: 1 }),
    body: openai("The emulator answers with one choice: 'n' must be 1.", "n", "unsupported_value"),
  },
  {
    name: "stream options without a stream",
    rule: "X-stream-options",
    broken: hello({ stream_options: { include_usage: true } }),
    mended: hello({ stream_options: { include_usage: true }, stream: true }),
    body: openai(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      "stream_options",
    ),
  },
  {
    name: "a call without its result",
    rule: "T01",
    broken: ({ first, answer, results }) => ({ messages: [first, answer, results[0], user("well?")] }),
    mended: whole,
    body: (history) =>
      openai(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${idOf(history, 1)}`,
        "messages.[3].role",
      ),
  },
  {
    name: "calls at the very end",
    rule: "T01",
    broken: ({ first, answer }) => ({ messages: [first, answer] }),
    mended: whole,
    body: (history) =>
      openai(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${idOf(history)}, ${idOf(history, 1)}`,
        "messages.[2].role",
      ),
  },
  {
    name: "a result before its call",
    rule: "T02",
    broken: ({ first, answer, results }) => ({ messages: [first, results[0], answer, ...results] }),
    mended: whole,
    body: openai(
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      "messages.[1].role",
    ),
  },
  {
    name: "a result of a call that was not made",
    rule: "T02",
    broken: ({ messages }) => ({ messages: [...messages, toolResult("call_x")] }),
    mended: whole,
    body: openai(
      "Invalid parameter: 'tool_call_id' of 'call_x' not found in 'tool_calls' of previous message.",
      "messages.[4].tool_call_id",
    ),
  },
  {
    name: "two results of one call",
    rule: "T10",
    broken: ({ messages, results }) => ({ messages: [...messages, results[0]] }),
    mended: whole,
    body: openai(
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      "messages.[4].role",
    ),
  },
  {
    name: "a result without a call id",
    rule: "X-missing",
    broken: ({ first, answer }) => ({
      messages: [first, answer, { role: "tool", content: "x" }, { role: "tool", content: "y" }],
    }),
    mended: whole,
    body: openai(
      "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
      "messages.[2].tool_call_id",
    ),
  },
  {
    name: "a call without its type",
    rule: "X-call",
    broken: said(
      user("go"),
      assistant(null, { tool_calls: [without(callOf("call_1"), "type")] }),
      toolResult("call_1"),
    ),
    mended: said(user("go"), assistant(null, { tool_calls: [callOf("call_1")] }), toolResult("call_1")),
    body: missingAt("messages[1].tool_calls[0].type"),
  },
  {
    name: "a name with a dot",
    rule: "T15",
    broken: said(
      user("go"),
      assistant(null, { tool_calls: [named("functions.look")] }),
      toolResult("call_1"),
    ),
    mended: said(
      user("go"),
      assistant(null, { tool_calls: [named("functions_look")] }),
      toolResult("call_1"),
    ),
    body: openai(
      "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      "messages[1].tool_calls[0].function.name",
      "invalid_value",
    ),
  },
  {
    name: "a name of 65 characters",
    rule: "T15",
    broken: said(user("go"), assistant(null, { tool_calls: [named("x".repeat(65))] }), toolResult("call_1")),
    mended: said(user("go"), assistant(null, { tool_calls: [named("x".repeat(64))] }), toolResult("call_1")),
    body: openai(
      "Invalid 'messages[1].tool_calls[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
      "messages[1].tool_calls[0].function.name",
      "string_above_max_length",
    ),
  },
  {
    name: "an empty name",
    rule: "T15",
    broken: said(user("go"), assistant(null, { tool_calls: [named("")] }), toolResult("call_1")),
    mended: said(user("go"), assistant(null, { tool_calls: [named("x")] }), toolResult("call_1")),
    body: openai(
      "Invalid 'messages[1].tool_calls[0].function.name': empty string. Expected a string with minimum length 1, but got an empty string instead.",
      "messages[1].tool_calls[0].function.name",
      "empty_string",
    ),
  },
  {
    name: "a name with a dot in a tool message",
    rule: "T15",
    broken: said(user("go"), assistant(null, { tool_calls: [callOf("call_1")] }), {
      ...toolResult("call_1"),
      name: "functions.look",
    }),
    mended: said(user("go"), assistant(null, { tool_calls: [callOf("call_1")] }), {
      ...toolResult("call_1"),
      name: "look",
    }),
    body: openai(
      "Invalid 'messages[2].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      "messages[2].name",
      "invalid_value",
    ),
  },
  {
    name: "a call id of 41 characters",
    rule: "T05",
    broken: said(
      user("go"),
      assistant(null, { tool_calls: [callOf("c".repeat(41))] }),
      toolResult("c".repeat(41)),
    ),
    mended: said(
      user("go"),
      assistant(null, { tool_calls: [callOf("c".repeat(40))] }),
      toolResult("c".repeat(40)),
    ),
    body: openai(
      "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
      "messages[1].tool_calls[0].id",
      "string_above_max_length",
    ),
  },
  {
    name: "more than the context holds",
    rule: "X-context",
    model: "small-chat",
    options: { models: { "small-chat": { contextTokens: 100 } } },
    broken: said(user("x".repeat(800))),
    mended: hello(),
    body: openai(
      "This model's maximum context length is 100 tokens. However, your messages resulted in 208 tokens. Please reduce the length of the messages.",
      "messages",
      "context_length_exceeded",
    ),
  },
];

const missingDeepseek = "The `reasoning_content` in the thinking mode must be passed back to the API.";
const drop = (answer: Json): Json => without(answer, "reasoning_content");
const closing = assistant("All done.", { reasoning_content: "Both have answered." });

const vendors: readonly Row[] = [
  {
    name: "Kimi: a call without its reasoning",
    rule: "V01",
    model: "emu-kimi",
    broken: ({ first, answer, results }) => ({ messages: [first, drop(answer), ...results] }),
    mended: whole,
    body: bare(
      "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
    ),
  },
  {
    name: "Kimi: an empty placeholder",
    rule: "V01",
    model: "emu-kimi",
    broken: ({ first, answer, results }) => ({
      messages: [first, { ...answer, reasoning_content: "" }, ...results],
    }),
    // The way out for a history that has none: thinking off.
    mended: ({ first, answer, results }) => ({
      messages: [first, drop(answer), ...results],
      thinking: { type: "disabled" },
    }),
    body: bare(
      "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
    ),
  },
  {
    name: "DeepSeek: a call without its reasoning",
    rule: "V02",
    model: "emu-deepseek",
    broken: ({ first, answer, results }) => ({ messages: [first, drop(answer), ...results] }),
    mended: whole,
    body: deepseek(missingDeepseek),
  },
  {
    name: "DeepSeek: reasoning of an earlier tool turn dropped",
    rule: "V02",
    model: "emu-deepseek",
    broken: (history) => later(history, drop, closing),
    mended: (history) => later(history, same, closing),
    body: deepseek(missingDeepseek),
  },
  {
    name: "DeepSeek: the answer of a tool turn without its reasoning",
    rule: "V02",
    model: "emu-deepseek",
    broken: (history) => later(history, same, done),
    mended: (history) => later(history, same, closing),
    body: deepseek(missingDeepseek),
  },
  {
    name: "DeepSeek: a history of another model",
    rule: "V02",
    model: "emu-deepseek",
    broken: said(user("go"), assistant(null, { tool_calls: [callOf("call_1")] }), toolResult("call_1")),
    mended: () => ({
      messages: [user("go"), assistant(null, { tool_calls: [callOf("call_1")] }), toolResult("call_1")],
      thinking: { type: "disabled" },
    }),
    body: deepseek(missingDeepseek),
  },
  {
    name: "DeepSeek: a call without its result",
    rule: "T01",
    model: "emu-deepseek",
    broken: ({ first, answer, results }) => ({ messages: [first, answer, results[0]] }),
    mended: whole,
    body: deepseek(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
    ),
  },
  {
    name: "DeepSeek: a result without its call",
    rule: "T02",
    model: "emu-deepseek",
    broken: said(user("go"), toolResult("call_1")),
    mended: hello(),
    body: deepseek("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"),
  },
  {
    name: "DeepSeek: an image",
    rule: "X-part",
    model: "emu-deepseek",
    broken: said(user([{ type: "image_url", image_url: { url: "data:," } }])),
    mended: said(user([{ type: "text", text: "hello" }])),
    body: deepseek(
      "Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`",
    ),
  },
  {
    name: "the old DeepSeek: reasoning sent back",
    rule: "V03",
    model: "emu-deepseek-old",
    broken: whole,
    mended: ({ first, answer, results }) => ({ messages: [first, drop(answer), ...results] }),
    body: deepseek("The `reasoning_content` field is not allowed in the input messages (messages[1])."),
  },
  {
    name: "the old DeepSeek: two user messages in a row",
    rule: "X-role-order",
    model: "emu-deepseek-old",
    broken: said(user("one"), user("two")),
    mended: said(user("one"), assistant("Yes."), user("two")),
    body: deepseek(
      "emu-deepseek-old does not support successive user or assistant messages (messages[0] and messages[1] in your input). You should interleave the user/assistant messages in the message sequence.",
    ),
  },
  {
    name: "Mistral: another vendor's field",
    rule: "V04",
    model: "emu-mistral",
    status: 422,
    broken: ({ first, answer, results }) => ({
      messages: [first, { ...answer, reasoning_content: "hm" }, ...results],
    }),
    mended: whole,
    body: extra(["messages", 1, "assistant", "reasoning_content"], "hm"),
  },
  {
    name: "Mistral: a parameter of OpenAI's",
    rule: "X-unknown",
    model: "emu-mistral",
    status: 422,
    broken: hello({ max_completion_tokens: 2000 }),
    mended: hello({ max_tokens: 2000 }),
    body: extra(["max_completion_tokens"], 2000),
  },
  {
    name: "Mistral: a field of a call",
    rule: "X-field",
    model: "emu-mistral",
    status: 422,
    broken: ({ first, answer, results }) => ({
      messages: [first, { ...answer, tool_calls: [{ ...callOf("abcdefghi"), name: null }] }, ...results],
    }),
    mended: whole,
    body: extra(["messages", 1, "assistant", "tool_calls", 0, "name"], null),
  },
  {
    name: "Mistral: a call id of another form",
    rule: "T05",
    model: "emu-mistral",
    broken: said(user("go"), assistant("", { tool_calls: [callOf("call_1")] }), toolResult("call_1")),
    mended: said(user("go"), assistant("", { tool_calls: [callOf("Ab3dEf6hI")] }), toolResult("Ab3dEf6hI")),
    body: mistral(
      "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
      "invalid_function_call",
      "3280",
    ),
  },
  {
    name: "Mistral: a name with a dot",
    rule: "T15",
    model: "emu-mistral",
    broken: said(
      user("go"),
      assistant("", { tool_calls: [named("f.look", "Ab3dEf6hI")] }),
      toolResult("Ab3dEf6hI"),
    ),
    mended: said(
      user("go"),
      assistant("", { tool_calls: [named("f_look", "Ab3dEf6hI")] }),
      toolResult("Ab3dEf6hI"),
    ),
    body: mistral(
      "Function name was f.look but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.",
      "invalid_request_error",
      null,
    ),
  },
  {
    name: "Mistral: a user message right after a result",
    rule: "X-role-order",
    model: "emu-mistral",
    broken: ({ messages }) => ({ messages: [...messages, user("stop that")] }),
    mended: ({ messages }) => ({ messages: [...messages, assistant("Stopped."), user("stop that")] }),
    body: mistral("Unexpected role 'user' after role 'tool'", "invalid_request_message_order", "3230"),
  },
  {
    name: "Mistral: a result without its call",
    rule: "X-role-order",
    model: "emu-mistral",
    broken: said(user("go"), toolResult("Ab3dEf6hI")),
    mended: hello(),
    body: mistral("Unexpected role 'tool' after role 'user'", "invalid_request_message_order", "3230"),
  },
  {
    name: "Mistral: the last message is the assistant's",
    rule: "X-last-role",
    model: "emu-mistral",
    broken: said(user("go"), assistant("So")),
    mended: said(user("go"), assistant("So", { prefix: true })),
    body: mistral(
      "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
      "invalid_request_message_order",
      "3230",
    ),
  },
  {
    name: "Mistral: a call without its result",
    rule: "T01",
    model: "emu-mistral",
    broken: ({ first, answer, results }) => ({ messages: [first, answer, results[0]] }),
    mended: whole,
    body: mistral(
      "Not the same number of function calls and responses",
      "invalid_request_message_order",
      "3230",
    ),
  },
  {
    name: "Mistral: an empty assistant message",
    rule: "X-content",
    model: "emu-mistral",
    broken: said(user("go"), assistant(null), user("well?")),
    mended: said(user("go"), assistant("Yes."), user("well?")),
    body: mistral(
      "Assistant message must have either content or tool_calls, but not none.",
      "invalid_request_assistant_message",
      "3240",
    ),
  },
  {
    name: "Groq: another vendor's field",
    rule: "V05",
    model: "emu-groq",
    broken: ({ first, answer, results }) => ({
      messages: [first, { ...answer, reasoning_content: "hm" }, ...results],
    }),
    mended: whole,
    body: bare(
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    ),
  },
  {
    name: "Groq: a parameter it does not know",
    rule: "X-unknown",
    model: "emu-groq",
    broken: hello({ reasoning: { effort: "high" } }),
    mended: hello({ reasoning_effort: "high" }),
    body: bare("property 'reasoning' is unsupported"),
  },
  {
    name: "a text this conversation did not get, if a test asks to refuse it",
    rule: "X-unknown-reasoning",
    model: "emu-deepseek",
    options: { switches: { unknownReasoning: "refuse" } },
    broken: said(user("go"), assistant("Hi.", { reasoning_content: "made up" }), user("more")),
    mended: said(user("go"), assistant("Hi."), user("more")),
    body: {
      error: {
        message: "The reasoning of messages[1] was not written by this server.",
        type: "invalid_request_error",
        param: null,
        code: "unknown_reasoning",
      },
    },
  },
];

const detailsOf = ({ answer }: History): Json[] => answer["reasoning_details"] as Json[];
const sealedId = (history: History): string => String(detailsOf(history)[1]?.["id"]);

/** The answer with its encrypted detail changed. */
const withSealed = (history: History, change: Json): Json => ({
  ...history.answer,
  reasoning_details: detailsOf(history).map((one) =>
    one["type"] === "reasoning.encrypted" ? { ...one, ...change } : one,
  ),
});

const details: readonly Row[] = [
  {
    name: "a router: the same detail in two messages",
    rule: "V08",
    model: "emu-router",
    broken: (history) => ({
      messages: [
        ...history.messages,
        assistant("All done.", { reasoning_details: detailsOf(history) }),
        user("more"),
      ],
    }),
    mended: (history) => ({ messages: [...history.messages, done, user("more")] }),
    body: (history) =>
      router(
        `Duplicate item found with id ${sealedId(history)}. Remove duplicate items from your input and try again.`,
        "input",
        null,
      ),
  },
  {
    name: "a router: a detail on another message than its own",
    rule: "V08",
    model: "emu-router",
    broken: (history) => ({
      messages: [
        user("go"),
        assistant("Something else.", { reasoning_details: detailsOf(history) }),
        user("more"),
      ],
    }),
    mended: whole,
    body: (history) =>
      router(
        `Item '${sealedId(history)}' of type 'reasoning' was provided without its required following item.`,
        "input",
        null,
      ),
  },
  {
    name: "a router: a ciphertext with another id",
    rule: "V08",
    model: "emu-router",
    broken: (history) => ({
      messages: [history.first, withSealed(history, { id: "rs_other" }), ...history.results],
    }),
    mended: whole,
    body: router(
      "The encrypted content for item rs_other could not be verified. Reason: Encrypted content item_id did not match the target item id.",
      null,
      "invalid_encrypted_content",
    ),
  },
  {
    name: "a router: an invented ciphertext",
    rule: "V08",
    model: "emu-router",
    broken: (history) => ({
      messages: [history.first, withSealed(history, { data: "gAAAAmade-up" }), ...history.results],
    }),
    mended: (history) => ({
      messages: [
        history.first,
        without(history.answer, "reasoning_details", "reasoning"),
        ...history.results,
      ],
    }),
    body: (history) =>
      router(
        `The encrypted content for item ${sealedId(history)} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
        null,
        "invalid_encrypted_content",
      ),
  },
];

describe.each([
  ["pure chat", pure],
  ["vendors", vendors],
  ["details", details],
])("%s", (_, rows) => {
  test.each(rows.map((row) => [`${row.rule}: ${row.name}`, row] as const))("%s", async (_name, row) => {
    const { model = "emu-chat", body } = row;
    const { emulator, history } = await oneStep(model, row.options);
    const refused = await chat(emulator, { model, ...row.broken(history) });
    const expected = typeof body === "function" ? body(history) : body;
    expect([refused.status, refused.json]).toEqual([row.status ?? 400, expected]);
    const report = emulator.report().requests.at(-1);
    expect([report?.verdict, report?.rule, report?.dialect]).toEqual(["refused", row.rule, "openai-chat"]);
    const accepted = await chat(emulator, { model, ...row.mended(history) });
    expect([accepted.status, accepted.json["error"] ?? null]).toEqual([200, null]);
  });
});

describe("before the vendor is known", () => {
  test("X-model: ids of other dialects and unknown ones", async () => {
    const emulator = await emulatorFor();
    for (const model of ["emu-reasoner", "emu-claude", "unknown-1"]) {
      const reply = await chat(emulator, { model, messages: [user("hello")] });
      expect([reply.status, reply.json]).toEqual([
        404,
        openai(
          `The model \`${model}\` does not exist or you do not have access to it.`,
          null,
          "model_not_found",
        ),
      ]);
    }
    expect((await chat(emulator, { model: "gpt-5.6", messages: [user("hello")] })).status).toBe(200);
  });

  test("X-json, X-key-missing, X-key and the faults 429 and 500", async () => {
    const emulator = await emulatorFor();
    const body = { model: "emu-kimi", messages: [user("hello")] };
    const broken = await chat(emulator, "{");
    expect([broken.status, emulator.report().requests.at(-1)?.rule]).toEqual([400, "X-json"]);
    const missing = await chat(emulator, body, { authorization: "" });
    expect([missing.status, emulator.report().requests.at(-1)?.rule]).toEqual([401, "X-key-missing"]);
    const wrong = await chat(emulator, body, { authorization: "Bearer sk-wrong-key" });
    expect([wrong.status, (wrong.json["error"] as Json)["code"]]).toEqual([401, "invalid_api_key"]);
    const limited = await chat(emulator, body, { "x-emulator-fault": "429=retry-after:2" });
    expect([
      limited.status,
      limited.headers.get("retry-after"),
      (limited.json["error"] as Json)["code"],
    ]).toEqual([429, "2", "rate_limit_exceeded"]);
    expect((await chat(emulator, body, { "x-emulator-fault": "500" })).status).toBe(500);
    expect((await chat(emulator, body)).status).toBe(200);
  });

  test("a GET is not allowed", async () => {
    const emulator = await emulatorFor();
    const reply = await fetch(`${emulator.baseUrl}/chat/completions`, {
      headers: { authorization: "Bearer sk-test" },
    });
    expect(reply.status).toBe(405);
  });
});

test("switches allow what is disputed", async () => {
  const lenient = {
    switches: { emptyReasoning: "accept", callIdForm: "any", unknownFields: "accept" },
  } as const;
  for (const model of ["emu-kimi", "emu-deepseek", "emu-mistral", "emu-chat"]) {
    const { emulator, history } = await oneStep(model, lenient);
    const answer = { ...history.answer, reasoning_content: "" };
    const long = "x".repeat(70);
    const messages = [
      history.first,
      answer,
      ...history.results,
      assistant("", { tool_calls: [callOf(long)], reasoning_content: "" }),
      toolResult(long),
    ];
    const reply = await chat(emulator, { model, messages, surprise: 1 });
    expect([model, reply.status, reply.json["error"] ?? null]).toEqual([model, 200, null]);
  }
});

test("lenient mode answers and reports what strict mode would have refused", async () => {
  const { emulator, history } = await oneStep("emu-deepseek", { mode: "lenient" });
  const messages = [history.first, drop(history.answer), ...resultsOf(history.answer).slice(1)];
  expect((await chat(emulator, { model: "emu-deepseek", messages })).status).toBe(200);
  expect(emulator.report().requests.at(-1)).toMatchObject({ verdict: "accepted", tolerated: ["T01", "V02"] });
});
