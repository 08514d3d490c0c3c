/**
 * Runs a command whose requests go through a proxy of its own, which ends with it. The command has the terminal: nothing of
 * ours goes to stdout, and on a terminal nothing is written while it runs.
 */

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { setImmediate } from "node:timers/promises";

import { bracketed } from "../../../access/gate/index.ts";
import { codedError, codeOf, messageOf } from "../../../base/support/index.ts";
import { type ExchangeLine, type RunningProxy, startProxy } from "../../../proxy/relay/index.ts";
import { amount } from "../amount.ts";
import { inertLine } from "../inert-text.ts";
import { say, type Terminal } from "../terminal.ts";
import { whenUnread } from "../unread-output.ts";
import type { ProxySettings } from "./proxy-settings.ts";
import { tellExchange } from "./run-proxy.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function runWithCommand(
  settings: ProxySettings,
  words: readonly string[],
  quiet: boolean,
  terminal: Terminal,
): Promise<number> {
  const [command = "", ...args] = words;
  if (command === "")
    throw codedError("usage", "there is no command behind --: write throughline proxy -- COMMAND ARGUMENTS");
  const tally = new Tally();
  const late: string[] = [];
  const onTerminal = terminal.stderr.isTTY === true;
  const tells = !quiet && !onTerminal;
  let started = false;
  let code: number | undefined;
  whenUnread(() => undefined);
  for (const note of settings.notes) say(terminal, note);
  const proxy = await startProxy({
    ...settings.options,
    onExchange: (line) => {
      tally.add(line);
      if (tells) tellExchange(line, terminal);
    },
    onProblem: (message) => {
      if (onTerminal && started) late.push(message);
      else say(terminal, message);
    },
  });
  try {
    started = true;
    code = await ended(command, args, { ...process.env, ...addressesFor(proxy, settings) });
    return code;
  } finally {
    await proxy.close();
    await setImmediate(); // the last exchange may be told in this round
    for (const message of late) say(terminal, message);
    if (code !== undefined) terminal.stderr.write(`${tally.text()}\n`);
  }
}

/** Resolves with its exit code, in the way of shells: 128 and the number of the signal that killed it. */
function ended(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "inherit", env });
    // The terminal sends Ctrl-C to the command as well; a second one would mean something else to it.
    const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
    const forward = (signal: NodeJS.Signals): void => {
      if (signal !== "SIGINT" || !hasTerminal) child.kill(signal);
    };
    for (const signal of FORWARDED) process.on(signal, forward);
    const done = (): void => {
      for (const signal of FORWARDED) process.off(signal, forward);
    };
    child.on("error", (error) => {
      done();
      reject(notStarted(command, error));
    });
    child.on("exit", (code, signal) => {
      done();
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

function notStarted(command: string, error: unknown): Error {
  const name = inertLine(command, 200);
  const code = codeOf(error);
  const why =
    code === "ENOENT"
      ? `there is no program ${name}. Check its name, or give its whole path`
      : code === "EACCES"
        ? `${name} may not be run. Check that it is a program and that you may run it`
        : `${name}: ${messageOf(error)}`;
  return codedError("command_failed", `the command was not started: ${why}`, error);
}

/** The variables that lead the command's requests here. */
export function addressesFor(
  { url, port }: Pick<RunningProxy, "url" | "port">,
  { options: { host = "127.0.0.1", to, token }, variables }: ProxySettings,
): Readonly<Record<string, string>> {
  const { protocol } = new URL(url);
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const base = `${protocol}//${bracketed(name)}:${port}${token === undefined ? "" : `/t/${token}`}`;
  return Object.fromEntries(
    variables.map(({ variable, route, path, dialect }) => {
      if (to === undefined) return [variable, `${base}/${route}${path}`];
      return [variable, `${base}${dialect === "anthropic-messages" || hasVersion(to) ? "" : "/v1"}`];
    }),
  );
}

/** Some providers have their own version at the end of their address. */
function hasVersion(to: string): boolean {
  return /\/v\d+\w*\/?$/.test(to.split(",")[0] ?? "");
}

class Tally {
  #requests = 0;
  #putBack = 0;
  #healed = 0;

  add({ restored, outcome, refusals }: ExchangeLine): void {
    this.#requests += 1;
    this.#putBack += restored;
    if (outcome === "healed") this.#healed += refusals.length;
  }

  text(): string {
    return `${amount(this.#requests, "request")}; ${amount(this.#putBack, "thought")} put back; ${amount(this.#healed, "refusal")} healed`;
  }
}
