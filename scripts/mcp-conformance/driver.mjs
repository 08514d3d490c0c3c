/**
 * The client that the conformance suite tests: what a user of the library does. It connects to the server whose address is
 * its last argument, lists the tools, and calls each once. When the server asks for a login it logs in, as a person would
 * with a browser, and tries again.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { McpOAuth, TokenFile } from "../../src/runtime/mcp/oauth/index.ts";

/** The address that the suite expects of a client with a metadata document. */
const METADATA_URL = "https://conformance-test.local/client-metadata.json";
/** A server may refuse every login, and some scenarios do. */
const MAX_LOGINS = 3;

const url = process.argv.at(-1);
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const folder = mkdtempSync(join(tmpdir(), "throughline-conformance-"));
const oauth = new McpOAuth({
  name: "conformance",
  url,
  tokens: new TokenFile(join(folder, "state", "mcp-logins.json")),
  client: {
    clientId: context.client_id,
    clientSecret: context.client_secret,
    clientMetadataUrl: METADATA_URL,
  },
});
let logins = 0;

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function main() {
  const client = await withLogin(connected);
  const { tools } = await withLogin(() => client.listTools());
  const calls =
    context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsFor(tool, tools) }));
  for (const call of calls) {
    try {
      await withLogin(() => client.callTool(call));
    } catch (error) {
      process.stderr.write(`call of ${call.name}: ${error.message}\n`);
    }
  }
  await client.close();
}

async function connected() {
  const client = new Client(
    { name: "throughline", version: "0.0.0" },
    {
      versionNegotiation: { mode: "auto" },
      capabilities: { elicitation: { form: { applyDefaults: true } } },
    },
  );
  client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: {} }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider: oauth }));
  return client;
}

async function withLogin(work) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const failure = await oauth.failure(error);
      if (failure?.code !== "mcp_login_needed" || logins >= MAX_LOGINS) throw failure ?? error;
      logins += 1;
      process.stderr.write(`${failure.message}\n`);
      await oauth.login({ openLink: follow });
    }
  }
}

/** The authorization servers of the suite ask nobody: they redirect at once. */
async function follow(link) {
  const response = await fetch(link);
  await response.text();
}

function argumentsFor({ inputSchema }, tools) {
  const { properties = {}, required = [] } = inputSchema;
  return Object.fromEntries(
    required.map((name) => [
      name,
      // One scenario wants to see what became of the schema of the other tool.
      name === "schema" ? tools[0].inputSchema : valueFor(properties[name] ?? {}),
    ]),
  );
}

function valueFor({ type, enum: choices, default: preset }) {
  if (preset !== undefined) return preset;
  if (choices !== undefined) return choices[0];
  return { number: 1, integer: 1, boolean: true, array: [], object: {}, null: null }[type] ?? "text";
}
