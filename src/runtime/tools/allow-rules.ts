/**
 * Rules that allow a call without asking: `TOOL` covers every call of a tool, `TOOL:PATTERN` only calls whose command or
 * path fits. Pure. A rule never covers more than its text says: a text without `*` covers exactly itself, and `*` never
 * reaches beyond one simple command or out of the working directory. Whatever cannot be judged is not covered.
 */

import { codedError, didYouMean, isObject, stringOf, unmistakableLine } from "../../base/support/index.ts";
import type { Tool } from "./tool.ts";

export interface AllowRule {
  readonly text: string;
  readonly tool: string;
  /** The literal texts between the wildcards. Undefined: every call of the tool. */
  readonly parts: readonly string[] | undefined;
}

/** A longer text cannot be shown as a whole next to a question. */
const MAX_RULE = 500;

/** A longer command is not judged by a pattern; people do not read it to the end either. */
const MAX_COMMAND = 4000;

type RuledTool = Pick<Tool, "name" | "ruleOn">;

/** Throws `allow_rule_invalid` for a rule that could never apply, or whose text is not what a person would read. */
export function parseRule(text: string, tools: readonly RuledTool[]): AllowRule {
  const problem = typeof text === "string" ? textProblem(text) : "use a text such as run_command:git *";
  if (problem !== undefined) throw ruleInvalid(text, problem);
  const colon = text.indexOf(":");
  const name = colon === -1 ? text : text.slice(0, colon);
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    const names = tools.map((one) => one.name);
    const known = names.length === 0 ? "" : `; available are: ${names.join(", ")}`;
    throw ruleInvalid(text, `there is no tool ${JSON.stringify(name)}${didYouMean(name, names) || known}`);
  }
  if (colon === -1) return { text, tool: name, parts: undefined };
  if (tool.ruleOn === undefined)
    throw ruleInvalid(text, `only the built-in tools take a pattern; use "${name}" for all its calls`);
  const parts = partsOf(text.slice(colon + 1));
  if (parts === undefined)
    throw ruleInvalid(text, String.raw`write \* for a star and \\ for a backslash that are meant literally`);
  const misfit = patternProblem(parts, tool.ruleOn);
  if (misfit !== undefined) throw ruleInvalid(text, misfit);
  return { text, tool: name, parts };
}

/** Returns whether the rule covers a call of the tool with this input, as its schema returned it. */
export function covers(rule: AllowRule, tool: RuledTool, input: unknown): boolean {
  if (rule.tool !== tool.name) return false;
  const { parts } = rule;
  if (parts === undefined) return true;
  const { ruleOn } = tool;
  const subject = subjectOf(tool, input);
  if (ruleOn === undefined || subject === undefined) return false;
  if (parts.length === 1) return subject === parts[0];
  if (ruleOn === "command" && !isSimpleCommand(subject)) return false;
  return fits(subject, parts);
}

/**
 * Returns the rule that covers this very call and nothing else: the exact command, that path, or for any other tool all
 * its calls. Undefined if no text says it exactly.
 */
export function ruleOfCall(tool: RuledTool, input: unknown): string | undefined {
  if (tool.ruleOn === undefined) return tool.name;
  const subject = subjectOf(tool, input);
  if (subject === undefined || subject === "") return undefined;
  const text = `${tool.name}:${subject.replaceAll(/[\\*]/g, String.raw`\$&`)}`;
  return textProblem(text) === undefined ? text : undefined;
}

function subjectOf({ ruleOn }: RuledTool, input: unknown): string | undefined {
  if (ruleOn === undefined || !isObject(input)) return undefined;
  const value = stringOf(input[ruleOn]);
  return ruleOn === "command" || value === undefined ? value : plainPath(value);
}

/** Quotes group words and hide nothing here, because everything they could hide is refused outside of them too. */
const COMMAND_TEXT = /^[\p{L}\p{M}\p{N} _./:,=+@%'"-]*$/u;
const FIRST_WORD = /^ *[^ ='"]+(?: |$)/;
const WHOLE_QUOTES = /^(?:[^'"]|'[^']*'|"[^"]*")*$/;
/** Words that begin something else than a simple command. */
const RESERVED =
  /^ *(?:case|coproc|do|done|elif|else|esac|fi|for|function|if|in|select|then|time|until|while)(?: |$)/;

/**
 * True for one program with its arguments, each taken literally: no separator, pipe, substitution, redirection, newline,
 * assignment, glob, brace, tilde, history or comment sign, backslash or unusual space, not even in quotes.
 */
function isSimpleCommand(command: string): boolean {
  return (
    command.length <= MAX_COMMAND &&
    COMMAND_TEXT.test(command) &&
    FIRST_WORD.test(command) &&
    WHOLE_QUOTES.test(command) &&
    !RESERVED.test(command)
  );
}

/** Returns the path relative to the working directory, without detours; undefined if it may lead out of it. */
function plainPath(path: string): string | undefined {
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path) || path.includes("\\") || path.includes("\0"))
    return undefined;
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  return steps.includes("..") ? undefined : steps.join("/") || ".";
}

/** Returns undefined if a backslash stands before anything but a star or a backslash. */
function partsOf(pattern: string): readonly string[] | undefined {
  const parts = [""];
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern.charAt(at);
    if (char === "*") parts.push("");
    else if (char !== "\\") parts.push(`${parts.pop() ?? ""}${char}`);
    else {
      at += 1;
      const next = pattern.charAt(at);
      if (next !== "*" && next !== "\\") return undefined;
      parts.push(`${parts.pop() ?? ""}${next}`);
    }
  }
  return parts;
}

function textProblem(text: string): string | undefined {
  if (text === "" || text.indexOf(":") === text.length - 1)
    return "use TOOL or TOOL:PATTERN, such as run_command:git *";
  if (text.length > MAX_RULE) return `it is longer than ${MAX_RULE} characters`;
  if (unmistakableLine(text) !== text) return "it contains characters that cannot be shown exactly";
  return undefined;
}

function patternProblem(parts: readonly string[], on: "command" | "path"): string | undefined {
  if (on === "path") {
    // A star stands for an ordinary name here.
    const path = parts.join("x");
    return plainPath(path) === path
      ? undefined
      : "write the path relative to the working directory, without ./, .. or a slash at either end";
  }
  if (parts.length === 1 || COMMAND_TEXT.test(parts.join(""))) return undefined;
  return "a pattern with * covers one simple command: it cannot contain ; & | < > $ ` ( ) { } [ ] ? ~ ! # or a backslash";
}

/** The parts occur in this order, the first at the start and the last at the end. */
function fits(text: string, parts: readonly string[]): boolean {
  const [first = "", ...middle] = parts;
  const last = middle.pop() ?? "";
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  let at = first.length;
  for (const part of middle) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

function ruleInvalid(text: unknown, problem: string): Error {
  const shown = typeof text === "string" ? text.slice(0, MAX_RULE) : text; // it may be as long as a request
  return codedError("allow_rule_invalid", `the rule ${JSON.stringify(shown)}: ${problem}`);
}
