/** `throughline resume`: continues a session, named or picked from a list, with the model and effort it last used. */

import { Command } from "commander";

import { codedError } from "../../../base/support/index.ts";
import { runOrChat } from "../choose-front-end.ts";
import { resolveSession } from "../choose-session.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { enterDirectory } from "../open-session.ts";
import { openStore } from "../open-store.ts";
import { type RunFlags, runOptions } from "../run-options.ts";
import { pickSession } from "../session-picker.ts";
import type { Terminal } from "../terminal.ts";

interface ResumeFlags extends RunFlags {
  readonly last?: boolean;
  readonly all?: boolean;
}

export function resumeCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command("resume")
    .description("Continue a session: as a chat on a terminal, with one answer elsewhere")
    .argument(
      "[session]",
      "the session's id, a unique prefix of it, or its title; omit it to pick from a list",
    )
    .argument("[prompt...]", "the next message; omit it to finish an interrupted turn")
    .option("--last", "use the last session of this directory; all arguments are then the prompt")
    .option("--all", "list the sessions of every directory")
    .option("-p, --print", "answer once and exit, even on a terminal")
    .addHelpText(
      "after",
      `
Examples:
  throughline resume                         pick from the sessions of this directory
  throughline resume "fix the build"         continue the session with this title
  throughline resume --last -p "and now?" </dev/null`,
    );
  return runOptions(command, { choosesSession: false }).action(
    async (name: string | undefined, words: readonly string[], flags: ResumeFlags) => {
      finish(await resume(name, words, flags, terminal));
    },
  );
}

async function resume(
  name: string | undefined,
  words: readonly string[],
  flags: ResumeFlags,
  terminal: Terminal,
): Promise<number> {
  enterDirectory(flags.directory);
  const { directory: _entered, last, all, ...rest } = flags;
  const store = await openStore(flags);
  const cwd = process.cwd();
  const warn = (text: string): void => void terminal.stderr.write(`throughline: ${text}\n`);
  if (last === true) {
    const resumed = await resolveSession(store, { name: undefined, last }, cwd, warn);
    return runOrChat(name === undefined ? words : [name, ...words], { ...rest, resume: resumed }, terminal);
  }
  if (name === undefined && !terminal.interactive) {
    throw codedError(
      "session_not_chosen",
      "there is no terminal to pick a session on: name one (throughline sessions lists them) or use --last",
    );
  }
  const id =
    name === undefined
      ? await pickSession(store, all === true ? undefined : cwd, terminal)
      : await resolveSession(store, { name, last: false }, cwd, warn);
  if (id === undefined) return EXIT.ok;
  return runOrChat(words, { ...rest, resume: id }, terminal);
}
