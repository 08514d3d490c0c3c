/** `mcp test`: connects to one server and shows what it offers. The server is ended before the command is. */

import { inertLine, unmistakableLine } from "../../../base/support/index.ts";
import { EXIT } from "../exit-codes.ts";
import { stopOnSignals } from "../signals.ts";
import type { Terminal } from "../terminal.ts";
import { connectMcp } from "./connect.ts";
import { entriesHere, findEntry } from "./find-entry.ts";
import { targetOf } from "./list-entries.ts";

export async function testServer(
  name: string,
  files: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const entry = findEntry(name, entriesHere(files, terminal));
  const enabled = { ...entry, server: { ...entry.server, enabled: true } };
  terminal.stderr.write(terminal.dim(`connecting to ${targetOf(entry.server)}\n`));
  const started = performance.now();
  const source = await connectMcp([enabled], { cwd: process.cwd() });
  if (source === undefined) return EXIT.turnFailed;
  const stop = new AbortController();
  const signalled = stopOnSignals(() => stop.abort());
  try {
    const stopped = new Promise<"stopped">((resolve) => {
      stop.signal.addEventListener("abort", () => resolve("stopped"), { once: true });
    });
    if ((await Promise.race([source.ready(), stopped])) === "stopped") return signalled() ?? EXIT.interrupted;
    const [view] = source.servers;
    if (view?.state !== "connected") {
      const todo = view?.state === "login_needed" ? `: throughline mcp login ${name}` : "";
      terminal.stderr.write(
        `${unmistakableLine(name)} ${view?.state === "login_needed" ? "needs a login" : "failed"}: ${inertLine(view?.problem ?? "it did not answer in time", 600)}${todo}\n`,
      );
      return EXIT.turnFailed;
    }
    const ms = Math.round(performance.now() - started);
    const era = view.era === "modern" ? "2026-07-28" : "2025-11-25 or earlier";
    const { stdout } = terminal;
    stdout.write(`${unmistakableLine(name)} connected in ${ms} ms, protocol ${era}\n`);
    for (const { name: known, mcp, description } of source.tools)
      stdout.write(
        `  ${known}  ${inertLine(mcp === undefined ? description : `${mcp.tool}: ${description}`, 160)}\n`,
      );
    for (const problem of view.leftOut) stdout.write(`  ! left out ${inertLine(problem, 300)}\n`);
    for (const prompt of await source.prompts())
      stdout.write(`  /${name}:${prompt.name}  ${inertLine(prompt.description ?? "a prompt", 160)}\n`);
    if (entry.server.enabled === false)
      terminal.stderr.write(`${unmistakableLine(name)} is disabled: remove "enabled": false to use it\n`);
    return signalled() ?? EXIT.ok;
  } finally {
    signalled();
    await source.close();
  }
}
