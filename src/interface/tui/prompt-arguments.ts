/** The arguments of a prompt of an MCP server, as a person types them: `city=Rome day="next Monday"`. Pure. */

import type { McpPrompt } from "../../base/api/index.ts";
import { codedError, didYouMean, inertLine } from "../../base/support/index.ts";

/** The one argument of a prompt may be plain text. Throws `usage`, which says what is wrong and what to type. */
export function promptArguments(prompt: McpPrompt, typed: string): Readonly<Record<string, string>> {
  const text = typed.trim();
  const given = text === "" ? {} : (soleArgument(prompt, text) ?? namedArguments(prompt, text));
  const missing = prompt.arguments.filter(({ name, required }) => required && !Object.hasOwn(given, name));
  if (missing.length > 0) {
    const wanted = missing.map(({ name, description }) =>
      description === undefined ? word(name) : `${word(name)} (${inertLine(description, 100)})`,
    );
    throw usage(prompt, `needs ${wanted.join(" and ")}`);
  }
  return given;
}

function soleArgument({ arguments: known }: McpPrompt, text: string): Record<string, string> | undefined {
  const [only, ...more] = known;
  if (only === undefined || more.length > 0) return undefined;
  const start = `${only.name}=`;
  const value = text.startsWith(start) ? text.slice(start.length) : text;
  return { [only.name]: unquoted(value) };
}

const PAIR = /([^\s=]+)=("(?:[^"\\]|\\.)*"|[^\s"]*)(?=\s|$)\s*/suy;

function namedArguments(prompt: McpPrompt, text: string): Record<string, string> {
  const names = prompt.arguments.map(({ name }) => name);
  if (names.length === 0) throw usage(prompt, "takes no arguments");
  const given: Record<string, string> = {};
  PAIR.lastIndex = 0;
  for (let at = 0; at < text.length; at = PAIR.lastIndex) {
    const [, name, value = ""] = PAIR.exec(text) ?? [];
    if (name === undefined)
      throw usage(prompt, `cannot read ${JSON.stringify(inertLine(text.slice(at), 40))}: write name=value`);
    if (!names.includes(name))
      throw usage(prompt, `has no argument ${JSON.stringify(inertLine(name, 60))}${didYouMean(name, names)}`);
    if (Object.hasOwn(given, name)) throw usage(prompt, `got ${word(name)} twice`);
    given[name] = unquoted(value);
  }
  return given;
}

function unquoted(value: string): string {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"$/su.exec(value) ?? [];
  return inner === undefined ? value : inner.replaceAll(/\\(.)/gsu, "$1");
}

function usage(prompt: McpPrompt, problem: string): Error {
  const name = `${prompt.server}:${prompt.name}`;
  const one = prompt.arguments.length === 1;
  const takes = prompt.arguments.map(({ name: argument, required }) => {
    const shown = one ? word(argument).toUpperCase() : `${word(argument)}=…`;
    return required ? shown : `[${shown}]`;
  });
  return codedError("usage", `the prompt ${name} ${problem}. Type: ${[`/${name}`, ...takes].join(" ")}`);
}

function word(name: string): string {
  return inertLine(name, 60);
}
