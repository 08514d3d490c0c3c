/**
 * The top-level help: what the program is, examples, commands by group, common flags. Under 40 lines, so that it fits a
 * screen; `run --help` lists every flag of a run.
 */

import { HELP_LINES } from "./command-table.ts";

const USAGE = "Usage: throughline [flags] [prompt...], or throughline COMMAND [flags]";

const EXAMPLES = `Examples:
  throughline                              Start a chat (without an API key: on the built-in emulator)
  throughline -p "summarise README.md"     Print one answer to stdout, progress to stderr
  git diff | throughline -p "review this"  Append standard input to the prompt
  throughline -p -i plot.png "explain"     Attach an image, a PDF or a text file (@file does, too)
  throughline -c "and now the tests"       Continue the last session of this directory
  throughline inspect --last               Show what was sent, and why`;

const FLAGS = `Common flags (throughline run --help lists all of them):
  -p, --print            answer once and exit           -o, --output FILE  also write the answer to a file
  -c, --continue         continue the last session      --json             write one JSON event per line
  -r, --resume SESSION   continue this session          --tools FILE       load tools from a module
  -m, --model NAME       provider/model[:effort]        --max-steps N      limit the requests of a turn
  --permissions MODE     ask, auto, read-only or deny   --max-cost USD     limit the cost`;

const REST = `Environment: OPENAI_API_KEY, ANTHROPIC_API_KEY …, THROUGHLINE_MODEL, THROUGHLINE_HOME, NO_COLOR, FORCE_COLOR
Exit codes: 0 done, 1 turn failed, 2 usage, 3 permission needed, 4 limit reached, 5 server or history differs,
  70 internal error, 129 terminal closed, 130 interrupted, 143 terminated`;

export function topHelp(description: string): string {
  let group = "";
  const commands = HELP_LINES.map((line) => {
    const head = line.group === group ? "" : line.group;
    ({ group } = line);
    return `  ${head.padEnd(12)} ${line.names.join(", ").padEnd(26)} ${line.about}`;
  });
  return [
    `Throughline: ${description}`,
    USAGE,
    "",
    EXAMPLES,
    "",
    "Commands (throughline help COMMAND shows the details):",
    ...commands,
    "",
    FLAGS,
    REST,
    "",
  ].join("\n");
}
