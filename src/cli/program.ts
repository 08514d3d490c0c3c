/**
 * The command tree. Every command is loaded when it is called, so that `--version` costs little.
 *
 * @module
 */

import { Command } from "commander";

import type { RunFlags } from "./open-session.ts";
import { runOptions } from "./run-options.ts";
import type { Terminal } from "./terminal.ts";
import { VERSION } from "./version.ts";

const EXAMPLES = `
Examples:
  throughline                              chat (no key: on the built-in emulator)
  throughline -p "summarise README.md"     one answer on stdout, progress on stderr
  git diff | throughline -p "review this"  standard input is appended to the prompt
  throughline -c "and now the tests"       go on with the last session of this directory
  throughline inspect --last               what was sent, and why
Environment: OPENAI_API_KEY, OPENAI_BASE_URL, THROUGHLINE_MODEL, THROUGHLINE_HOME, NO_COLOR, FORCE_COLOR
Exit codes: 0 done, 1 turn failed, 2 usage, 3 permission needed, 4 limit reached, 5 server or history differs,
  130 interrupted, 143 terminated`;

export interface Finish {
  (code: number): void;
}

export function createProgram(terminal: Terminal, finish: Finish): Command {
  const program = new Command("throughline")
    .description("An agent whose reasoning is never lost and never breaks a request.")
    .version(VERSION, "-V, --version")
    .argument("[prompt...]")
    .helpCommand(false)
    .enablePositionalOptions()
    .passThroughOptions(false)
    .addHelpText("after", EXAMPLES);
  runOptions(program)
    .option("-p, --print", "answer once and leave, also on a terminal")
    .action(async (words: readonly string[], flags: RunFlags) =>
      finish(await runOrChat(words, flags, terminal)),
    );

  const run = program
    .command("run")
    .description("answer once and leave")
    .argument("[prompt...]", "what to ask");
  runOptions(run).action(async (words: readonly string[], flags: RunFlags) =>
    finish(await runOrChat(words, { ...flags, print: true }, terminal)),
  );

  const start = program
    .command("start")
    .description("a chat on a terminal, elsewhere a demo on the emulator")
    .argument("[prompt...]", "what to ask");
  runOptions(start).action(async (words: readonly string[], flags: RunFlags) => {
    const { demo, weatherTool } = await import("./demo.ts");
    if (!terminal.interactive) finish(await demo(terminal));
    else finish(await (await import("./chat.ts")).chat(words, flags, terminal, { tools: [weatherTool] }));
  });
  return program;
}

type LoadCommand = (terminal: Terminal, finish: Finish) => Promise<Command>;

/** Commands with a file of their own. Order is that of the help. */
const COMMANDS: Readonly<Record<string, LoadCommand>> = {
  sessions: async (terminal, finish) =>
    (await import("./commands/sessions.ts")).sessionsCommand(terminal, finish),
  inspect: async (terminal, finish) =>
    (await import("./commands/inspect.ts")).inspectCommand(terminal, finish),
  fork: async (terminal, finish) => (await import("./commands/history.ts")).forkCommand(terminal, finish),
  retry: async (terminal, finish) => (await import("./commands/history.ts")).retryCommand(terminal, finish),
  edit: async (terminal, finish) => (await import("./commands/history.ts")).editCommand(terminal, finish),
  undo: async (terminal, finish) => (await import("./commands/history.ts")).undoCommand(terminal, finish),
  check: async (terminal, finish) => (await import("./commands/check.ts")).checkCommand(terminal, finish),
  emulator: async () => (await import("./commands/emulator.ts")).emulatorCommand(),
  conform: async (terminal, finish) => {
    const { conformCommand, conformIo } = await import("./commands/conform.ts");
    return conformCommand(conformIo(terminal, finish));
  },
};

/** Loads the command that is named, or all of them for the help that lists them; `--version` and prompts load none. */
export async function addCommands(
  program: Command,
  words: readonly string[],
  terminal: Terminal,
  finish: Finish,
): Promise<void> {
  const help = words.includes("-h") || words.includes("--help");
  const named = Object.keys(COMMANDS).filter((name) => words.includes(name));
  for (const name of help && named.length === 0 ? Object.keys(COMMANDS) : named) {
    const command = await COMMANDS[name]?.(terminal, finish);
    if (command !== undefined) program.addCommand(command);
  }
}

async function runOrChat(words: readonly string[], flags: RunFlags, terminal: Terminal): Promise<number> {
  if (terminal.interactive && flags.print !== true && flags.json !== true) {
    return (await import("./chat.ts")).chat(words, flags, terminal);
  }
  return (await import("./run-once.ts")).runOnce(words, flags, terminal);
}
