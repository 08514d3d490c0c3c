/**
 * `throughline proxy`: stands between any client and its provider, puts back the reasoning that the client lost, and heals
 * requests that the provider refuses for their history.
 */

import { Command, Option } from "commander";

import { codedError, didYouMean } from "../../../base/support/index.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { inertLine } from "../inert-text.ts";
import { type EraseFlags, eraseExchanges } from "../proxy/erase-exchanges.ts";
import { type DoctorFlags, proxyDoctor } from "../proxy/proxy-doctor.ts";
import { type ProxyFlags, proxySettings } from "../proxy/proxy-settings.ts";
import { runProxy } from "../proxy/run-proxy.ts";
import { runWithCommand } from "../proxy/run-with-command.ts";
import { type ShowFlags, showExchange } from "../proxy/show-exchange.ts";
import { type LogFlags, showLog } from "../proxy/show-log.ts";
import { type StatsFlags, showStats } from "../proxy/show-stats.ts";
import { gather } from "../run-options.ts";
import type { Terminal } from "../terminal.ts";

/** What follows `--` is another program's command line, even if it begins with the name of a subcommand. */
class ProxyCommand extends Command {
  /** Undefined without a `--`. */
  behind: readonly string[] | undefined;

  override parseOptions(args: string[]): ReturnType<Command["parseOptions"]> {
    const end = args.indexOf("--");
    if (end === -1) return super.parseOptions(args);
    this.behind = args.slice(end + 1);
    return super.parseOptions(args.slice(0, end));
  }
}

const LEDGER = ["--ledger <folder>", "the folder of the ledger"] as const;

export function proxyCommand(terminal: Terminal, finish: Finish): Command {
  const proxy = takesFlags(new ProxyCommand("proxy"));
  proxy
    .description(
      "Stand between any client and its provider: put back the reasoning it loses, heal refused requests",
    )
    .usage("[options] [command] [-- COMMAND ARGS...]")
    .helpCommand("help [command]", "Show the help of a command")
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage()}` })
    .enablePositionalOptions()
    .addHelpText("after", HELP)
    .action(async (flags: ProxyFlags) => finish(await run(proxy, flags, terminal)));
  addCommands(proxy, terminal, finish);
  // After the others, which would inherit it.
  proxy.allowExcessArguments().hook("preSubcommand", (_, inner) => refuseOuterFlags(proxy, inner));
  return proxy;
}

const HELP = `
Write http://127.0.0.1:4321/NAME in place of https://HOST; the rest of the address stays:
  OPENAI_BASE_URL=http://127.0.0.1:4321/openai/v1
  ANTHROPIC_BASE_URL=http://127.0.0.1:4321/anthropic

