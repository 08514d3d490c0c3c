/**
 * A process with MCP servers, to be killed or measured. It prints `ready {servers}` when they have connected, then does its
 * calls or its turn, and prints `outcome {json}`, `event {json}` and at the end `memory BYTES` (the most it ever used).
 */

import { writeSync } from "node:fs";

import { createAgent, fileStore, type McpServerConfig, mcpTools, openai } from "../../src/index.ts";
import type { ToolContext } from "../../src/runtime/tools/index.ts";

export interface McpChildPlan {
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  readonly calls?: readonly { readonly tool: string; readonly input: object }[];
  /** A session in a file store: one turn. */
  readonly session?: {
    readonly folder: string;
    readonly id: string;
    readonly baseUrl: string;
    readonly prompt: string;
  };
  /** How it ends: in order, by `process.exit` with everything open, or not at all. */
  readonly end: "close" | "exit" | "stay";
}

const plan = JSON.parse(process.argv[2] ?? "{}") as McpChildPlan;
const say = (word: string, value: unknown): void => {
  writeSync(1, `${word} ${JSON.stringify(value)}\n`);
};

const mcp = await mcpTools({ servers: plan.servers });
say("ready", mcp.servers);
for (const { tool, input } of plan.calls ?? []) {
  const found = mcp.tools.find(({ name }) => name === tool);
  const context = {
    signal: new AbortController().signal,
    progress: () => undefined,
  } as unknown as ToolContext;
  const outcome = (await found?.run(input, context)) as { readonly status: string; readonly text: string };
  say("outcome", { tool, status: outcome?.status, text: outcome?.text.slice(0, 400) });
}
if (plan.session !== undefined) {
  const { folder, id, baseUrl, prompt } = plan.session;
  const model = openai("emu-reasoner", { apiKey: "sk-fixture-0123456789", baseUrl });
  const agent = createAgent({ model, tools: [mcp], permissions: "auto" });
  const session = await agent.open({ id, store: fileStore(folder) });
  for await (const event of session.send(prompt)) say("event", event);
  await session.close();
}
say("memory", process.resourceUsage().maxRSS * 1024);
if (plan.end === "close") await mcp.close();
if (plan.end === "exit") process.exit(0);
