/**
 * The MCP servers of the agent, as a session sees them. Connections belong to this process, so these routes need no writer:
 * they work in a session that another process writes.
 */

import { codedError } from "../../base/support/index.ts";
import { type App, hostedOf, type ServerParts, withBody } from "./context.ts";
import { type Fields, required } from "./read-body.ts";

export function addMcpRoutes(app: App, parts: ServerParts): void {
  app.get("/api/sessions/:id/mcp", async (c) => {
    const hosted = await hostedOf(parts, c);
    return c.json({ servers: await hosted.withSession("read", (session) => session.mcpServers()) });
  });

  app.get("/api/sessions/:id/mcp/prompts", async (c) => {
    const hosted = await hostedOf(parts, c);
    return c.json({ prompts: await hosted.withSession("read", (session) => session.mcpPrompts()) });
  });

  app.post("/api/sessions/:id/mcp/reconnect", async (c) => {
    const { hosted, body } = await withBody(parts, c);
    const server = body.text("server");
    body.done();
    return c.json({ servers: await hosted.withSession("read", (session) => session.reconnectMcp(server)) });
  });

  app.post("/api/sessions/:id/mcp/prompt", async (c) => {
    const { hosted, body } = await withBody(parts, c);
    const server = required("server", body.text("server"));
    const name = required("name", body.text("name"));
    const given = textsIn(body, "arguments");
    body.done();
    const messages = await hosted.withSession("read", (session) => session.mcpPrompt(server, name, given));
    return c.json({ messages });
  });
}

function textsIn(body: Fields, field: string): Readonly<Record<string, string>> {
  const texts = Object.entries(body.object(field) ?? {}).map(([name, value]): [string, string] => {
    if (typeof value !== "string") throw codedError("field_invalid", `${field} must be an object of texts`);
    return [name, value];
  });
  return Object.fromEntries(texts);
}
