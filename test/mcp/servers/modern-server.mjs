/** A server of the modern era on standard input and output, made with the official package. */

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

serveStdio(() => {
  const server = new McpServer({ name: "modern", version: "1" }, { instructions: "Be modern." });
  server.registerTool("greet", { description: "Greets." }, async () => ({
    content: [{ type: "text", text: "hello from a modern server" }],
  }));
  return server;
});
