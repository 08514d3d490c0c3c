/**
 * The client that the conformance suite tests: what the command line does with a server. It connects to the server whose
 * address is its last argument, and calls each of its tools once. When the server asks for a login it logs in, as a person
 * would with a browser, and tries again.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { systemClock } from "../../src/base/support/index.ts";
import { McpSource } from "../../src/runtime/mcp/mcp-source.ts";
import { McpOAuth, TokenFile } from "../../src/runtime/mcp/oauth/index.ts";
import { withElicit } from "../../src/runtime/tools/index.ts";

/** The address that the suite expects of a client with a metadata document. */
const METADATA_URL = "https://conformance-test.local/client-metadata.json";
/** A server may refuse every login, and some scenarios do. */
const MAX_LOGINS = 3;
const NAME = "suite";

const url = process.argv.at(-1);
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const folder = mkdtempSync(join(tmpdir(), "throughline-conformance-"));
const oauth = new McpOAuth({
  name: NAME,
  url,
  tokens: new TokenFile(join(folder, "state", "mcp-logins.json")),
  client: {
    clientId: context.client_id,
    clientSecret: context.client_secret,
    clientMetadataUrl: METADATA_URL,
  },
});
const source = new McpSource({
  servers: { [NAME]: { url, timeoutMs: 60_000 } },
  host: {
    cwd: folder,
    clock: systemClock,
    authProvider: () => oauth,
  },
  secrets: () => oauth.secrets(),
});
let logins = 0;

try {
  await main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  await source.close();
  rmSync(folder, { recursive: true, force: true });
}

async function main() {
  await source.ready();
  await loggedIn();
  const [{ state, problem }] = source.servers;
  if (state !== "connected") throw new Error(`${state}: ${problem}`);
  for (const { name, input } of calls(source.tools)) {
    const outcome = await called(name, input);
    process.stderr.write(`${name}: ${outcome.status} ${outcome.text}\n`);
  }
}

/** Logs in as long as the server asks for it. Returns whether it did. */
async function loggedIn() {
  let did = false;
  while (source.servers[0].state === "login_needed" && logins < MAX_LOGINS) {
    logins += 1;
    did = true;
    process.stderr.write(`${source.servers[0].problem}\n`);
    await oauth.login({ openLink: follow });
    await source.reconnect(NAME);
  }
  return did;
}

async function called(name, input) {
  for (;;) {
    const tool = source.tools.find((one) => nameOf(one) === name);
    if (tool === undefined) return { status: "error", text: "there is no such tool" };
    const outcome = await tool.run(
      input,
      withElicit({ signal: new AbortController().signal, progress: () => undefined }, answered),
    );
    if (!(await loggedIn())) return outcome;
  }
}

/** The person who takes every default. The protocol leaves out what has none. */
async function answered({ mode, fields = [] }) {
  const usual = fields.filter((field) => field.default !== undefined);
  const content =
    mode === "form" ? Object.fromEntries(usual.map((field) => [field.name, field.default])) : {};
  return { action: "accept", content };
}

/** The authorization servers of the suite ask nobody: they redirect at once. */
async function follow(link) {
  const response = await fetch(link);
  await response.text();
}

function calls(tools) {
  if (context.toolCalls !== undefined)
    return context.toolCalls.map(({ name, arguments: input }) => ({ name, input }));
  return tools.map((tool) => ({ name: nameOf(tool), input: inputFor(tool.parameters, tools) }));
}

/** The server's own name. The tools that read resources are ours. */
function nameOf({ mcp, name }) {
  return mcp?.tool ?? name;
}

function inputFor({ properties = {}, required = [] }, tools) {
  return Object.fromEntries(
    required.map((name) => [
      name,
      // One scenario wants to see what became of the schema of the other tool.
      name === "schema" ? schemaOf(tools[0]) : valueFor(properties[name] ?? {}, tools),
    ]),
  );
}

/** A schema that is no plain object is declared as the member `input`; its definitions stay at the top. */
function schemaOf({ parameters: { properties, required, $defs, ...rest } }) {
  const wrapped = required?.length === 1 && required[0] === "input" && properties.input;
  return wrapped ? { ...wrapped, $defs } : { properties, required, $defs, ...rest };
}

function valueFor({ type, enum: choices, default: preset, ...schema }, tools) {
  if (preset !== undefined) return preset;
  if (choices !== undefined) return choices[0];
  if (type === "object") return inputFor(schema, tools);
  return { number: 1, integer: 1, boolean: true, array: [], null: null }[type] ?? "text";
}
