/**
 * What a person reads about a call: "Read package.json · 12 lines", "Ran npm run build · exit 3". Names and texts come from
 * models, tools and servers, so each part is one line that is exactly what it looks like.
 */

import type { McpToolName, ToolStatus } from "../../base/events/index.ts";
import { isObject, shortened, stringOf, tryParseJson, unmistakableLine } from "../../base/support/index.ts";
import type { ToolBlock } from "./block.ts";
import { BUILTIN_TITLES, type BuiltinTitle, countOf, manyLines, type ReadText } from "./builtin-titles.ts";
import { commandEnding, type CommandEnding, endingWords } from "./command-ending.ts";
import { toolLabel } from "./tool-names.ts";

/** How a call stands. `writing`: it is not complete or has not started. */
export type ToolOutcome =
  | "writing"
  | "asks"
  | "running"
  | "ok"
  | "failed"
  | "denied"
  | "stopped"
  | "not_run"
  | "unknown";

/** The title of a call in parts. Each part is safe to show. */
export interface ToolTitle {
  /** "Ran"; "Run" until it has run. For a tool that is not built in, its name. */
  readonly verb: string;
  /** What it is about: a path, a command. May be empty. */
  readonly subject: string;
  /** "exit 3", "12 lines", "+1 −1". Times are not among them. */
  readonly facts: readonly string[];
  readonly outcome: ToolOutcome;
}

const known = new WeakMap<ToolBlock, ToolTitle>();

/** Returns the title of a call. Made once for each state of a block, because arguments can be long. */
export function toolTitle(block: ToolBlock): ToolTitle {
  const before = known.get(block);
  if (before !== undefined) return before;
  const title = makeTitle(block);
  known.set(block, title);
  return title;
}

/** Returns the exit code of a command that ended by itself. */
export function exitCode(block: ToolBlock): number | undefined {
  const ending = endingOf(block);
  return ending?.type === "exited" ? ending.code : undefined;
}

/** The words for calls that did not succeed. */
export const TOOL_STATUS_WORDS: Readonly<Partial<Record<ToolStatus, string>>> = {
  error: "failed",
  denied: "denied",
  timeout: "timed out",
  cancelled: "stopped",
  not_executed: "not executed",
  outcome_unknown: "outcome unknown",
};

function makeTitle(block: ToolBlock): ToolTitle {
  const { result } = block;
  const ending = endingOf(block);
  const outcome = outcomeOf(block);
  // Arguments that are still being written are not parsed with every delta; their start is enough for a title.
  const given = outcome === "writing" ? undefined : tryParseJson(block.arguments);
  const read: ReadText = (key) =>
    isObject(given) ? stringOf(given[key]) : startOfMember(block.arguments, key);
  const builtin = block.mcp === undefined ? BUILTIN_TITLES.get(block.name) : undefined;
  const about = builtin?.subject(read);
  const own = about === undefined && outcome !== "writing" ? undefined : builtin;
  const succeeded = outcome === "ok" || outcome === "running" || outcome === "asks";
  const facts = [
    result && (ending === undefined ? TOOL_STATUS_WORDS[result.status] : endingWords(ending)),
    ...(succeeded && own !== undefined ? own.facts(isObject(given) ? given : {}, result?.text) : []),
    own === undefined ? manyLines(result?.text) : undefined,
    result?.images === undefined ? undefined : countOf(result.images.length, "image"),
    ...(result?.sessions ?? []).map((id) => `session ${shownLine(id, 64)}`),
  ];
  return {
    verb: own === undefined ? shownLine(toolLabel(block), MAX_NAME) : verbOf(own, outcome, ending),
    subject: shownLine(own === undefined ? firstText(given, block.arguments) : (about ?? ""), MAX_SUBJECT),
    facts: facts.filter((fact) => fact !== undefined),
    outcome,
  };
}

const MAX_NAME = 60;
const MAX_SUBJECT = 200;

function shownLine(text: string, most: number): string {
  return unmistakableLine(shortened(text.trim(), most));
}

/** A command that failed did run; a file that could not be read was not read. */
function verbOf(
  { verb, past }: BuiltinTitle,
  outcome: ToolOutcome,
  ending: CommandEnding | undefined,
): string {
  const hasRun = ending !== undefined && ending.type !== "not_started";
  return outcome === "ok" || hasRun ? past : verb;
}

/** The longest start of unfinished arguments that is looked at. */
const LOOKED = 4000;
const TEXT = String.raw`"((?:[^"\\]|\\.)*)`;

/** Reads a member of arguments that may not be complete. */
function startOfMember(text: string, key: string): string | undefined {
  return unescaped(new RegExp(String.raw`"${key}"\s*:\s*${TEXT}`).exec(text.slice(0, LOOKED))?.[1]);
}

function unescaped(text: string | undefined): string | undefined {
  return text === undefined ? undefined : (stringOf(tryParseJson(`"${text}"`)) ?? text);
}

function firstText(given: unknown, text: string): string {
  if (isObject(given)) {
    const texts = Object.values(given).map((value) => stringOf(value));
    return texts.find((value) => value !== undefined && value !== "") ?? "";
  }
  // A custom tool gets plain text.
  if (!text.trimStart().startsWith("{")) return text;
  return unescaped(new RegExp(String.raw`:\s*${TEXT}`).exec(text.slice(0, LOOKED))?.[1]) ?? "";
}

/** Returns how a call ended. A command with another exit code than 0 failed, although the tool itself did not. */
export function resultOutcome(call: EndedCall): ToolOutcome {
  const ending = endingOf(call);
  if (ending?.type === "exited") return ending.code === 0 ? "ok" : "failed";
  return ending === undefined ? RESULT_OUTCOMES[call.result.status] : ENDING_OUTCOMES[ending.type];
}

interface EndedCall {
  readonly name: string;
  readonly mcp?: McpToolName | undefined;
  readonly result: { readonly status: ToolStatus; readonly text: string };
}

function endingOf(call: ToolBlock | EndedCall): CommandEnding | undefined {
  const { name, mcp, result } = call;
  if (name !== "run_command" || mcp !== undefined || result?.status !== "ok") return undefined;
  return commandEnding(result.text);
}

function outcomeOf(block: ToolBlock): ToolOutcome {
  const { result, permission, elicitations, callId } = block;
  if (result !== undefined) return resultOutcome({ ...block, result });
  if (block.cut || block.superseded) return "not_run";
  if (permission?.question !== undefined || elicitations?.some(({ waits }) => waits) === true) return "asks";
  if (block.generating) return callId === undefined ? "writing" : "running";
  if (block.pending) return "writing";
  return callId === undefined ? "not_run" : "unknown";
}

const ENDING_OUTCOMES = {
  ended: "failed",
  timed_out: "failed",
  cancelled: "stopped",
  not_started: "not_run",
} as const;

const RESULT_OUTCOMES: Readonly<Record<ToolStatus, ToolOutcome>> = {
  ok: "ok",
  error: "failed",
  denied: "denied",
  timeout: "failed",
  cancelled: "stopped",
  not_executed: "not_run",
  outcome_unknown: "unknown",
};
