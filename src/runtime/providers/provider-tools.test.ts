import { describe, expect, test } from "vitest";

import { PROFILES } from "./profiles/index.ts";
import { type ProviderTool, checkedProviderTools } from "./provider-tools.ts";

const on = (profile: string, ...given: readonly ProviderTool[]): unknown =>
  checkedProviderTools(given, PROFILES[profile] as NonNullable<(typeof PROFILES)[string]>);

const codeAndWords = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as { readonly code: string; readonly message: string };
    return [code, message];
  }
};

describe("a provider tool", () => {
  test("can be an object, which is passed unchanged", () => {
    const search = { type: "web_search_20260318", name: "web_search", max_uses: 3 };
    const mcp = { type: "mcp", server_label: "docs", server_url: "https://docs.test/mcp" };
    expect(on("anthropic", search)).toEqual([search]);
    expect(on("openai", mcp, { type: "web_search", search_context_size: "low" })).toEqual([
      mcp,
      { type: "web_search", search_context_size: "low" },
    ]);
  });

  test("can be just its type, if nothing else is required", () => {
    expect(on("openai", "web_search", "image_generation")).toEqual([
      { type: "web_search" },
      { type: "image_generation" },
    ]);
    expect(on("xai", "x_search", "code_interpreter")).toEqual([
      { type: "x_search" },
      { type: "code_interpreter" },
    ]);
  });

  test("gets the required fields that have only one usual value", () => {
    expect(on("anthropic", "web_search_20260318", { type: "web_fetch_20250910", max_uses: 1 })).toEqual([
      { type: "web_search_20260318", name: "web_search" },
      { type: "web_fetch_20250910", name: "web_fetch", max_uses: 1 },
    ]);
    expect(on("openai", "code_interpreter")).toEqual([
      { type: "code_interpreter", container: { type: "auto" } },
    ]);
    const container = { type: "auto", memory_limit: "4g" };
    expect(on("openai", { type: "code_interpreter", container })).toEqual([
      { type: "code_interpreter", container },
    ]);
  });

  test.each<readonly [string, ProviderTool, string]>([
    ["openai", "file_search", "vector_store_ids"],
    ["openai", "mcp", "server_label, server_url or connector_id"],
    ["openai", { type: "mcp", server_label: "docs" }, "server_url or connector_id"],
    ["openai", "computer_use_preview", "display_width, display_height, environment"],
    ["anthropic", "advisor_20260301", "model"],
    ["anthropic", "mcp_toolset", "mcp_server_name"],
  ])("on %s, %j is refused with a message that names the missing %s", (profile, tool, missing) => {
    const type = typeof tool === "string" ? tool : tool.type;
    expect(codeAndWords(() => on(profile, tool))).toEqual([
      "provider_tools_invalid",
      `${type} needs ${missing}: pass it as an object, { type: "${type}", … }`,
    ]);
  });

  test.each<readonly [string, ProviderTool]>([
    ["anthropic", "bash_20250124"],
    ["openai-chat", "web_search"],
    ["openai", { type: "mcp", server_label: "a", server_url: "https://a.test", authorization: "secret" }],
    ["openai", ""],
    ["openai", {} as ProviderTool],
    ["openai", null as unknown as ProviderTool],
  ])("on %s, %j is refused", (profile, tool) => {
    expect(codeAndWords(() => on(profile, tool))).toMatchObject([
      "provider_tools_invalid",
      expect.any(String),
    ]);
  });
});
