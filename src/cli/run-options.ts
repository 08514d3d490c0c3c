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
      .option("-r, --resume <id>", "go on with a session, by its id or a unique beginning of it")
      .addOption(
        new Option(
          "--playback <file>",
          "a recorded run once more: no key, nothing sent, no tool run",
        ).conflicts(["continue", "resume", "model", "effort", "tools", "trace", "record"]),
      )
      .option("--fast", "with --playback: without its waits")
      .option("--strict", "with --playback: a difference ends it with exit code 5");
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
    .option("--trace <file>", "write every request and event to a new file, .jsonl or .yaml")
    .option("--record <file>", "write the provider's bytes to a new file, for --playback")
    .option("-C, --directory <dir>", "work in this directory");
}
