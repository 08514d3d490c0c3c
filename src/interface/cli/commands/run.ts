/** `throughline run` answers once; `throughline start` opens a chat or plays a demo. */

import { Command } from "commander";

import { runOrChat } from "../choose-front-end.ts";
import type { Finish } from "../command-table.ts";
import type { RunFlags } from "../open-session.ts";
import { runOptions } from "../run-options.ts";
import type { Terminal } from "../terminal.ts";

export function runOnceCommand(terminal: Terminal, finish: Finish): Command {
  const run = new Command("run")
    .description("Answer one prompt and exit: the answer goes to stdout, everything else to stderr")
    .argument("[prompt...]", "the prompt; without one, or with -, it is read from standard input")
    .addHelpText(
      "after",
      `
Examples:
  throughline run "summarise README.md" </dev/null
  git diff | throughline run "review this" -o review.md
  throughline run --json "hi" | jq -r 'select(.type=="result").text'
  throughline run --output-schema answer.json "weather in Paris as JSON"`,
    );
  return runOptions(run).action(async (words: readonly string[], flags: RunFlags) =>
    finish(await runOrChat(words, { ...flags, print: true }, terminal)),
  );
}

export function startCommand(terminal: Terminal, finish: Finish): Command {
  const start = new Command("start")
    .description("Start a chat on a terminal, or play a demo on the emulator elsewhere")
    .argument("[prompt...]", "the first message of the chat")
    .addHelpText(
      "after",
      `
Examples:
  throughline start
  throughline start -m openai/gpt-5.6:high`,
    );
  return runOptions(start).action(async (words: readonly string[], flags: RunFlags) => {
    if (flags.playback !== undefined) return finish(await runOrChat(words, flags, terminal));
    const { demo, weatherTool } = await import("../demo.ts");
    if (!terminal.interactive) finish(await demo(terminal, { store: flags.store }));
    else finish(await (await import("../chat.ts")).chat(words, flags, terminal, { tools: [weatherTool] }));
  });
}
