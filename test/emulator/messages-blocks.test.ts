/** Single blocks: which texts, types and tools `/v1/messages` accepts, with the API's own messages. */

import { describe, expect, test } from "vitest";

import { emulatorFor, type Json } from "./emulator-client.ts";
import { adaptive, ask, assistant, expectRefused, expectTaken, says } from "./messages-client.ts";

const text = (words: string): Json => ({ type: "text", text: words });

const search: readonly Json[] = [
  { type: "server_tool_use", id: "srvtoolu_01", name: "web_search", input: { query: "news" } },
  { type: "web_search_tool_result", tool_use_id: "srvtoolu_01", content: [] },
];

const said = (content: unknown): Json => ({
  ...adaptive,
  messages: [says("go"), { role: "assistant", content }, says("and now?")],
});

describe("text of white space", () => {
  const refused = {
    rule: "X-blank-text",
    message: "messages: text content blocks must contain non-whitespace text",
  };

  test("X-blank-text: the live table of four shapes", async () => {
    const emulator = await emulatorFor();
    await expectRefused(emulator, said([text(""), text("real")]), {
      rule: "X-empty-text",
      message: "messages: text content blocks must be non-empty",
    });
    await expectRefused(emulator, said([text(" ")]), refused);
    await expectTaken(emulator, said([text(" "), text("real")]));
    await expectRefused(emulator, said([text("\n")]), refused);
  });

  test("X-blank-text: other blocks do not count as text, and the user's text follows the same rule", async () => {
    const emulator = await emulatorFor();
    await expectRefused(emulator, said([...search, text("\n\n")]), refused);
    await expectTaken(emulator, said([text("\n\n"), ...search, text("\n\n"), text("Found.")]));
    await expectRefused(emulator, said("\t"), refused);
    await expectRefused(emulator, { ...adaptive, messages: [says(" ")] }, refused);
    await expectRefused(emulator, { ...adaptive, messages: [{ role: "user", content: " " }] }, refused);
  });

  test("switch blankText: with any, no other text helps", async () => {
    const emulator = await emulatorFor({ switches: { blankText: "any" } });
    await expectRefused(emulator, said([text(" "), text("real")]), refused);
    await expectTaken(emulator, {
      ...adaptive,
      messages: [says("go"), assistant([text("real")]), says("so?")],
    });
  });
});

describe("types of blocks", () => {
  /** ContentBlockParam of the official beta types, with only the required fields. */
  const known: readonly Json[] = [
    ...search,
    { type: "server_tool_use", id: "srvtoolu_02", name: "web_fetch", input: {} },
    { type: "web_fetch_tool_result", tool_use_id: "srvtoolu_02", content: {} },
    { type: "server_tool_use", id: "srvtoolu_03", name: "advisor", input: {} },
    { type: "advisor_tool_result", tool_use_id: "srvtoolu_03", content: {} },
    { type: "server_tool_use", id: "srvtoolu_04", name: "code_execution", input: {} },
    { type: "code_execution_tool_result", tool_use_id: "srvtoolu_04", content: {} },
    { type: "server_tool_use", id: "srvtoolu_05", name: "bash_code_execution", input: {} },
    { type: "bash_code_execution_tool_result", tool_use_id: "srvtoolu_05", content: {} },
    { type: "server_tool_use", id: "srvtoolu_06", name: "text_editor_code_execution", input: {} },
    { type: "text_editor_code_execution_tool_result", tool_use_id: "srvtoolu_06", content: {} },
    { type: "server_tool_use", id: "srvtoolu_07", name: "tool_search_tool_bm25", input: {} },
    { type: "tool_search_tool_result", tool_use_id: "srvtoolu_07", content: {} },
    { type: "mcp_tool_use", id: "mcptoolu_01", name: "find", server_name: "files", input: {} },
    { type: "mcp_tool_result", tool_use_id: "mcptoolu_01" },
    { type: "mcp_tool_listing", mcp_server_name: "files", tools: [] },
    { type: "container_upload", file_id: "file_1" },
    { type: "compaction" },
    { type: "fallback", from: { model: "a" }, to: { model: "b" } },
    text("Done."),
  ];

  test("all those that the official types list are accepted back", async () => {
    await expectTaken(await emulatorFor(), said(known));
  });

  test.each(known.map((block) => [String(block["type"]), block] as const))(
    "X-unknown: %s with a field of another",
    async (type, block) => {
      const at = known.indexOf(block);
      const broken = known.map((one) => (one === block ? { ...one, mood: "fine" } : one));
      await expectRefused(await emulatorFor(), said(broken), {
        rule: "X-unknown",
        message: `messages.1.content.${at}.${type}.mood: Extra inputs are not permitted`,
      });
    },
  );

  test("X-value: an unknown value is refused with the list of known ones", async () => {
    await expectRefused(await emulatorFor(), said([{ type: "oracle_mood" }, text("Done.")]), {
      rule: "X-value",
      message:
        "messages.1.content.0: Input tag 'oracle_mood' found using 'type' does not match any of the expected tags: 'advisor_tool_result', 'bash_code_execution_tool_result', 'code_execution_tool_result', 'compaction', 'container_upload', 'document', 'fallback', 'image', 'mcp_tool_listing', 'mcp_tool_result', 'mcp_tool_use', 'redacted_thinking', 'search_result', 'server_tool_use', 'text', 'text_editor_code_execution_tool_result', 'thinking', 'tool_search_tool_result', 'tool_use', 'web_fetch_tool_result', 'web_search_tool_result'",
    });
  });

  test("a file goes into the container with the user's message; system messages add and remove tools", async () => {
    const emulator = await emulatorFor();
    const upload = {
      role: "user",
      content: [text("Read it."), { type: "container_upload", file_id: "file_1" }],
    };
    const change = { type: "tool_addition", tool: { type: "tool_reference", name: "look" } };
    const system = { role: "system", content: [change], output_config: { effort: "low" }, clear_at: "never" };
    await expectTaken(emulator, { ...adaptive, messages: [upload, system] });
    await expectTaken(emulator, {
      ...adaptive,
      messages: [upload, { role: "system", output_config: { effort: "low" } }],
    });
    await expectRefused(
      emulator,
      { ...adaptive, messages: [{ role: "user", content: [change] }] },
      {
        rule: "X-value",
        message:
          "messages.0.content.0: Input tag 'tool_addition' found using 'type' does not match any of the expected tags: 'container_upload', 'document', 'image', 'search_result', 'text', 'tool_result'",
      },
    );
  });
});

