/**
 * `throughline resume`: go on with a session, named or picked from a list, with the model and effort it had.
 */

import { Command } from "commander";

import { codedError } from "../../../base/support/index.ts";
import { fileStore } from "../../../runtime/log/index.ts";
import { sessionsFolder } from "../../config/index.ts";
import { runOrChat } from "../choose-front-end.ts";
import { resolveSession } from "../choose-session.ts";
import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import { enterDirectory } from "../open-session.ts";
import { type RunFlags, runOptions } from "../run-options.ts";
import { pickSession } from "../session-picker.ts";
import type { Terminal } from "../terminal.ts";

interface ResumeFlags extends RunFlags {
  readonly last?: boolean;
  readonly all?: boolean;
}

export function resumeCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command("resume")
    .description("go on with a session: a chat on a terminal, one answer elsewhere")
    .argument("[session]", "its id, a unique beginning of it, or its title; none: choose from a list")
    .argument("[prompt...]", "what to say; without it an interrupted turn is finished")
    .option("--last", "the last session of this directory; every word is then the prompt")
    .option("--all", "list the sessions of every directory")
    .option("-p, --print", "answer once and leave, also on a terminal")
    .addHelpText(
      "after",
      `
Examples:
  throughline resume                         choose from the sessions of this directory
  throughline resume "fix the build"         by title
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
  const store = fileStore(sessionsFolder());
  const cwd = process.cwd();
  const warn = (text: string): void => void terminal.stderr.write(`throughline: ${text}\n`);
  if (last === true) {
    const resumed = await resolveSession(store, { name: undefined, last }, cwd, warn);
    return runOrChat(name === undefined ? words : [name, ...words], { ...rest, resume: resumed }, terminal);
  }
  if (name === undefined && !terminal.interactive) {
    throw codedError(
      "session_not_chosen",
      "there is no terminal to choose on: give a session (throughline sessions lists them), or --last",
    );
  }
  const id =
    name === undefined
      ? await pickSession(store, all === true ? undefined : cwd, terminal)
      : await resolveSession(store, { name, last: false }, cwd, warn);
  if (id === undefined) return EXIT.ok;
  return runOrChat(words, { ...rest, resume: id }, terminal);
}
