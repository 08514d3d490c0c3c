/** The flags of every command that runs a turn. */

import { type Command, Option } from "commander";

import type { Effort, ShowReasoning } from "../../base/events/index.ts";
import type { TraceFlags } from "./tracing.ts";

/** Written out: the flags are loaded for `--version` too, which loads no vocabulary. The compiler holds the words. */
const SHOW_REASONING: readonly ShowReasoning[] = ["auto", "full", "title", "none"];

export interface RunFlags extends TraceFlags {
  readonly print?: boolean;
  readonly json?: boolean;
  readonly continue?: boolean;
  readonly resume?: string;
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  readonly tools?: string;
  readonly allowTools?: string;
  readonly permissions?: string;
  readonly maxSteps?: string;
  readonly maxCost?: string;
  readonly system?: string;
  /** False when `--no-project-instructions` was given. */
  readonly projectInstructions?: boolean;
  /** False when `--no-auto-compact` was given. */
  readonly autoCompact?: boolean;
  readonly showReasoning?: ShowReasoning;
  readonly output?: string;
  readonly outputSchema?: string;
  readonly ephemeral?: boolean;
  readonly server?: string;
  readonly trust?: boolean;
  readonly debug?: boolean;
  readonly directory?: string;
  readonly screenReader?: boolean;
  readonly playback?: string;
  readonly fast?: boolean;
  readonly strict?: boolean;
}

/** What a recording knows already. */
const RECORDED = [
  "continue",
  "resume",
  "model",
  "effort",
  "system",
  "tools",
  "allowTools",
  "permissions",
  "maxSteps",
  "maxCost",
  "outputSchema",
  "trace",
  "record",
];

/** A server has its own; a flag that is not obeyed must not look as if it were. */
const OF_THE_SERVER = [
  "ephemeral",
  "playback",
  "trace",
  "record",
  "system",
  "tools",
  "allowTools",
  "permissions",
  "maxSteps",
  "maxCost",
  "projectInstructions",
  "autoCompact",
  "trust",
];

export function runOptions(
  command: Command,
  options: { readonly choosesSession: boolean } = { choosesSession: true },
): Command {
  if (options.choosesSession) {
    command
      .addOption(
        new Option("-c, --continue", "go on with the last session of this directory").conflicts("resume"),
      )
      .option(
        "-r, --resume <session>",
        "go on with a session: its id, a unique beginning of it, or its title",
      )
      .addOption(
        new Option("--ephemeral", "keep nothing of this session").conflicts([
          "continue",
          "resume",
          "playback",
        ]),
      )
      .addOption(
        new Option(
          "--server <url>",
          "use the sessions of a server: its URL, or the link it printed",
        ).conflicts(OF_THE_SERVER),
      )
      .option("--output-schema <file>", "the answer is JSON that fits this JSON Schema")
      .addOption(
        new Option(
          "--playback <file>",
          "a recorded run once more: no key, nothing sent, no tool run",
        ).conflicts(RECORDED),
      )
      .option("--fast", "with --playback: without its waits")
      .option("--strict", "with --playback: a difference ends it with exit code 5");
  }
  return agentOptions(command, {
    model: "for example openai/gpt-5.6:high or emulator/emu-reasoner",
    effort: EFFORT_WORDS,
  })
    .addOption(
      new Option("--show-reasoning <how>", "thoughts on stderr: auto, full, title or none").choices(
        SHOW_REASONING,
      ),
    )
    .option("--no-project-instructions", "do not read AGENTS.md")
    .option("--no-auto-compact", "do not summarise the front when the context is full")
    .option("--trust", "trust this project's .throughline/config.json as it is now")
    .option("-o, --output <file>", "write the answer to this file too, when the turn completed")
    .option("--json", "one JSON event a line on stdout")
    .option("--trace <file>", "write every request and event to a new file, .jsonl or .yaml")
    .option("--record <file>", "write the provider's bytes to a new file, for --playback")
    .option("--debug", "stack traces, and what each request carries, on stderr")
    .option("--screen-reader", "a chat in plain lines and sentences, choices by number")
    .option("-C, --directory <dir>", "work in this directory");
}

/** `none` is another word for `off`, and is not told. Written out, as above. */
export const EFFORT_WORDS = (
  ["off", "minimal", "low", "medium", "high", "xhigh", "max"] satisfies readonly Effort[]
).join(", ");

/** What an agent is made with, wherever one is made. */
export function agentOptions(
  command: Command,
  about: { readonly model: string; readonly effort: string },
): Command {
  return command
    .option("-m, --model <provider/model[:effort]>", about.model)
    .option("--effort <level>", about.effort)
    .option("--system <text>", "instructions for the model")
    .option("--tools <file>", "a JavaScript module that exports tools")
    .option("--allow-tools <names>", "only these tools, separated by commas")
    .option("--permissions <mode>", "ask, auto, read-only or deny")
    .option("--max-steps <n>", "at most n requests in a turn")
    .option("--max-cost <usd>", "stop a turn that has cost this much; only where the price is known");
}

/** A flag that may be given again. */
export const gather = (value: string, earlier: readonly string[]): readonly string[] => [...earlier, value];
