import { describe, expect, test } from "vitest";

import { namedInError } from "./named-in-error.ts";

const named = (message: string, param?: string): unknown => namedInError({ code: "c", message, param });

describe("namedInError", () => {
  test.each([
    [
      "Item 'fc_a-1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_b'.",
      "input",
      { itemIds: ["fc_a-1", "rs_b"], callIds: [] },
    ],
    [
      "Unknown parameter: 'input[3].status'.",
      "input[3].status",
      { itemIds: [], path: "input[3]", field: "status", callIds: [] },
    ],
    [
      "Unknown parameter: 'input[3].status'.",
      undefined,
      { itemIds: [], path: "input[3]", field: "status", callIds: [] },
    ],
    ["not sent, rule R01", "input[4]", { itemIds: [], path: "input[4]", callIds: [] }],
    [
      "Unsupported parameter: 'temperature' is not supported.",
      "temperature",
      { itemIds: [], field: "temperature", callIds: [] },
    ],
    [
      "Unknown parameter: 'reasoning.mode'.",
      undefined,
      { itemIds: [], field: "reasoning.mode", callIds: [] },
    ],
    ["No tool output found for function call call_x-1.", "input", { itemIds: [], callIds: ["call_x-1"] }],
    [
      "No tool call found for function call output with call_id call_9.",
      "input",
      { itemIds: [], callIds: ["call_9"] },
    ],
    [
      "No tool output found for custom tool call toolu_012345.",
      "input",
      { itemIds: [], callIds: ["toolu_012345"] },
    ],
    [
      "messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
      undefined,
      { itemIds: [], path: "messages.5.content.1", callIds: [] },
    ],
    [
      "messages.3.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
      undefined,
      { itemIds: [], path: "messages.3.content.1", field: "id", callIds: [] },
    ],
    [
      "messages.33: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1, toolu_2. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
      undefined,
      { itemIds: [], path: "messages.33", callIds: ["toolu_1", "toolu_2"] },
    ],
    [
      "thinking.block_binding: Extra inputs are not permitted",
      undefined,
      { itemIds: [], field: "thinking.block_binding", callIds: [] },
    ],
    [
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
      undefined,
      { itemIds: [], path: "messages.1", field: "reasoning_content", callIds: [] },
    ],
    [
      "messages.31.reasoning_content: Extra inputs are not permitted",
      "messages.31.reasoning_content",
      { itemIds: [], path: "messages.31", field: "reasoning_content", callIds: [] },
    ],
    [
      "thinking is enabled but reasoning_content is missing in assistant tool call message at index 32",
      undefined,
      { itemIds: [], path: "messages.32", callIds: [] },
    ],
    [
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1, call_2",
      "messages.[2].role",
      { itemIds: [], path: "messages.2", field: "role", callIds: ["call_1", "call_2"] },
    ],
    [
      "Invalid 'messages[1].tool_calls[2].function.name': string does not match pattern.",
      undefined,
      { itemIds: [], path: "messages.1", call: 2, field: "name", callIds: [] },
    ],
    [
      "messages.3.tool_calls.0.function.name: String should match pattern",
      "messages.3.tool_calls.0.function.name",
      { itemIds: [], path: "messages.3", call: 0, field: "name", callIds: [] },
    ],
    [
      "Failed to deserialize the JSON body into the target type: messages[3]: unknown variant `image_url`",
      undefined,
      { itemIds: [], path: "messages.3", callIds: [] },
    ],
    [
      "messages.1.content.1: `web_search` tool use with id `srvtoolu_01Ab` was found without a corresponding `web_search_tool_result` block",
      undefined,
      { itemIds: [], path: "messages.1.content.1", callIds: ["srvtoolu_01Ab"] },
    ],
    [
      "messages.1.content.0: unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_01Ab. Each …",
      undefined,
      { itemIds: [], path: "messages.1.content.0", callIds: ["srvtoolu_01Ab"] },
    ],
    [
      '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
      undefined,
      { itemIds: [], field: "thinking.type.disabled", callIds: [] },
    ],
    [
      'tool_choice: type "tool" and "any" are not supported for this model.',
      undefined,
      { itemIds: [], field: "tool_choice", callIds: [] },
    ],
    [
      "output_config.effort 'xhigh' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.",
      undefined,
      { itemIds: [], field: "output_config.effort", callIds: [] },
    ],
    [
      "`temperature` is deprecated for this model.",
      undefined,
      { itemIds: [], field: "temperature", callIds: [] },
    ],
    [
      "adaptive thinking is not supported on this model",
      undefined,
      { itemIds: [], field: "thinking", callIds: [] },
    ],
    [
      "No program found for function call call_1 with caller_id cm_1.",
      "input",
      { itemIds: [], callIds: ["call_1"] },
    ],
    [
      "Thinking may not be enabled when tool_choice forces tool use.",
      undefined,
      { itemIds: [], field: "tool_choice", callIds: [] },
    ],
    [
      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
      undefined,
      { itemIds: [], field: "tools.0.custom.name", callIds: [] },
    ],
    [
      "Missing required parameter: 'tools[0].name'.",
      "tools[0].name",
      { itemIds: [], field: "tools[0].name", callIds: [] },
    ],
    ["Duplicate item found with id tsc_1. Remove …", undefined, { itemIds: ["tsc_1"], callIds: [] }],
    [
      "No tool call found for shell call output with call_id call_1.",
      "input",
      { itemIds: [], callIds: ["call_1"] },
    ],
    ["No tool output found for apply patch call call_1.", "input", { itemIds: [], callIds: ["call_1"] }],
    [
      "source tool `srvtoolu_1` not found for tool use block `toolu_1`",
      undefined,
      { itemIds: [], callIds: ["srvtoolu_1", "toolu_1"] },
    ],
    ["The encrypted content gAAA...DQ== could not be verified.", undefined, { itemIds: [], callIds: [] }],
  ])("reads %j (%s)", (message, param, expected) => {
    expect(named(message, param)).toEqual(expected);
  });
});
