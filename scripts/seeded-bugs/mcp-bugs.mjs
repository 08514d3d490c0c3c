/**
 * Bugs that other clients of MCP servers have really had (the reports are in the comments).
 *
 * @type {readonly import("../planting.mjs").Planted[]}
 */
export const mcpBugs = [
  {
    // QwenLM/qwen-code#5381, MoonshotAI/kimi-code#1991
    what: "an MCP call whose answer is lost is sent again",
    file: "src/runtime/mcp/connection.ts",
    find: "      if (context.signal.aborted) throw error;\n",
    replace:
      '      if (context.signal.aborted) throw error;\n      if (client.whyLost(error).how === "unknown" && !("again" in context))\n        return this.call(tool, input, { ...context, again: true } as ToolContext);\n',
    tests: ["test/mcp/killed-server.test.ts", "test/mcp/cut-answer.test.ts"],
  },
  {
    // modelcontextprotocol/typescript-sdk#2739
    what: "an MCP call waits for its time limit when the answer breaks off",
    file: "src/runtime/mcp/http-transport.ts",
    find: '        if (!isProbe) this.#cutOff(id, "the connection ended before the answer");\n',
    replace: "",
    tests: ["test/mcp/cut-answer.test.ts"],
  },
  {
    // anthropics/claude-code#74329, #92033
    what: "an MCP server that is away loses its tools",
    file: "src/runtime/mcp/mcp-source.ts",
    find: "listed === undefined || declared.keep ? keptTools(before, listed, connection) : listed;",
    replace: "declared.keep ? keptTools(before, listed, connection) : (listed ?? []);",
    tests: ["test/mcp/same-prefix.test.ts"],
  },
  {
    // GEMISIS/leviath#880
    what: "the tools of an MCP server come in the order of its list",
    file: "src/runtime/mcp/tool-definition.ts",
    find: "[...tools.values()].toSorted((a, b) => (a.tool < b.tool ? -1 : 1));",
    replace: "[...tools.values()];",
    tests: ["test/mcp/same-prefix.test.ts"],
  },
  {
    what: "the instructions of an MCP server change within a session",
    file: "src/runtime/mcp/mcp-source.ts",
    find: "said.length > 0 || before.length > 0 || declared.keep ? said : now",
    replace: "now",
    tests: ["test/mcp/same-prefix.test.ts"],
  },
  {
    what: "an MCP server is believed that its tool is harmless",
    file: "src/runtime/mcp/mcp-tool.ts",
    find: 'access: trusted && hints.readOnly ? "read" : "execute"',
    replace: 'access: hints.readOnly ? "read" : "execute"',
    tests: ["src/runtime/mcp/mcp-tool.test.ts"],
  },
  {
    what: "a form that asks for a password is shown",
    file: "src/base/events/elicitation-limits.ts",
    find: '  return asksForSecret(request) ? "asks for a secret, or mentions one" : undefined;\n',
    replace: "  return undefined;\n",
    tests: ["src/base/events/elicitation.test.ts"],
  },
];
