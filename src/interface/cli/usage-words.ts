/**
 * Rewrites the parser's messages about a bad command line in plain words, and points to the help of the command in
 * question.
 */

import type { Command } from "commander";

import { didYouMean } from "../../base/support/index.ts";

type Rewrite = readonly [RegExp, (found: readonly string[], command: Command) => string];

const REWRITES: readonly Rewrite[] = [
  [
    /^option '([^']*)' argument '([^]*)' is invalid\. Allowed choices are (.*)\.$/,
    ([flag = "", value = "", choices = ""]) =>
      `${flagOf(flag)} ${value}: use one of ${choices}${didYouMean(value, choices.split(", "))}`,
  ],
  [
    /^command-argument value '([^]*)' is invalid for argument '(.*)'\. Allowed choices are (.*)\.$/,
    ([value, name, choices]) => `unknown ${name} "${value}"; use one of ${choices}`,
  ],
  [
    /^missing required argument '(.*)'$/,
    (_, command) => `missing argument; usage: ${nameOf(command)} ${argumentsOf(command)}`,
  ],
  [/^option '([^']*)' argument missing$/, ([flag]) => `${flag} needs a value`],
  [
    /^unknown option '([^]*?)'(?:\n\(Did you mean (.*)\?\))?$/,
    ([flag, meant]) => `unknown flag ${flag}${meant === undefined ? "" : `; did you mean ${meant}?`}`,
  ],
  [
    /^option '([^']*)' cannot be used with option '([^']*)'$/,
    ([one = "", other = ""]) => `${flagOf(one)} and ${flagOf(other)} cannot be used together`,
  ],
  [/^too many arguments for /, (_, command) => tooMany(command)],
  [/^unknown command '/, (_, command) => tooMany(command)],
  // Its help was printed.
  [
    /^\(outputHelp\)$/,
    (_, command) =>
      `${nameOf(command)} needs a command: ${command.commands.map((one) => one.name()).join(", ")}`,
  ],
  [/^required option '([^']*)' not specified$/, ([flag = ""]) => `${flagOf(flag)} is missing`],
];

export function usageText(message: string, command: Command): string {
  const plain = message.replace(/^error: /, "");
  for (const [pattern, rewrite] of REWRITES) {
    const found = pattern.exec(plain);
    if (found !== null) return `${rewrite(found.slice(1), command)} (see ${nameOf(command)} --help)`;
  }
  return `${plain} (see ${nameOf(command)} --help)`;
}

/** Returns the command, or the innermost subcommand, that a line names. */
export function commandOf(program: Command, args: readonly string[]): Command {
  let command = program;
  for (const word of args) {
    const next = command.commands.find((one) => one.name() === word);
    if (next !== undefined) command = next;
  }
  return command;
}

function nameOf(command: Command): string {
  const parent = command.parent === null ? "" : `${nameOf(command.parent)} `;
  return `${parent}${command.name()}`;
}

function argumentsOf(command: Command): string {
  return command.usage().replace(/^\[options\] ?/, "");
}

/** Returns the long name: "-r, --resume <session>" becomes --resume. */
function flagOf(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

function tooMany(command: Command): string {
  if (command.commands.length > 0) {
    const names = command.commands.map((one) => one.name());
    const [typed = ""] = command.args;
    return `unknown command ${typed}; ${nameOf(command)} has ${names.join(", ")}${didYouMean(typed, names)}`;
  }
  const takes = argumentsOf(command);
  return `too many arguments: ${nameOf(command)} takes ${takes === "" ? "none" : takes}`;
}
