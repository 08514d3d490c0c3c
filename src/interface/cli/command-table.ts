/**
 * Every command by name: how it is loaded, and the line of the top help that tells it. A command is loaded when it is
 * called, so that `--version` costs little.
 */

import type { Command } from "commander";

import type { CommandNames } from "./command-line.ts";
import type { Terminal } from "./terminal.ts";

export interface Finish {
  (code: number): void;
}

export type LoadCommand = (terminal: Terminal, finish: Finish) => Promise<Command>;

/** What a module of commands gives away under this name. */
function from<Name extends string>(
  load: () => Promise<Readonly<Record<Name, (terminal: Terminal, finish: Finish) => Command>>>,
  name: Name,
): LoadCommand {
  return async (terminal, finish) => (await load())[name](terminal, finish);
}

const loadRun = () => import("./commands/run.ts");
const loadHistory = () => import("./commands/history.ts");

/** In the order of the documents. */
export const COMMANDS: Readonly<Record<string, LoadCommand>> = {
  run: from(loadRun, "runOnceCommand"),
  start: from(loadRun, "startCommand"),
  resume: from(() => import("./commands/resume.ts"), "resumeCommand"),
  sessions: from(() => import("./commands/sessions.ts"), "sessionsCommand"),
  inspect: from(() => import("./commands/inspect.ts"), "inspectCommand"),
  fork: from(loadHistory, "forkCommand"),
  retry: from(loadHistory, "retryCommand"),
  edit: from(loadHistory, "editCommand"),
  undo: from(loadHistory, "undoCommand"),
  tree: from(() => import("./commands/tree.ts"), "treeCommand"),
  compact: from(() => import("./commands/compact.ts"), "compactCommand"),
  stats: from(() => import("./commands/stats.ts"), "statsCommand"),
  check: from(() => import("./commands/check.ts"), "checkCommand"),
  repair: from(() => import("./commands/repair.ts"), "repairCommand"),
  eval: from(() => import("./commands/eval.ts"), "evalCommand"),
  serve: from(() => import("./commands/serve.ts"), "serveCommand"),
  emulator: async () => (await import("./commands/emulator.ts")).emulatorCommand(),
  conform: async (terminal, finish) => {
    const { conformCommand, conformIo } = await import("./commands/conform.ts");
    return conformCommand(conformIo(terminal, finish));
  },
  models: from(() => import("./commands/models.ts"), "modelsCommand"),
  config: from(() => import("./commands/config.ts"), "configCommand"),
  doctor: from(() => import("./commands/doctor.ts"), "doctorCommand"),
  completion: from(() => import("./commands/completion.ts"), "completionCommand"),
};

/** The commands inside of a command, known without loading it; a test holds that they are the ones it has. */
const INNER: Readonly<Record<string, readonly string[]>> = {
  sessions: ["list", "show", "search", "rename", "rm", "path", "export", "import", "erase"],
  config: ["list", "get", "set", "unset", "path", "schema", "trust"],
};

export const COMMAND_NAMES: CommandNames = Object.fromEntries(
  Object.keys(COMMANDS).map((name) => [name, INNER[name] ?? []]),
);

/** A line of the top help; several small commands may share one. */
export interface HelpLine {
  readonly group: "Work" | "Sessions" | "Correctness" | "Servers" | "Set-up";
  readonly names: readonly string[];
  readonly about: string;
}

/** A test holds that every command stands here once and that the whole help stays under 40 lines. */
export const HELP_LINES: readonly HelpLine[] = [
  { group: "Work", names: ["run"], about: "one answer; all flags: throughline run --help" },
  { group: "Work", names: ["start"], about: "the first minute: chat, or a demo without a terminal" },
  { group: "Work", names: ["resume"], about: "go on with a session, picked from a list or named" },
  { group: "Work", names: ["retry", "edit", "undo", "fork"], about: "go back without rewriting" },
  { group: "Work", names: ["tree", "compact"], about: "branches; a summary of the front" },
  { group: "Sessions", names: ["sessions"], about: "list, show, search, export, import, erase …" },
  { group: "Sessions", names: ["inspect"], about: "what a session sent, and why" },
  { group: "Sessions", names: ["stats"], about: "tokens, cost, tools, errors, per day and model" },
  { group: "Correctness", names: ["check"], about: "lint a history" },
  { group: "Correctness", names: ["repair"], about: "a copy of a broken history that is accepted again" },
  { group: "Correctness", names: ["conform"], about: "which rules and shapes a Responses server holds" },
  { group: "Correctness", names: ["eval"], about: "run scenarios against models" },
  { group: "Servers", names: ["serve"], about: "sessions in the browser and over HTTP" },
  { group: "Servers", names: ["emulator"], about: "a strict provider API on this machine, no key" },
  { group: "Set-up", names: ["models", "config"], about: "what can be asked, and the settings in force" },
  { group: "Set-up", names: ["doctor", "completion"], about: "what is wrong; scripts for bash, zsh, fish" },
];
