/**
 * A process with a login. Arguments: the file of logins, the address of the MCP server, and what to do. `refresh` renews
 * the login when a line comes on standard input, and prints the new token. `save N` saves that many logins at servers of
 * its own.
 */

import { once } from "node:events";

import { McpOAuth, TokenFile } from "../../../src/runtime/mcp/oauth/index.ts";

const [path = "", server = "", what = "", count = "0"] = process.argv.slice(2);
const tokens = new TokenFile(path);

if (what === "refresh") {
  const oauth = new McpOAuth({ name: "docs", url: server, tokens });
  process.stdout.write("ready\n");
  await once(process.stdin, "data");
  process.stdin.destroy();
  await oauth.onUnauthorized({ response: new Response(null, { status: 401 }) });
  process.stdout.write(`${await oauth.token()}\n`);
} else {
  for (let index = 0; index < Number(count); index += 1)
    await tokens.save({
      server: `${server}/${process.pid}/${index}`,
      issuer: server,
      client: { client_id: "c" },
      accessToken: `token-${index}`,
      savedAt: 0,
    });
}
