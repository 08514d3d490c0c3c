/**
 * The help of the program itself: what it is, examples, commands by group, where the rest is told. Under 40 lines, so
 * that it fits a screen; the flags of a run are told by `run --help`.
 */

import { HELP_LINES } from "./command-table.ts";

const EXAMPLES = `Examples:
  throughline                              chat (no key: on the built-in emulator)
  throughline -p "summarise README.md"     one answer on stdout, progress on stderr
  git diff | throughline -p "review this"  standard input is appended to the prompt
  throughline -c "and now the tests"       go on with the last session of this directory
  throughline inspect --last               what was sent, and why`;

const FLAGS = `Flags: -p one answer, -c last session, -r ID a session, -m provider/model[:effort], --json, -o FILE, -C DIR,
  --tools FILE, --permissions MODE, --max-steps N, --max-cost USD; all: throughline run --help. -V, -h`;

const REST = `Environment: OPENAI_API_KEY, ANTHROPIC_API_KEY …, THROUGHLINE_MODEL, THROUGHLINE_HOME, NO_COLOR, FORCE_COLOR
Exit codes: 0 done, 1 turn failed, 2 usage, 3 permission needed, 4 limit reached, 5 server or history differs,
  130 interrupted, 143 terminated`;

export function topHelp(description: string): string {
  let group = "";
  const commands = HELP_LINES.map((line) => {
    const head = line.group === group ? "" : line.group;
    ({ group } = line);
    return `  ${head.padEnd(12)} ${line.names.join(", ").padEnd(26)} ${line.about}`;
  });
  return [
    `throughline [flags] [prompt...]: ${description}`,
    "",
    EXAMPLES,
    "",
    "Commands (throughline help COMMAND tells each):",
    ...commands,
    "",
    FLAGS,
    REST,
    "",
  ].join("\n");
}
