/** A server of the modern era on standard input and output, made with the official package. */

import { acceptedContent, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

serveStdio(() => {
  const server = new McpServer({ name: "modern", version: "1" }, { instructions: "Be modern." });
  server.registerTool("greet", { description: "Greets." }, async () => ({
    content: [{ type: "text", text: "hello from a modern server" }],
  }));
  server.registerTool("ask", { description: "Asks who is there." }, async ({ mcpReq }) => {
    const told = acceptedContent(mcpReq.inputResponses, "who");
    if (told !== undefined) return { content: [{ type: "text", text: JSON.stringify(told) }] };
    const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
    return inputRequired({
      inputRequests: { who: inputRequired.elicit({ message: "Who?", requestedSchema }) },
    });
  });
  return server;
});
