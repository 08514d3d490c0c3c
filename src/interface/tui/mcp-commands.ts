/**
 * The MCP servers of a session for a person at a terminal: their state, connecting again, their tools, and their prompts.
 * The text of a prompt comes from a server. It is sent as it is: names of files in it attach nothing.
 */

import {
  type McpPrompt,
  type McpPromptMessage,
  mcpServerLine,
  type McpServerView,
  type SessionHandle,
} from "../../base/api/index.ts";
import { closestTo, codedError, didYouMean, inertLine, unmistakableLine } from "../../base/support/index.ts";
import type { CommandHost } from "./commands.ts";
import { promptArguments } from "./prompt-arguments.ts";

/** `/mcp`, `/mcp reconnect [NAME]`, `/mcp tools NAME`. */
export async function mcp({ handle, say }: CommandHost, argument: string): Promise<void> {
  const [, verb = "", name = ""] = /^(\S*)\s*([^]*)$/.exec(argument) ?? [];
  if (verb === "") say(serverLines(await handle.mcpServers()));
  else if (verb === "reconnect") {
    say(name === "" ? "Connecting…" : `Connecting to ${unmistakableLine(name)}…`);
    say(serverLines(await handle.reconnectMcp(name === "" ? undefined : name)));
  } else if (verb === "tools") say(toolLines(serverNamed(await handle.mcpServers(), name)));
  else throw codedError("usage", "use /mcp, /mcp reconnect [NAME] or /mcp tools NAME");
}

function serverLines(servers: readonly McpServerView[]): string {
  if (servers.length === 0)
    return "There are no MCP servers. throughline mcp add adds one, for the next session.";
  const away = servers.some(({ state }) => state === "failed" || state === "lost");
  return [
    ...servers.flatMap((view) => [
      mcpServerLine(view),
      ...view.leftOut.map((one) => `  left out: ${unmistakableLine(one)}`),
    ]),
    ...(away ? ["To connect again: /mcp reconnect [NAME]"] : []),
  ].join("\n");
}

function toolLines(view: McpServerView): string {
  if (view.toolNames.length === 0) return mcpServerLine(view);
  return [mcpServerLine(view), ...view.toolNames.map((name) => `  ${unmistakableLine(name)}`)].join("\n");
}

function serverNamed(servers: readonly McpServerView[], name: string): McpServerView {
  const names = servers.map((one) => one.name);
  if (name === "") throw codedError("usage", `name the server: /mcp tools NAME${oneOf(names)}`);
  const found = servers.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw codedError(
    "mcp_server_unknown",
    `there is no MCP server "${inertLine(name, 100)}"${didYouMean(name, names) || oneOf(names)}`,
  );
}

function oneOf(names: readonly string[]): string {
  return names.length === 0 ? "; there are none" : `; use one of ${names.join(", ")}`;
}

/** `/NAME:PROMPT [arguments]`. Returns false if the line is a message: no server has such a name, or a similar one. */
export async function sendPrompt(host: CommandHost, line: string): Promise<boolean> {
  const [, server = "", rest = ""] = /^\/([^:\n]{1,64}):(\S[^]*)$/.exec(line) ?? [];
  if (server === "") return false;
  const { handle } = host;
  const servers = await handle.mcpServers();
  const names = servers.map(({ name }) => name);
  if (!names.includes(server) && closestTo(server, names) === undefined) return false;
  const view = serverNamed(servers, server);
  const prompts = (await handle.mcpPrompts()).filter((one) => one.server === server);
  const prompt = longestNamed(prompts, rest);
  if (prompt === undefined) throw noPrompt(await viewNow(handle, view), prompts, rest);
  const given = promptArguments(prompt, rest.slice(prompt.name.length));
  if (host.busy) {
    host.say(`/${server}:${prompt.name} has to wait until the turn ends; Esc stops it.`);
    return true;
  }
  const text = messageText(await handle.mcpPrompt(server, prompt.name, given));
  if (text === "") host.say(`The prompt ${server}:${prompt.name} is empty; nothing was sent.`);
  else host.started(handle.send(text));
  return true;
}

/** Names may contain spaces, and one may begin like another. */
function longestNamed(prompts: readonly McpPrompt[], text: string): McpPrompt | undefined {
  return prompts
    .filter(({ name }) => text.startsWith(name) && /^(?:\s|$)/.test(text.slice(name.length)))
    .toSorted((a, b) => b.name.length - a.name.length)[0];
}

/** Asking for prompts has waited for the server. */
async function viewNow(handle: SessionHandle, before: McpServerView): Promise<McpServerView> {
  return (await handle.mcpServers()).find(({ name }) => name === before.name) ?? before;
}

function noPrompt(view: McpServerView, prompts: readonly McpPrompt[], rest: string): Error {
  const [wanted = ""] = rest.split(/\s/);
  const names = prompts.map(({ name }) => name);
  const near = didYouMean(wanted, names) || (names.length === 0 ? "" : `; it has ${names.join(", ")}`);
  const why = view.state === "connected" ? near : `: ${mcpServerLine(view)}`;
  return codedError("usage", `the MCP server "${view.name}" has no prompt "${inertLine(wanted, 100)}"${why}`);
}

/** One message of the person. What the prompt puts into the model's mouth is quoted, since the model never said it. */
export function messageText(messages: readonly McpPromptMessage[]): string {
  return messages
    .map(({ role, text }) => (role === "user" ? text : text.replaceAll(/^/gm, "> ")))
    .join("\n\n")
    .trim();
}

/** What completion offers. Looks for prompts in the background, since a server may take long to answer. */
export class PromptNames {
  readonly #handle: SessionHandle;
  #known: readonly { readonly name: string; readonly about: string }[] = [];
  #looking = false;

  constructor(handle: SessionHandle) {
    this.#handle = handle;
  }

  get known(): readonly { readonly name: string; readonly about: string }[] {
    return this.#known;
  }

  look(): void {
    if (this.#looking) return;
    this.#looking = true;
    const take = (prompts: readonly McpPrompt[]): void => {
      this.#looking = false;
      if (prompts.length > 0)
        this.#known = prompts.map(({ server, name, description }) => ({
          name: `/${server}:${name}`,
          about: description ?? "prompt of an MCP server",
        }));
    };
    this.#handle.mcpPrompts().then(take, () => take([])); // a command says why it fails
  }
}
