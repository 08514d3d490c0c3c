/**
 * `throughline serve`: serves the sessions of this machine to a browser, and over HTTP to programs. The link goes to
 * stdout, so that a script can read it; everything else goes to stderr.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";

import { Command, Option } from "commander";

import { forgetLinksOf, type RunningServer, startServer } from "../../../access/server/index.ts";
import { codedError } from "../../../base/support/index.ts";
import type { Store } from "../../../runtime/log/index.ts";
import { EMULATED_MODELS, hasKey, pricedModels, PROVIDERS } from "../../../runtime/models/index.ts";
import { EXIT } from "../exit-codes.ts";
import { sessionDownload } from "../export/session-download.ts";
import { inertLine } from "../inert-text.ts";
import { type KeptToken, keptToken, notKept } from "../kept-token.ts";
import { isLoopback } from "../loopback.ts";
import { enterDirectory } from "../open-session.ts";
import { agentOptions, EFFORT_WORDS, gather, type RunFlags } from "../run-options.ts";
import { serveAgents } from "../serve-agents.ts";
import { type LinkFlags, printLink, assertTokenFlags } from "../serve-link.ts";
import { type NodeGiven, nodeOptions, openNode } from "../serve-node.ts";
import { serverToken } from "../server-token.ts";
import { stopOnSignals } from "../signals.ts";
import { say, type Terminal } from "../terminal.ts";

interface ServeFlags extends RunFlags, NodeGiven, LinkFlags {
  readonly port: string;
  readonly host: string;
  readonly allowHost: readonly string[];
  readonly expose?: boolean;
  readonly publicUrl?: string;
  readonly open?: boolean;
}

export function serveCommand(terminal: Terminal, finish: (code: number) => void): Command {
  const command = new Command("serve")
    .description("Serve sessions to the browser, and over HTTP to programs")
    .option("--port <number>", "listen on this port; 0 picks a free one", "4319")
    .option("--host <address>", "listen on this address", "127.0.0.1")
    .option("--expose", "allow a host other than loopback; anyone with the token can then run commands here")
    .addOption(
      new Option("--allow-host <name:port>", "also accept this name in browsers' requests; repeatable")
        .argParser(gather)
        .default([] as readonly string[], "none"),
    )
    .option("--public-url <url>", "the address under which people reach it, such as https://agents.example")
    .option("--open", "open the page in the browser")
    .option("--link", "print a new link to the server that runs with these flags, and start none")
    .option("--new-token", "replace the kept token: every browser must open a new link");
  return agentOptions(nodeOptions(command), {
    model: "use this model for all sessions, new and existing",
    effort: `reasoning effort: ${EFFORT_WORDS}`,
  })
    .option("--no-project-instructions", "do not read the project's AGENTS.md files")
    .option("--trust", "trust this project's settings, MCP servers and skills as they are now")
    .option("-C, --directory <dir>", "run in this directory")
    .addHelpText(
      "after",
      `
Examples:
  throughline serve --open                 open the page in your browser
  throughline serve --link                 a new link to the running server, for another browser
  throughline serve --port 0               use a free port; the link is the only line on stdout
  THROUGHLINE_TOKEN=… throughline serve    use your own token (openssl rand -hex 32)
  throughline serve --public-url https://agents.example    behind a proxy or a balancer

docs/http-api.md describes the API.`,
    )
    .action(async (flags: ServeFlags) => finish(await serve(flags, terminal)));
}

async function serve(flags: ServeFlags, terminal: Terminal): Promise<number> {
  if (!isLoopback(flags.host) && flags.expose !== true) {
    throw codedError(
      "host_not_loopback",
      `--host ${flags.host} can be reached from other machines. Anyone who gets the token can read every session and run tools as you, and the traffic is not encrypted. Add --expose if you want this`,
    );
  }
  const publicUrl = publicUrlFrom(flags.publicUrl);
  const port = portFrom(flags.port);
  const place = { host: flags.host, port, publicUrl };
  const given = serverToken();
  assertTokenFlags(flags, port, given);
  if (flags.link === true) return printLink(flags, place, given, terminal);
  keepHeapSmall();
  enterDirectory(flags.directory);
  const { store, drainMs } = await openNode(flags, terminal);
  await assertReadable(store);
  // The tokens of a shared store outlive every server, and hold on all of them.
  const kept =
    given === undefined && store.shared === undefined ? keptToken(place, flags.newToken === true) : undefined;
  const { agentFor, model, costOf, fingerprint } = await serveAgents(flags, terminal);
  store.shared?.describe({ models: fingerprint });
  const page = pageFolder();
  const stopping = new AbortController();
  const ended = stopOnSignals(() => stopping.abort());
  const server = await startServer({
    store,
    agent: agentFor,
    host: flags.host,
    port,
    allowHosts: flags.allowHost,
    publicUrl,
    token: given ?? kept?.token,
    ...(page === undefined ? {} : { page }),
    info: { model, models: modelNames(model), cwd: process.cwd() },
    costOf,
    exportSession: sessionDownload(costOf),
    onProblem: (text) => say(terminal, text),
  });
  if (kept !== undefined) await keep(kept, server, flags.newToken === true, terminal);
  if (flags.newToken === true && store.shared !== undefined) await forgetLinksOf({ url: server.url, store });
  const link = await firstLink(server);
  terminal.stdout.write(`${link}\n`);
  terminal.stderr.write(welcome(server, flags, page !== undefined));
  const opened = flags.open === true ? openBrowser(link, terminal) : undefined;
  if (!stopping.signal.aborted) await once(stopping.signal, "abort");
  terminal.stderr.write(stoppingText(drainMs));
  await server.close({ drainMs });
  await store.close();
  opened?.();
  return ended() === EXIT.hungUp ? EXIT.hungUp : EXIT.ok;
}

/** Keeps the token for the next start. A server that cannot goes on, unless a new token was asked for. */
async function keep(
  kept: KeptToken,
  server: RunningServer,
  renewed: boolean,
  terminal: Terminal,
): Promise<void> {
  if (kept.problem !== undefined) return say(terminal, notKept(kept.problem));
  try {
    kept.keep();
  } catch (error) {
    if (!renewed) return say(terminal, notKept(error));
    await server.close();
    throw error;
  }
}