Examples:
  throughline proxy                                all known providers, by name
  throughline proxy --to https://api.openai.com    one provider, without a name
  throughline proxy -- codex "fix the build"       run a command through a proxy of its own
  throughline proxy log --follow
  throughline proxy stats`;

function takesFlags(command: ProxyCommand): ProxyCommand {
  command
    .option("--port <number>", "listen on this port; 0 picks a free one", "4321")
    .option("--host <address>", "listen on this address", "127.0.0.1")
    .option("--expose", "allow a host other than loopback; it needs a token")
    .addOption(repeatable("--allow-host <name:port>", "also answer under this name"))
    .addOption(repeatable("--allow-origin <origin>", "let web pages of this address use it"))
    .option("--token-file <file>", "a file with the token that clients must send")
    .option("--tls-cert <file>", "speak TLS with this certificate (PEM)")
    .option("--tls-key <file>", "the key of the certificate (PEM)")
    .option("--to <url>", "one upstream, at the root: URL[,profile=NAME]")
    .addOption(repeatable("--route <name=url>", "add an upstream: NAME=URL[,profile=NAME]"))
    .addOption(new Option("--observe", "change nothing; say what was lost").conflicts("strict"))
    .addOption(
      new Option("--strict", "refuse requests that lost something or break a rule").conflicts("observe"),
    )
    .option(...LEDGER)
    .option("--days <n>", "forget what nobody used for so many days (default: 90)")
    .option("--max-bytes <size>", "the size of the ledger (default: 4GiB)")
    .option("--no-headers", "add no x-throughline headers to answers")
    .option("--quiet", "do not log requests");
  return command;
}

function repeatable(flags: string, about: string): Option {
  return new Option(flags, `${about}; repeatable`).argParser(gather).default([] as readonly string[], "none");
}

async function run(proxy: ProxyCommand, flags: ProxyFlags, terminal: Terminal): Promise<number> {
  const [surplus] = proxy.args;
  if (surplus !== undefined) throw unknownCommand(surplus, proxy);
  const quiet = flags.quiet === true;
  if (proxy.behind === undefined) return runProxy(proxySettings(flags), quiet, terminal);
  const usual = proxy.getOptionValueSource("port") === "default";
  return runWithCommand(proxySettings(flags, usual ? 0 : undefined), proxy.behind, quiet, terminal);
}

function unknownCommand(word: string, { commands }: Command): Error {
  const names = commands.map((one) => one.name());
  const shown = inertLine(word, 60);
  return codedError(
    "usage",
    `unknown command ${shown}; throughline proxy has ${names.join(", ")}${didYouMean(word, names)}. To run a program: throughline proxy -- ${shown}`.replace(
      "?.",
      "?",
    ),
  );
}

/** `proxy --ledger X log` would silently read another ledger. */
function refuseOuterFlags(proxy: ProxyCommand, inner: Command): void {
  const given = proxy.options.find((option) => proxy.getOptionValueSource(option.attributeName()) === "cli");
  if (given !== undefined)
    throw codedError(
      "usage",
      `${given.long ?? ""} stands before ${inner.name()}: write throughline proxy ${inner.name()} and then its own flags (see throughline proxy ${inner.name()} --help)`,
    );
  if (proxy.behind !== undefined)
    throw codedError(
      "usage",
      `throughline proxy ${inner.name()} runs no command. To run a program named ${inner.name()}: throughline proxy -- ${inner.name()}`,
    );
}

function addCommands(proxy: Command, terminal: Terminal, finish: Finish): void {
  proxy
    .command("log")
    .description("List exchanges: when, route, model, status, what was put back and healed")
    .option("--follow", "go on with new ones until Ctrl-C")
    .option("--json", "print one JSON object per line")
    .option("--limit <n>", "list at most the last n exchanges", "20")
    .option(...LEDGER)
    .action(async (flags: LogFlags) => finish(await showLog(flags, terminal)));
  proxy
    .command("show")
    .description("Show one exchange: every decision and its reason, refusals and repairs")
    .argument("<id>", "the id of an exchange, or a unique prefix of it")
    .option("--json", "print one JSON object")
    .option(...LEDGER)
    .action((id: string, flags: ShowFlags) => {
      showExchange(id, flags, terminal);
      finish(EXIT.ok);
    });
  proxy
    .command("stats")
    .description("Show how much reasoning clients lost, how much went back, and what was healed")
    .option("--json", "print one JSON object")
    .option(...LEDGER)
    .action((flags: StatsFlags) => {
      showStats(flags, terminal);
      finish(EXIT.ok);
    });
  proxy
    .command("erase")
    .description("Erase exchanges with the reasoning that was issued in them")
    .addOption(new Option("--before <date>", "everything before this date").conflicts(othersThan("before")))
    .addOption(
      new Option("--account <fingerprint>", "everything of this account; show names it").conflicts(
        othersThan("account"),
      ),
    )
    .addOption(
      new Option("--exchange <id>", "one exchange, by its id or a unique prefix of it").conflicts(
        othersThan("exchange"),
      ),
    )
    .addOption(new Option("--all", "everything").conflicts(othersThan("all")))
    .option("--yes", "erase; without this flag, ask, or only show what would be erased")
    .option(...LEDGER)
    .action(async (flags: EraseFlags) => finish(await eraseExchanges(flags, terminal)));
  proxy
    .command("doctor")
    .description("Check routes, folder, ledger and clock for problems; exit with code 1 if there is one")
    .option("--offline", "do not contact any upstream")
    .option("--json", "print one JSON object")
    .option(...LEDGER)
    .action(async (flags: DoctorFlags) => finish(await proxyDoctor(flags, terminal)));
}

function othersThan(own: string): string[] {
  return ["before", "account", "exchange", "all"].filter((name) => name !== own);
}
