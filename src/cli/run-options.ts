/**
 * The flags of every command that runs a turn.
 *
 * @module
 */

import { type Command, Option } from "commander";

export function runOptions(
  command: Command,
  options: { readonly choosesSession: boolean } = { choosesSession: true },
): Command {
  if (options.choosesSession) {
    command
      .addOption(
        new Option("-c, --continue", "go on with the last session of this directory").conflicts("resume"),
      )
      .option("-r, --resume <id>", "go on with a session, by its id or a unique beginning of it");
  }
  return command
    .option(
      "-m, --model <provider/model[:effort]>",
      "for example openai/gpt-5.6:high or emulator/emu-reasoner",
    )
    .option("--effort <level>", "off, minimal, low, medium, high, xhigh, max")
    .option("--system <text>", "instructions for the model")
    .option("--tools <file>", "a JavaScript module that exports tools")
    .option("--allow-tools <names>", "only these tools, separated by commas")
    .addOption(new Option("--permissions <mode>", "ask, auto, read-only or deny").default("ask"))
    .option("--max-steps <n>", "at most n requests in a turn")
    .option("--json", "one JSON event a line on stdout")
    .option("-C, --directory <dir>", "work in this directory");
}
