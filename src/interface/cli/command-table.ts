/**
 * Every command by name: how to load it, and its line of the top-level help. A command is loaded only when called, so
 * that `--version` stays fast.
 */

import type { Command } from "commander";

import type { CommandNames } from "./command-line.ts";
import type { Terminal } from "./terminal.ts";

export interface Finish {
  (code: number): void;
}

export type LoadCommand = (terminal: Terminal, finish: Finish) => Promise<Command>;

/** Loads a module and creates the command it exports under this name. */
function from<Name extends string>(
  load: () => Promise<Readonly<Record<Name, (terminal: Terminal, finish: Finish) => Command>>>,
  name: Name,
): LoadCommand {
  return async (terminal, finish) => (await load())[name](terminal, finish);
}

const loadRun = () => import("./commands/run.ts");
const loadHistory = () => import("./commands/history.ts");

/** In the order of docs/cli.md. */
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
  health: from(() => import("./commands/health.ts"), "healthCommand"),
  proxy: from(() => import("./commands/proxy.ts"), "proxyCommand"),
  migrate: from(() => import("./commands/migrate.ts"), "migrateCommand"),
  store: from(() => import("./commands/store.ts"), "storeCommand"),
  tokens: from(() => import("./commands/tokens.ts"), "tokensCommand"),
  emulator: async () => (await import("./commands/emulator.ts")).emulatorCommand(),
  conform: async (terminal, finish) => {
    const { conformCommand, conformIo } = await import("./commands/conform.ts");
    return conformCommand(conformIo(terminal, finish));
  },
  models: from(() => import("./commands/models.ts"), "modelsCommand"),
  config: from(() => import("./commands/config.ts"), "configCommand"),
  mcp: from(() => import("./commands/mcp.ts"), "mcpCommand"),
  doctor: from(() => import("./commands/doctor.ts"), "doctorCommand"),
  completion: from(() => import("./commands/completion.ts"), "completionCommand"),
};

/** The subcommands of each command, known without loading it. A test compares them with the real ones. */
const INNER: Readonly<Record<string, readonly string[]>> = {
  sessions: ["list", "show", "search", "rename", "rm", "path", "export", "import", "erase", "copy"],
  proxy: ["log", "show", "stats", "erase", "doctor"],
  mcp: ["list", "add", "rm", "test", "login", "logout"],
  store: ["status", "verify", "prune", "restored"],
  tokens: ["add", "list", "rm"],
  config: ["list", "get", "set", "unset", "path", "schema", "trust"],
};

export const COMMAND_NAMES: CommandNames = Object.fromEntries(
  Object.keys(COMMANDS).map((name) => [name, INNER[name] ?? []]),
);

/** A line of the top-level help. Several small commands may share one. */
export interface HelpLine {
  readonly group: "Work" | "Sessions" | "Correctness" | "Servers" | "Setup";
  readonly names: readonly string[];
  readonly about: string;
}

/** A test checks that every command appears once and that the whole help stays under 40 lines. */
export const HELP_LINES: readonly HelpLine[] = [
  { group: "Work", names: ["run"], about: "Answer one prompt and exit" },
  { group: "Work", names: ["start"], about: "Start a chat, or play a demo if there is no terminal" },
  { group: "Work", names: ["resume"], about: "Continue a session, by name or picked from a list" },
  {
    group: "Work",
    names: ["retry", "edit", "undo", "fork"],
    about: "Go back and branch off, keeping the history",
  },
  { group: "Work", names: ["tree", "compact"], about: "Show and switch branches; summarise older turns" },
  { group: "Sessions", names: ["sessions"], about: "List, show, search, export, import and copy sessions" },
  {
    group: "Sessions",
    names: ["inspect", "stats"],
    about: "Show what a session sent, and why; tokens and cost per day",
  },
  { group: "Correctness", names: ["check"], about: "Find what a provider would reject in a history" },
  { group: "Correctness", names: ["repair"], about: "Repair a broken history so that providers accept it" },
  {
    group: "Correctness",
    names: ["conform", "eval"],
    about: "Test which API rules a server follows; run scenarios against models",
  },
  {
    group: "Servers",
    names: ["serve", "health"],
    about: "Serve sessions to the browser and over HTTP; ask whether that works",
  },
  {
    group: "Servers",
    names: ["proxy"],
    about: "Put back the reasoning that any other client loses on its way",
  },
  {
    group: "Servers",
    names: ["migrate", "store", "tokens"],
    about: "Set up and look after a PostgreSQL store; who may use it",
  },
  {
    group: "Servers",
    names: ["emulator"],
    about: "Run a strict provider API on this machine, without a key",
  },
  {
    group: "Setup",
    names: ["models", "config", "mcp"],
    about: "List models; show and change settings; add and test MCP servers",
  },
  {
    group: "Setup",
    names: ["doctor", "completion"],
    about: "Diagnose your setup; print a shell completion script",
  },
];
