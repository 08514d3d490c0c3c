/**
 * The names under which a model calls the tools of MCP servers. A name depends on the two names it is made of and on the
 * other tools of the same server, never on the order in which servers connect: a changed name would change the start of
 * every request.
 */

import { createHash } from "node:crypto";

import { toolNamePart } from "../../base/support/index.ts";

/** The limit of the strictest API. */
const MAX_NAME = 64;
const SERVER_LENGTH = 12;
const HASH_LENGTH = 8;

/** Returns the name of each tool of one server, in the given order. Equal tools get equal names. */
export function toolNames(server: string, tools: readonly string[]): readonly string[] {
  const plain = tools.map((tool) => plainName(server, tool));
  const takenBy = new Map<string, Set<string>>();
  for (const [index, name] of plain.entries()) {
    if (name === undefined) continue;
    const owners = takenBy.get(name) ?? new Set();
    takenBy.set(name, owners.add(tools[index] as string));
  }
  return tools.map((tool, index) => {
    const name = plain[index];
    return name === undefined || (takenBy.get(name)?.size ?? 0) > 1 ? hashedName(server, tool) : name;
  });
}

/** Undefined if the name is too long, or could be that of another server's tool. */
function plainName(server: string, tool: string): string | undefined {
  const [first, second] = [toolNamePart(server), toolNamePart(tool)];
  const name = `mcp__${first}__${second}`;
  const isClear = !first.includes("__") && !first.endsWith("_") && second !== "";
  return isClear && name.length <= MAX_NAME ? name : undefined;
}

/** Keeps the end of the tool's name, where tools differ. */
function hashedName(server: string, tool: string): string {
  const hash = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, HASH_LENGTH);
  const head = `mcp__${toolNamePart(server).slice(0, SERVER_LENGTH)}__`;
  const room = MAX_NAME - head.length - HASH_LENGTH - 1;
  return `${head}${toolNamePart(tool).slice(-room)}_${hash}`;
}
