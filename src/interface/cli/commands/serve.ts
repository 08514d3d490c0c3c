/**
 * `throughline serve`: the sessions of this machine in a browser, and over HTTP for programs. The link goes to stdout,
 * so that a script can read it; everything else goes to stderr.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";

import { Command } from "commander";

import { type RunningServer, startServer } from "../../../access/server/index.ts";
import { EFFORTS } from "../../../base/events/index.ts";
import { codedError } from "../../../base/support/index.ts";
import { fileStore, type Store } from "../../../runtime/log/index.ts";
import { EMULATED_MODELS, hasKey, pricedModels, PROVIDERS } from "../../../runtime/models/index.ts";
import { sessionsFolder } from "../../config/index.ts";
import { EXIT } from "../exit-codes.ts";
import { sessionDownload } from "../export/session-download.ts";
import { inertLine } from "../inert-text.ts";
import { isLoopback } from "../loopback.ts";
import { enterDirectory } from "../open-session.ts";
import { agentOptions, gather, type RunFlags } from "../run-options.ts";
import { serveAgents } from "../serve-agents.ts";
import { stopOnSignals } from "../signals.ts";
import { say, type Terminal } from "../terminal.ts";

interface ServeFlags extends RunFlags {
  readonly port: string;
  readonly host: string;
  readonly allowHost: readonly string[];
  readonly expose?: boolean;
  readonly open?: boolean;
}

export function serveCommand(terminal: Terminal, finish: (code: number) => void): Command {
  const command = new Command("serve")
    .description("sessions in the browser, and over HTTP for programs")
    .option("--port <number>", "port to listen on, 0 for any free one", "4319")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--expose", "allow a host other than loopback: whoever has the token can run commands here")
    .option(
      "--allow-host <name:port>",
      "a further name under which browsers reach it; repeatable",
      gather,
      [] as readonly string[],
    )
    .option("--open", "open the page in the browser");
  return agentOptions(command, {
    model: "the model of new sessions, and of all others too",
    effort: EFFORTS.join(", "),
  })
    .option("--no-project-instructions", "do not read AGENTS.md")
    .option("--trust", "trust this project's .throughline/config.json as it is now")
    .option("-C, --directory <dir>", "work in this directory")
    .addHelpText(
      "after",
      `
Examples:
  throughline serve --open                 the page, in your browser
  throughline serve --port 0               on any free port; the link is the only line of stdout
  THROUGHLINE_TOKEN=… throughline serve    with a token of your own (openssl rand -hex 32)

Everything is described in docs/http-api.md.`,
    )
    .action(async (flags: ServeFlags) => finish(await serve(flags, terminal)));
}

async function serve(flags: ServeFlags, terminal: Terminal): Promise<number> {
  if (!isLoopback(flags.host) && flags.expose !== true) {
    throw codedError(
      "host_not_loopback",
      `--host ${flags.host} can be reached from other machines: whoever gets the token can read every session and run its tools as you, and what is sent can be read on the way. Add --expose if you mean it`,
    );
  }
  keepHeapSmall();
  enterDirectory(flags.directory);
  const store = fileStore(sessionsFolder());
  await assertReadable(store);
  const { agentFor, model, costOf } = await serveAgents(flags, terminal);
  const token = process.env["THROUGHLINE_TOKEN"];
  const page = pageFolder();
  const stopping = new AbortController();
  const ended = stopOnSignals(() => stopping.abort());
  const server = await startServer({
    store,
    agent: agentFor,
    host: flags.host,
    port: portFrom(flags.port),
    allowHosts: flags.allowHost,
    ...(token === undefined || token === "" ? {} : { token }),
    ...(page === undefined ? {} : { page }),
    info: { model, models: modelNames(model), cwd: process.cwd() },
    costOf,
    exportSession: sessionDownload(store),
    onProblem: (text) => say(terminal, text),
  });
  const link = server.newLink();
  terminal.stdout.write(`${link}\n`);
  terminal.stderr.write(welcome(server, flags, page !== undefined));
  const opened = flags.open === true ? openBrowser(link, terminal) : undefined;
  if (!stopping.signal.aborted) await once(stopping.signal, "abort");
  terminal.stderr.write(
    "stopping: turns under way are cancelled and kept; those that wait begin with the next start\n",
  );
  await server.close();
  await store.close();
  opened?.();
  ended();
  return EXIT.ok;
}

/**
 * It runs for days beside other work: garbage is collected when there is a third as much of it as there is to keep. Left
 * to itself the heap took three times what it held (166 MB for 45 under bench/load-sse.mjs).
 */
function keepHeapSmall(): void {
  setFlagsFromString("--heap-growing-percent=30");
}

/** Names to offer: the one in use, the emulator, and of every provider whose key is there the models with a known price. */
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

/** Beside the bundled command line, or in the repository's build. */
function pageFolder(): string | undefined {
  return ["../web", "../../web", "../../../../dist/web"]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((folder) => existsSync(join(folder, "index.html")));
}

function portFrom(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw codedError("number_invalid", `--port ${text}: use a whole number from 0 to 65535`);
}

function welcome({ url }: RunningServer, { host }: ServeFlags, hasPage: boolean): string {
  const open = isLoopback(host)
    ? ""
    : `\n  ${inertLine(host, 100)} can be reached from other machines, without encryption: use it behind a tunnel or a proxy with TLS.`;
  const page = hasPage ? "" : "\n  The page is not built (npm run build); the API answers all the same.";
  return `Throughline serves ${url}. The link above lets one browser in, once. Ctrl-C ends it.${open}${page}\n`;
}

/**
 * By a file only this user can read: arguments of a process can be read by every user of the machine, and the link's
 * code lets in whoever is first.
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
  child.on("error", () => say(terminal, `no browser could be opened (${command}): open the link yourself`));
  child.unref();
  return () => rmSync(folder, { recursive: true, force: true });
}
