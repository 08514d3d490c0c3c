/**
 * `throughline completion bash|zsh|fish`: a script made from the command tree, so that it cannot fall behind it.
 */

import { Argument, Command } from "commander";

import type { Finish } from "../command-table.ts";
import { EXIT } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

export function completionCommand(terminal: Terminal, finish: Finish): Command {
  return new Command("completion")
    .description("a completion script for your shell")
    .addArgument(new Argument("<shell>", "bash, zsh or fish").choices(SHELLS))
    .addHelpText(
      "after",
      `
Examples:
  source <(throughline completion bash)                 in ~/.bashrc
  throughline completion zsh > ~/.zfunc/_throughline    a folder of $fpath
  throughline completion fish > ~/.config/fish/completions/throughline.fish`,
    )
    .action(async (shell: Shell) => {
      // Not before it is asked for: it loads every command.
      const { addAllCommands, createProgram } = await import("../program.ts");
      const program = createProgram(terminal, finish);
      await addAllCommands(program, terminal, finish);
      terminal.stdout.write(SCRIPTS[shell](nodesOf(program)));
      finish(EXIT.ok);
    });
}

interface Flag {
  readonly names: readonly string[];
  readonly about: string;
  readonly takesValue: boolean;
  readonly values: readonly string[];
}

/** One command: the words that lead to it, and what may follow them. */
interface Node {
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly flags: readonly Flag[];
}

function nodesOf(command: Command, path: readonly string[] = []): readonly Node[] {
  const flags = command.options.map((option): Flag => ({
    names: [option.short, option.long].filter((one): one is string => typeof one === "string"),
    about: option.description,
    takesValue: option.required || option.optional,
    values: option.argChoices ?? [],
  }));
  const help: Flag = { names: ["-h", "--help"], about: "help", takesValue: false, values: [] };
  const node = {
    path,
    commands: command.commands.map((one) => ({ name: one.name(), about: one.description() })),
    flags: [...flags, help],
  };
  return [node, ...command.commands.flatMap((one) => nodesOf(one, [...path, one.name()]))];
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

function bash(nodes: readonly Node[]): string {
  const cases = nodes.map(({ path, commands, flags }) => {
    const words = [...commands.map(({ name }) => name), ...flags.flatMap(({ names }) => names)];
    return `    ${quoted(path.join(" "))}) words=${quoted(words.join(" "))} ;;`;
  });
  const values = nodes.flatMap(({ path, flags }) =>
    flags.flatMap(({ names, values: known }) =>
      known.length === 0
        ? []
        : names.map(
            (name) => `    ${quoted(`${path.join(" ")}:${name}`)}) words=${quoted(known.join(" "))} ;;`,
          ),
    ),
  );
  const takers = [
    ...new Set(
      nodes.flatMap(({ flags }) => flags.filter((one) => one.takesValue).flatMap(({ names }) => names)),
    ),
  ];
  return `# bash completion of throughline; made by: throughline completion bash
_throughline() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path= word words= next i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    next="\${path:+$path }$word"
    case " ${nodes
      .filter(({ path }) => path.length > 0)
      .map(({ path }) => path.join("_"))
      .join(" ")} " in
      *" \${next// /_} "*) path=$next ;;
    esac
  done
  case "$path:$prev" in
${values.join("\n")}
    *) ;;
  esac
  if [[ -z $words ]]; then
    case " ${takers.join(" ")} " in
      *" $prev "*) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    esac
    case "$path" in
${cases.join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _throughline throughline thl
`;
}

/** An entry of zsh's _describe: name, colon, words. */
function described(name: string, about: string): string {
  return quoted(`${name.replaceAll(":", String.raw`\:`)}:${about.replaceAll(":", String.raw`\:`)}`);
}

function zsh(nodes: readonly Node[]): string {
  const cases = nodes.map(({ path, commands, flags }) => {
    const entries = [
      ...commands.map(({ name, about }) => described(name, about)),
      ...flags.flatMap(({ names, about }) => names.map((name) => described(name, about))),
    ];
    return `    ${quoted(path.join(" "))}) entries=(${entries.join(" ")}) ;;`;
  });
  const known = nodes.filter(({ path }) => path.length > 0).map(({ path }) => quoted(path.join(" ")));
  return `#compdef throughline thl
# zsh completion of throughline; made by: throughline completion zsh
_throughline() {
  local path_= next word
  local -a entries known
  known=(${known.join(" ")})
  for word in \${words[2,CURRENT-1]}; do
    next="\${path_:+$path_ }$word"
    (( \${known[(Ie)$next]} )) && path_=$next
  done
  case "$path_" in
${cases.join("\n")}
  esac
  _describe -t commands throughline entries || _files
}
if [ "$funcstack[1]" = "_throughline" ]; then _throughline "$@"; else compdef _throughline throughline thl; fi
`;
}

function fish(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, commands, flags }) => {
    const when = quoted(`__throughline_at ${quoted(path.join(" ")).replaceAll("'", '"')}`);
    return ["throughline", "thl"].flatMap((program) => [
      ...commands.map(
        ({ name, about }) => `complete -c ${program} -n ${when} -a ${name} -d ${fishText(about)}`,
      ),
      ...flags.map(({ names, about, takesValue, values }) => {
        const short = names.find((name) => /^-[^-]$/.test(name));
        const long = names.find((name) => name.startsWith("--"));
        return [
          `complete -c ${program} -n ${when}`,
          ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
          ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
          ...(takesValue ? ["-r"] : []),
          ...(values.length === 0 ? [] : [`-f -a ${fishText(values.join(" "))}`]),
          `-d ${fishText(about)}`,
        ].join(" ");
      }),
    ]);
  });
  const known = nodes.map(({ path }) => fishText(path.join(" "))).join(" ");
  return `# fish completion of throughline; made by: throughline completion fish
function __throughline_at
  set -l known ${known}
  set -l path ""
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$path $word")
    contains -- $next $known; and set path $next
  end
  test "$path" = "$argv[1]"
end
${lines.join("\n")}
`;
}

/** fish has its own quoting: only the quote and the backslash are special. */
function fishText(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
}

const SCRIPTS: Readonly<Record<Shell, (nodes: readonly Node[]) => string>> = { bash, zsh, fish };