function stoppingText(drainMs: number | undefined): string {
  return drainMs === undefined
    ? "stopping: running turns are cancelled and kept; waiting turns start when the server starts again\n"
    : `stopping: running turns have ${drainMs / 1000} s to end; then other servers of the pool go on with them\n`;
}

/**
 * The server runs for days next to other programs, so collect garbage once the heap has grown by 30 percent. By default,
 * the heap took three times the size of its live data (166 MB for 45 MB under bench/load-sse.mjs).
 */
function keepHeapSmall(): void {
  setFlagsFromString("--heap-growing-percent=30");
}

/** The models to offer: the default, the emulator's, and the priced models of every provider whose key is set. */
function modelNames(usual: string): readonly string[] {
  const usable = Object.values(PROVIDERS)
    .filter(hasKey)
    .flatMap(({ name }) => pricedModels(name).map((model) => `${name}/${model}`));
  return [...new Set([usual, ...usable, ...EMULATED])];
}

const EMULATED = EMULATED_MODELS.map((name) => `emulator/${name}`);

async function assertReadable(store: Store): Promise<void> {
  for await (const _ of store.list({ summaries: false })) return;
}

/** The page's folder: next to the bundled command line, or in the repository's build. */
function pageFolder(): string | undefined {
  return ["../web", "../../web", "../../../../dist/web"]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((folder) => existsSync(join(folder, "index.html")));
}

/** Its code may be in a database, which may be away by now. */
async function firstLink(server: RunningServer): Promise<string> {
  try {
    return await server.newLink();
  } catch (error) {
    await server.close();
    throw error;
  }
}

function publicUrlFrom(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  if (isWeb && url.href === `${url.origin}/`) return url.origin;
  throw codedError(
    "server_url_invalid",
    "--public-url: use the address that people type, without a path, such as https://agents.example",
  );
}

function portFrom(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw codedError("number_invalid", `--port ${text}: use a whole number from 0 to 65535`);
}

function welcome({ url }: RunningServer, { host, publicUrl }: ServeFlags, hasPage: boolean): string {
  const open =
    isLoopback(host) || publicUrl?.startsWith("https:") === true
      ? ""
      : `\n  ${inertLine(host, 100)} can be reached from other machines, without encryption. Put it behind a tunnel or a proxy with TLS.`;
  const page = hasPage ? "" : "\n  The page is not built (run npm run build); the API still works.";
  return `Throughline serves ${url}. The link above logs one browser in, once. Press Ctrl-C to stop.${open}${page}\n`;
}

/**
 * Opens the link through a file that only this user can read. Every user of the machine can read the arguments of a
 * process, and the link's code logs in the first browser that uses it.
 */
function openBrowser(link: string, terminal: Terminal): () => void {
  const folder = mkdtempSync(join(tmpdir(), "throughline-"));
  const file = join(folder, "open.html");
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${link}">`, {
    mode: 0o600,
    flag: "wx",
  });
  const [command, ...args] =
    process.platform === "darwin"
      ? ["open"]
      : process.platform === "win32"
        ? ["cmd", "/c", "start", ""]
        : ["xdg-open"];
  const child = spawn(command ?? "", [...args, pathToFileURL(file).href], {
    stdio: "ignore",
    detached: true,
  });
  child.on("error", () => say(terminal, `could not open a browser with ${command}: open the link yourself`));
  child.unref();
  return () => rmSync(folder, { recursive: true, force: true });
}
