/** `throughline health`: asks a server whether it can work, for the health check of a container. */

import { Command } from "commander";

import { codedError, isObject, tryParseJson } from "../../../base/support/index.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { inertLine } from "../inert-text.ts";
import type { Terminal } from "../terminal.ts";

interface HealthFlags {
  readonly url: string;
}

const LOCAL = "http://127.0.0.1:4319";
const ANSWER_MS = 5000;

export function healthCommand(terminal: Terminal, finish: Finish): Command {
  return new Command("health")
    .description("Ask a server whether it can work; exit with code 1 if it cannot")
    .option("--url <url>", "the address of the server", LOCAL)
    .addHelpText(
      "after",
      `
Examples:
  throughline health                              ask the server on this machine, without a token
  HEALTHCHECK CMD ["throughline", "health"]       in the file of a container`,
    )
    .action(async (flags: HealthFlags) => finish(await health(flags, terminal)));
}

async function health({ url }: HealthFlags, terminal: Terminal): Promise<number> {
  const why = await problemOf(addressFrom(url));
  if (why === undefined) {
    terminal.stdout.write("ready\n");
    return EXIT.ok;
  }
  terminal.stderr.write(`not ready: ${why}\n`);
  return EXIT.turnFailed;
}

function addressFrom(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  if (isWeb && url.username === "" && url.password === "") return new URL("/readyz", url);
  throw codedError("server_url_invalid", `--url is not the address of a server: use ${LOCAL}, for example`);
}

async function problemOf(address: URL): Promise<string | undefined> {
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(address, { redirect: "error", signal: AbortSignal.timeout(ANSWER_MS) });
    text = await answer.text();
  } catch {
    return `no server answers at ${inertLine(address.origin, 200)}`;
  }
  const body = tryParseJson(text.slice(0, 1000));
  if (answer.ok && isObject(body) && body["ok"] === true) return undefined;
  const word = isObject(body) && typeof body["why"] === "string" ? body["why"] : undefined;
  if (word === undefined) return `${inertLine(address.origin, 200)} is no throughline server`;
  return `${REASONS[word] ?? inertLine(word, 40)} (${inertLine(word, 40)})`;
}

const REASONS: Readonly<Record<string, string>> = {
  store: "its database does not answer",
  version: "the tables of its database are too old or too new",
  lease: "it has no lease at the moment",
  draining: "it is stopping",
  busy: "its event loop is late",
};
