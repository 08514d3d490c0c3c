/**
 * The command tree. Commands stand in command-table.ts; here is what a command line without one means, and which word
 * of it is a command.
 */

import { Command } from "commander";

import { codedError } from "../../base/support/index.ts";
import { runOrChat } from "./choose-front-end.ts";
import { asFlags, flagsBehind, meantCommand, type ScannedLine, scanLine } from "./command-line.ts";
import { COMMAND_NAMES, COMMANDS, type Finish } from "./command-table.ts";
import type { RunFlags } from "./open-session.ts";
import { runOptions } from "./run-options.ts";
import type { Terminal } from "./terminal.ts";
import { topHelp } from "./top-help.ts";
import { VERSION } from "./version.ts";
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
    .option("-p, --print", "answer once and leave, also on a terminal")
    .action(async (words: readonly string[], flags: RunFlags) =>
      finish(await runOrChat(words, flags, terminal)),
    );
}

/**
 * Adds the command that is named, and gives the line to parse; `--version`, the top help and prompts load none. A
 * mistyped one is refused.
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

/** For what needs the whole tree: completion, documents. */
export async function addAllCommands(program: Command, terminal: Terminal, finish: Finish): Promise<void> {
  for (const name of Object.keys(COMMANDS)) await addCommand(program, name, terminal, finish);
}

/** What they write is an answer as it comes, has a screen of its own, or is for a program. */
const AS_IT_IS: ReadonlySet<string> = new Set(["run", "start", "resume", "retry", "edit", "completion"]);

async function addCommand(program: Command, name: string, terminal: Terminal, finish: Finish): Promise<void> {
  const command = await COMMANDS[name]?.(AS_IT_IS.has(name) ? terminal : wrappedTerminal(terminal), finish);
  if (command !== undefined) program.addCommand(command);
}

function refuseMistyped(line: ScannedLine): void {
  const mistyped = meantCommand(line, COMMAND_NAMES);
  if (mistyped === undefined) return;
  const { typed, meant } = mistyped;
  throw codedError(
    "command_unknown",
    `there is no command ${typed}; did you mean ${meant}? To ask the model: throughline -p "${line.words.join(" ")}"`,
  );
}
