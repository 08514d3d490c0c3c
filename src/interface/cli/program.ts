/**
 * The command tree. command-table.ts lists the commands; this file decides which word of a command line is a command,
 * and handles a line without one.
 */

import { Command } from "commander";

import { codedError, VERSION } from "../../base/support/index.ts";
import { runOrChat } from "./choose-front-end.ts";
import { asFlags, flagsBehind, meantCommand, type ScannedLine, scanLine } from "./command-line.ts";
import { COMMAND_NAMES, COMMANDS, type Finish } from "./command-table.ts";
import type { RunFlags } from "./open-session.ts";
import { runOptions } from "./run-options.ts";
import type { Terminal } from "./terminal.ts";
import { topHelp } from "./top-help.ts";
import { wrappedTerminal } from "./wrapped-output.ts";

const DESCRIPTION = "an agent whose reasoning is never lost and never breaks a request.";

export function createProgram(terminal: Terminal, finish: Finish): Command {
  const program = new Command("throughline")
    .description(DESCRIPTION)
    .version(VERSION, "-V, --version")
    .argument("[prompt...]")
    .helpCommand(false)
    .enablePositionalOptions()
    .passThroughOptions(false)
    .configureHelp({ formatHelp: () => topHelp(DESCRIPTION) });
  return runOptions(program)
    .option("-p, --print", "answer once and exit, even on a terminal")
    .action(async (words: readonly string[], flags: RunFlags) =>
      finish(await runOrChat(words, flags, terminal)),
    );
}

/**
 * Adds the command that the line names and returns the line to parse. `--version`, the top-level help and prompts load
 * no command. Rejects a mistyped command.
 */
export async function addNamedCommand(
  program: Command,
  args: readonly string[],
  terminal: Terminal,
  finish: Finish,
): Promise<readonly string[]> {
  const line = scanLine(
    args,
    program.options.map((option) => ({
      short: option.short ?? undefined,
      long: option.long ?? undefined,
      takesValue: option.required,
    })),
  );
  const flags = asFlags(line, COMMAND_NAMES);
  const [first] = flags ?? line.words;
  if (first === undefined || line.print) return args;
  if (!Object.hasOwn(COMMANDS, first)) {
    if (flags === undefined) refuseMistyped(line);
    return flags ?? args;
  }
  await addCommand(program, first, terminal, finish);
  return flags ?? flagsBehind(args, line);
}

/** Adds the whole tree, for shell completion and the document tests. */
export async function addAllCommands(program: Command, terminal: Terminal, finish: Finish): Promise<void> {
  for (const name of Object.keys(COMMANDS)) await addCommand(program, name, terminal, finish);
}

/** Commands whose output is not wrapped: they stream an answer, draw their own screen, or write for a program. */
const AS_IT_IS: ReadonlySet<string> = new Set(["run", "start", "resume", "retry", "edit", "completion"]);

async function addCommand(program: Command, name: string, terminal: Terminal, finish: Finish): Promise<void> {
  const command = await COMMANDS[name]?.(AS_IT_IS.has(name) ? terminal : wrappedTerminal(terminal), finish);
  if (command !== undefined) program.addCommand(withHelpFlag(command));
}

function withHelpFlag(command: Command): Command {
  for (const inner of command.commands) withHelpFlag(inner);
  return command.helpOption("-h, --help", "show this help");
}

function refuseMistyped(line: ScannedLine): void {
  const mistyped = meantCommand(line, COMMAND_NAMES);
  if (mistyped === undefined) return;
  const { typed, meant } = mistyped;
  throw codedError(
    "command_unknown",
    `unknown command ${typed}; did you mean ${meant}? To send it as a prompt: throughline -p "${line.words.join(" ")}"`,
  );
}
