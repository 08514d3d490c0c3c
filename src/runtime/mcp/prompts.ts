/** The prompts of MCP servers: texts that a person sends by name. */

import type { McpPrompt, McpPromptMessage } from "../../base/api/index.ts";
import { arrayOf, codedError, inertLine, isObject, stringOf } from "../../base/support/index.ts";
import { resourceText } from "./call-result.ts";
import type { Connection } from "./connection.ts";

const NEVER = new AbortController().signal;
const MOST = 200;

/** Of a server that is connected and has any. A server that fails to list them has none. */
export async function promptsOf(connection: Connection): Promise<readonly McpPrompt[]> {
  const { client, name: server } = connection;
  if (client === undefined) return [];
  const listed = await client.prompts().catch(() => []);
  return listed.slice(0, MOST).flatMap((one): readonly McpPrompt[] => {
    const name = isObject(one) ? stringOf(one["name"]) : undefined;
    if (!isObject(one) || name === undefined || inertLine(name, 100) !== name) return [];
    const about = stringOf(one["description"]) ?? stringOf(one["title"]);
    const given = arrayOf(one["arguments"]).flatMap((argument) => {
      const word = isObject(argument) ? stringOf(argument["name"]) : undefined;
      if (!isObject(argument) || word === undefined) return [];
      const said = stringOf(argument["description"]);
      return [
        {
          name: inertLine(word, 100),
          required: argument["required"] === true,
          ...(said === undefined ? {} : { description: inertLine(said, 300) }),
        },
      ];
    });
    return [
      {
        server,
        name,
        arguments: given,
        description: about === undefined ? undefined : inertLine(about, 300),
      },
    ];
  });
}

export async function promptOf(
  connection: Connection,
  name: string,
  given: Readonly<Record<string, string>>,
): Promise<readonly McpPromptMessage[]> {
  const result = await connection
    .reading(NEVER, (client) => client.prompt(name, given))
    .catch((error: unknown) => {
      throw codedError("mcp_prompt_failed", String(error instanceof Error ? error.message : error), error);
    });
  return arrayOf(result["messages"]).flatMap((message): readonly McpPromptMessage[] => {
    if (!isObject(message)) return [];
    const role = message["role"] === "assistant" ? "assistant" : "user";
    const text = textOf(message["content"]);
    return text === "" ? [] : [{ role, text }];
  });
}

function textOf(content: unknown): string {
  if (!isObject(content)) return "";
  const { type, resource } = content;
  if (type === "text") return stringOf(content["text"]) ?? "";
  if (type === "resource" && isObject(resource)) return resourceText(resource).text;
  return `[${inertLine(String(type), 40)} left out]`;
}
