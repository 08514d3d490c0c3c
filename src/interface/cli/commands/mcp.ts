/** `throughline mcp`: the MCP servers whose tools the agent uses. */

import { Command } from "commander";

import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { addServer, type AddFlags, removeServer } from "../mcp/change-entries.ts";
import { listServers } from "../mcp/list-entries.ts";
import { login, logout } from "../mcp/logins.ts";
import { testServer } from "../mcp/test-server.ts";
import { gather } from "../run-options.ts";
import type { Terminal } from "../terminal.ts";

interface ConfigFlags {
  readonly mcpConfig: readonly string[];
  readonly json?: boolean;
}

const NAME = "the name of the server";
const CONFIG_FLAG = [
  "--mcp-config <file>",
  "also read the servers of this JSON file; give it again for more",
  gather,
  [] as readonly string[],
] as const;

export function mcpCommand(terminal: Terminal, finish: Finish): Command {
  const mcp = new Command("mcp")
    .description("List, add, remove, test and log in to MCP servers")
    .helpCommand("help [command]", "Show the help of a command")
    .addHelpText(
      "after",
      `
Examples:
  throughline mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  throughline mcp add docs --url https://docs.example/mcp --header 'Authorization: Bearer \${DOCS_TOKEN}'
  throughline mcp list
  throughline mcp test files
  throughline mcp login docs`,
    );
  mcp
    .command("list", { isDefault: true })
    .description("List the servers, where each comes from, and what is wrong with it; connects to none")
    .option(...CONFIG_FLAG)
    .option("--json", "print one JSON object")
    .action((flags: ConfigFlags) => {
      listServers({ files: flags.mcpConfig, json: flags.json === true }, terminal);
      finish(EXIT.ok);
    });
  mcp
    .command("add")
    .argument("<name>", NAME)
    .argument("[command...]", "the program and its arguments, after --")
    .description("Add a server to your settings: a program to start, or an address")
    .option("--url <url>", "the address of a server that runs elsewhere")
    .option(
      "--header <header>",
      "with --url: a header, such as 'X-Key: ${KEY}'; give it again for more",
      gather,
      [],
    )
    .option(
      "--env <variable>",
      "a variable for the program, as NAME=VALUE; give it again for more",
      gather,
      [],
    )
    .option("--project", "write it to the project's .mcp.json instead")
    .option("--force", "replace an entry with this name")
    .action((name: string, command: readonly string[], flags: AddFlags) => {
      addServer(name, command, flags, terminal);
      finish(EXIT.ok);
    });
  mcp
    .command("rm")
    .argument("<name>", NAME)
    .description("Remove a server from your settings")
    .option("--project", "remove it from the project's .mcp.json instead")
    .action((name: string, flags: { readonly project?: boolean }) => {
      removeServer(name, flags.project === true, terminal);
      finish(EXIT.ok);
    });
  mcp
    .command("test")
    .argument("<name>", NAME)
    .description("Connect to a server and show what it offers; exit with code 1 if that fails")
    .option(...CONFIG_FLAG)
    .action(async (name: string, flags: ConfigFlags) =>
      finish(await testServer(name, flags.mcpConfig, terminal)),
    );
  mcp
    .command("login")
    .argument("<name>", NAME)
    .description("Log in to a server with a browser; its tokens are kept for you alone")
    .option(...CONFIG_FLAG)
    .action(async (name: string, flags: ConfigFlags) => finish(await login(name, flags.mcpConfig, terminal)));
  mcp
    .command("logout")
    .argument("<name>", NAME)
    .description("Remove the tokens of a server")
    .option(...CONFIG_FLAG)
    .action(async (name: string, flags: ConfigFlags) =>
      finish(await logout(name, flags.mcpConfig, terminal)),
    );
  return mcp;
}
