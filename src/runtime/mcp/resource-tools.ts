/** Two tools that read the resources of MCP servers, if a server has any. */

import { inertLine, isObject, messageOf, stringOf } from "../../base/support/index.ts";
import { type DeclaredTools, tool, type Tool, toolOutcome } from "../tools/index.ts";
import { resourceText } from "./call-result.ts";
import type { Connection } from "./connection.ts";

const LIST_RESOURCES = "mcp_list_resources";
const READ_RESOURCE = "mcp_read_resource";

const MOST_LISTED = 500;

export function haveResources(connections: readonly Connection[]): boolean {
  return connections.some(({ client }) => client?.has("resources") === true);
}

/** What the session has declared stays while a server is away, and a turn that goes on keeps exactly that. */
export function resourceTools(
  connections: readonly Connection[],
  { tools, keep }: DeclaredTools,
): readonly Tool[] {
  const isDeclared = tools.some(({ name }) => name === READ_RESOURCE);
  const isWanted = isDeclared || (!keep && haveResources(connections));
  if (!isWanted || connections.length === 0) return [];
  return [listTool(connections), readTool(connections)];
}

function listTool(connections: readonly Connection[]): Tool {
  return tool({
    name: LIST_RESOURCES,
    description: "Lists the resources of the MCP servers: server, uri, name and type, one per line.",
    input: {
      type: "object",
      properties: { server: { type: "string", description: "Only this server" } },
      additionalProperties: false,
    },
    access: "execute",
    run: async ({ server }, { signal }) => {
      const wanted = connections.filter(({ name }) => server === undefined || name === server);
      if (wanted.length === 0) return unknownServer(connections);
      const lists = await Promise.all(
        wanted.map(async (connection) => {
          try {
            const listed = await connection.reading(signal, (client) => client.resources());
            return listed.slice(0, MOST_LISTED).map((one) => lineOf(connection.name, one));
          } catch (error) {
            return [`${connection.name}\t(${inertLine(messageOf(error), 300)})`];
          }
        }),
      );
      const lines = lists.flat();
      return lines.length === 0 ? "There are no resources." : lines.join("\n");
    },
  });
}

function readTool(connections: readonly Connection[]): Tool {
  return tool({
    name: READ_RESOURCE,
    description: "Reads a resource of an MCP server.",
    input: {
      type: "object",
      properties: { server: { type: "string" }, uri: { type: "string" } },
      required: ["server", "uri"],
      additionalProperties: false,
    },
    access: "execute",
    run: async ({ server, uri }, { signal }) => {
      const connection = connections.find(({ name }) => name === server);
      if (connection === undefined) return unknownServer(connections);
      return readResource(connection, String(uri), signal);
    },
  });
}

async function readResource(connection: Connection, uri: string, signal: AbortSignal): Promise<unknown> {
  const contents = await connection.reading(signal, (client) => client.readResource(uri, signal));
  const parts = contents.filter(isObject).map((one) => resourceText(one));
  return toolOutcome({
    status: "ok",
    text: parts.map(({ text }) => text).join("\n\n"),
    images: parts.flatMap(({ image }) => image ?? []),
  });
}

function unknownServer(connections: readonly Connection[]): unknown {
  const names = connections.map(({ name }) => name).join(", ");
  return toolOutcome({ status: "error", text: `not executed: use one of these servers: ${names}` });
}

function lineOf(server: string, resource: unknown): string {
  if (!isObject(resource)) return `${server}\t(unreadable)`;
  const words = ["uri", "name", "mimeType", "description"].flatMap((name) => {
    const text = stringOf(resource[name]);
    return text === undefined ? [] : [inertLine(text, 300)];
  });
  return [server, ...words].join("\t");
}
