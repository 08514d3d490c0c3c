/** A tool of an MCP server as the runtime sees it. It calls the server by the pair of names that is kept beside it. */

import type { ToolSpec } from "../../base/events/index.ts";
import { isObject, type JsonObject } from "../../base/support/index.ts";
import { isStrictSchema, jsonSchemaValidator, type Tool } from "../tools/index.ts";
import type { Connection } from "./connection.ts";
import type { McpToolDefinition } from "./tool-definition.ts";
import { withoutPatterns } from "./without-patterns.ts";

/** `trust`: the user believes what the server says of its tools. Nobody else does. */
export function mcpTool(name: string, definition: McpToolDefinition, connection: Connection): Tool {
  const { tool, description, parameters, hints } = definition;
  const trusted = connection.server.trust === true;
  return {
    ...made({ name, description, parameters, strict: isStrictSchema(parameters) }, tool, connection),
    access: trusted && hints.readOnly ? "read" : "execute",
    idempotent: trusted && hints.idempotent,
  };
}

/** The tool as the session declared it, for a server that is away. */
export function declaredTool(spec: ToolSpec, tool: string, connection: Connection): Tool {
  return made(spec, tool, connection);
}

function made(spec: ToolSpec, tool: string, connection: Connection): Tool {
  const { name, description, parameters, strict } = spec;
  let check: ReturnType<typeof jsonSchemaValidator> | undefined;
  return {
    name,
    description,
    parameters,
    strict,
    access: "execute",
    idempotent: false,
    mcp: { server: connection.name, tool },
    validate: async (input) => {
      check ??= jsonSchemaValidator(withoutPatterns(parameters));
      const verdict = check(input);
      return verdict.ok ? { ok: true, value: input } : verdict;
    },
    run: (input, context) => connection.call(tool, asObject(input), context),
  };
}

function asObject(input: unknown): JsonObject {
  return isObject(input) ? input : {};
}
