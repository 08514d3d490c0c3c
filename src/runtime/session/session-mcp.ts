/** The MCP servers of a session: those of all tool sources of its agent, as one list. Nothing here reads or writes the log. */

import type { McpPrompt, McpPromptMessage, McpServerView } from "../../base/api/index.ts";
import { codedError, didYouMean, inertLine } from "../../base/support/index.ts";
import type { ToolSource } from "../tools/index.ts";

export class SessionMcp {
  readonly #sources: readonly ToolSource[];

  constructor(sources: readonly ToolSource[]) {
    this.#sources = sources;
  }

  get servers(): readonly McpServerView[] {
    return this.#sources.flatMap(({ servers }) => servers);
  }

  async reconnect(server: string | undefined): Promise<void> {
    const wanted = server === undefined ? this.#sources : [this.#sourceOf(server)];
    await Promise.all(wanted.map((source) => source.reconnect(server)));
  }

  /** Waits until the servers have answered or failed: before that, nobody knows what they offer. */
  async prompts(): Promise<readonly McpPrompt[]> {
    await Promise.all(this.#sources.map((source) => source.ready()));
    return (await Promise.all(this.#sources.map((source) => source.prompts()))).flat();
  }

  async prompt(
    server: string,
    name: string,
    given: Readonly<Record<string, string>>,
  ): Promise<readonly McpPromptMessage[]> {
    return this.#sourceOf(server).prompt(server, name, given);
  }

  /** A source refuses a server of its own that is disabled, and says what to change. */
  #sourceOf(server: string): ToolSource {
    const found = this.#sources.find(({ servers }) => servers.some(({ name }) => name === server));
    if (found !== undefined) return found;
    const names = this.servers.map(({ name }) => name);
    const known = names.length === 0 ? "; there are none" : `; use one of ${names.join(", ")}`;
    throw codedError(
      "mcp_server_unknown",
      `there is no MCP server "${inertLine(server, 100)}"${didYouMean(server, names) || known}`,
    );
  }
}
