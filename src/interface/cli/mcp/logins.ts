/** `mcp login` and `mcp logout`. Only these commands log in; no browser is opened by itself. */

import { codedError, inertLine, unmistakableLine } from "../../../base/support/index.ts";
import type { HttpServer } from "../../../runtime/mcp/index.ts";
import { EXIT } from "../exit-codes.ts";
import { stopOnSignals } from "../signals.ts";
import type { Terminal } from "../terminal.ts";
import { connectMcp, loginAt } from "./connect.ts";
import type { McpEntry } from "./entries.ts";
import { entriesHere, findEntry } from "./find-entry.ts";

export async function login(name: string, files: readonly string[], terminal: Terminal): Promise<number> {
  const entry = httpEntry(name, files, terminal);
  const cwd = process.cwd();
  const source = await connectMcp([{ ...entry, server: { ...entry.server, enabled: true } }], { cwd });
  const oauth = await loginAt(entry);
  if (source === undefined || oauth === undefined)
    throw codedError(
      "mcp_login_failed",
      `the entry of "${name}" has a header Authorization, which is used as it is: remove it to log in`,
    );
  const stop = new AbortController();
  const signalled = stopOnSignals(() => stop.abort());
  try {
    await source.ready();
    const [before] = source.servers;
    if (before?.state === "connected") {
      terminal.stderr.write(`${unmistakableLine(name)} is connected, so no login is needed\n`);
      return EXIT.ok;
    }
    if (before?.state !== "login_needed")
      throw codedError(
        "mcp_login_failed",
        `"${name}" cannot be reached: ${inertLine(before?.problem ?? "it did not answer in time", 500)}`,
      );
    await oauth.login({
      signal: stop.signal,
      openLink: (link) =>
        void terminal.stderr.write(
          `Open this address in a browser and log in. It leads to ${unmistakableLine(new URL(link).host)}:\n${unmistakableLine(link)}\nWaiting for the browser; Ctrl-C stops.\n`,
        ),
    });
    await source.reconnect(name);
    const [after] = source.servers;
    if (after?.state !== "connected")
      throw codedError(
        "mcp_login_failed",
        `logged in to "${name}", but it is not connected: ${inertLine(after?.problem ?? after?.state ?? "", 500)}`,
      );
    terminal.stderr.write(`Logged in to ${unmistakableLine(name)}: ${after.tools} tools\n`);
    return EXIT.ok;
  } catch (error) {
    const code = signalled();
    if (code !== undefined) return code;
    throw error;
  } finally {
    signalled();
    await source.close();
  }
}

export async function logout(name: string, files: readonly string[], terminal: Terminal): Promise<number> {
  const entry = httpEntry(name, files, terminal);
  const result = await (await loginAt(entry))?.logout();
  if (result?.removed !== true) terminal.stderr.write(`there is no login to ${unmistakableLine(name)}\n`);
  else {
    const where = result.revoked ? "" : ". The server was not told: end the login there too if that matters";
    terminal.stderr.write(`Logged out of ${unmistakableLine(name)}${where}\n`);
  }
  return EXIT.ok;
}

function httpEntry(
  name: string,
  files: readonly string[],
  terminal: Terminal,
): McpEntry & { readonly server: HttpServer } {
  const entry = findEntry(name, entriesHere(files, terminal));
  if ("url" in entry.server) return { ...entry, server: entry.server };
  throw codedError("mcp_login_failed", `"${name}" is a program, not an address: it needs no login here`);
}