const asked = (tool: Json): Json => ({ ...adaptive, messages: [says("hello")], tools: [tool] });

describe("tools that Anthropic has defined", () => {
  const versions: readonly (readonly [string, string, Json])[] = [
    ["web_search_20250305", "web_search", {}],
    ["web_search_20260209", "web_search", {}],
    ["web_search_20260318", "web_search", {}],
    ["web_fetch_20250910", "web_fetch", {}],
    ["web_fetch_20260318", "web_fetch", {}],
    ["code_execution_20250825", "code_execution", {}],
    ["code_execution_20260521", "code_execution", {}],
    ["advisor_20260301", "advisor", { model: "emu-claude" }],
    ["memory_20250818", "memory", {}],
    ["bash_20250124", "bash", {}],
    ["text_editor_20250124", "str_replace_editor", {}],
    ["text_editor_20250728", "str_replace_based_edit_tool", {}],
    ["computer_20251124", "computer", { display_height_px: 800, display_width_px: 600 }],
    ["tool_search_tool_regex_20251119", "tool_search_tool_regex", {}],
    ["tool_search_tool_bm25", "tool_search_tool_bm25", {}],
  ];
  test.each(versions)("%s needs its name", async (type, name, more) => {
    const emulator = await emulatorFor();
    await expectRefused(emulator, asked({ type, ...more }), {
      rule: "X-missing",
      message: `tools.0.${type}.name: Field required`,
    });
    await expectRefused(emulator, asked({ type, ...more, name: "mine" }), {
      rule: "X-value",
      message: `tools.0.${type}.name: Input should be '${name}'`,
    });
    await expectTaken(emulator, asked({ type, ...more, name }));
  });

  test("toolsets need no name; other required fields are demanded; an unknown type is refused with the list of known ones", async () => {
    const emulator = await emulatorFor();
    await expectTaken(emulator, asked({ type: "browser_toolset_20260801" }));
    await expectTaken(emulator, asked({ type: "mcp_toolset", mcp_server_name: "files" }));
    await expectRefused(emulator, asked({ type: "mcp_toolset" }), {
      rule: "X-missing",
      message: "tools.0.mcp_toolset.mcp_server_name: Field required",
    });
    await expectRefused(emulator, asked({ type: "advisor_20260301", name: "advisor" }), {
      rule: "X-missing",
      message: "tools.0.advisor_20260301.model: Field required",
    });
    const reply = await ask(emulator, asked({ type: "web_search", name: "web_search" }));
    expect((reply.json["error"] as Json)["message"]).toMatch(
      /^tools\.0: Input tag 'web_search' found using 'type' does not match any of the expected tags: 'advisor_20260301', .*'web_search_20260318'$/,
    );
    const twice = { type: "web_search_20250305", name: "web_search" };
    await expectRefused(
      emulator,
      { ...asked(twice), tools: [twice, twice] },
      { rule: "X-tools", message: "tools: Tool names must be unique." },
    );
  });
});
