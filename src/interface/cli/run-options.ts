/** The flags of every command that runs a turn. */

import { type Command, Option } from "commander";

import type { Effort, ShowReasoning } from "../../base/events/index.ts";
import { STORE_FLAG } from "./store-flag.ts";
import type { TraceFlags } from "./tracing.ts";

/** Spelled out here because `--version` loads this file but not the vocabulary. The type keeps the names in step. */
const SHOW_REASONING: readonly ShowReasoning[] = ["auto", "full", "title", "none"];

export interface RunFlags extends TraceFlags {
  readonly print?: boolean;
  readonly json?: boolean;
  readonly continue?: boolean;
  readonly resume?: string;
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  readonly fallback?: readonly string[];
  readonly tools?: string;
  readonly mcpConfig?: readonly string[];
  readonly allowTools?: string;
  readonly allow?: readonly string[];
  readonly permissions?: string;
  readonly maxSteps?: string;
  readonly maxCost?: string;
  readonly system?: string;
  /** False when `--no-project-instructions` was given. */
  readonly projectInstructions?: boolean;
  /** False when `--no-auto-compact` was given. */
  readonly autoCompact?: boolean;
  readonly showReasoning?: ShowReasoning;
  readonly input?: readonly string[];
  readonly output?: string;
  readonly outputSchema?: string;
  readonly ephemeral?: boolean;
  readonly server?: string;
  readonly store?: string | undefined;
  readonly trust?: boolean;
  readonly debug?: boolean;
  readonly directory?: string;
  readonly screenReader?: boolean;
  readonly playback?: string;
  readonly fast?: boolean;
  readonly strict?: boolean;
}

/** Flags whose values come from the recording. */
const RECORDED = [
  "continue",
  "resume",
  "store",
  "model",
  "effort",
  "fallback",
  "system",
  "tools",
  "mcpConfig",
  "allowTools",
  "allow",
  "permissions",
  "maxSteps",
  "maxCost",
  "input",
  "outputSchema",
  "trace",
  "record",
];

/** Flags that the server decides for itself. They are rejected, because ignoring them would look like obeying them. */
const OF_THE_SERVER = [
  "store",
  "ephemeral",
  "playback",
  "trace",
  "record",
  "fallback",
  "system",
  "tools",
  "mcpConfig",
  "allowTools",
  "allow",
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
        new Option("-c, --continue", "continue the last session of this directory").conflicts("resume"),
      )
      .option(
        "-r, --resume <session>",
        "continue a session, given by its id, a unique prefix of its id, or its title",
      )
      .addOption(
        new Option("--ephemeral", "do not save this session").conflicts(["continue", "resume", "playback"]),
      )
      .addOption(
        new Option(
          "--server <url>",
          "use the sessions of a server, given by its URL or the link it printed",
        ).conflicts(OF_THE_SERVER),
      )
      .option(
        "-i, --input <file>",
        "attach an image, a PDF or a text file; give it again for more",
        gather,
        [],
      )
      .addOption(
        new Option(
          "--playback <file>",
          "play a recorded run again without a key, sending nothing and running no tools",
        ).conflicts(RECORDED),
      )
      .option("--fast", "with --playback: skip the recorded pauses")
      .option("--strict", "with --playback: exit with code 5 if the run differs from the recording");
  }
  return agentOptions(command, {
    model: "the model to use, for example openai/gpt-5.6:high or emulator/emu-reasoner",
    effort: `reasoning effort: ${EFFORT_WORDS}`,
  })
    .addOption(
      new Option("--show-reasoning <how>", "how much reasoning to show on stderr").choices(SHOW_REASONING),
    )
    .option(...STORE_FLAG)
    .option("--no-project-instructions", "do not read the project's AGENTS.md files")
    .option("--no-auto-compact", "do not summarise older turns when the context is full")
    .option("--trust", "trust this project's settings, MCP servers and skills as they are now")
    .option("--output-schema <file>", "require a JSON answer that matches this JSON Schema")
    .option("-o, --output <file>", "also write the answer to this file if the turn completes")
    .option("--json", "write JSON lines to stdout: one event per line")
    .option("--trace <file>", "write every request and event to a new .jsonl or .yaml file")
    .option("--record <file>", "record the provider's bytes in a new file, for --playback")
    .option("--debug", "show stack traces and the contents of each request on stderr")
    .option("--screen-reader", "chat in plain lines and sentences, with numbered choices")
    .option("-C, --directory <dir>", "run in this directory");
}

/** The efforts that help lists. `none` is a synonym for `off` and is not listed. Spelled out for the reason above. */
export const EFFORT_WORDS = (
  ["off", "minimal", "low", "medium", "high", "xhigh", "max"] satisfies readonly Effort[]
).join(", ");

/** Adds the flags of every command that creates an agent. */
export function agentOptions(
  command: Command,
  about: { readonly model: string; readonly effort: string },
): Command {
  return command
    .option("-m, --model <provider/model[:effort]>", about.model)
    .option("--effort <level>", about.effort)
    .option<readonly string[]>(
      "--fallback <provider/model[:effort]>",
      "continue a turn on this model if the model is down, out of quota or rate-limited; repeatable",
      gather,
      [],
    )
    .option("--system <text>", "give the model these instructions")
    .option("--tools <file>", "load tools from this JavaScript module")
    .option<readonly string[]>(
      "--mcp-config <file>",
      "use the MCP servers of this JSON file (mcpServers); give it again for more",
      gather,
      [],
    )
    .option("--allow-tools <names>", "allow only these tools, separated by commas")
    .option("--permissions <mode>", "permission mode: ask, auto, read-only or deny")
    .option(
      "--allow <rule>",
      "allow these calls without a question, for example run_command:git *; give it again for more",
      gather,
      [],
    )
    .option("--max-steps <n>", "make at most n requests in a turn")
    .option(
      "--max-cost <usd>",
      "stop once the turn or its session has cost this much; needs a model with a known price",
    );
}

/** Collects the values of a repeatable flag. */
export const gather = (value: string, earlier: readonly string[]): readonly string[] => [...earlier, value];
