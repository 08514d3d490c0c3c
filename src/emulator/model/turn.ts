/**
 * The model's current turn: what the user wants now, the calls made since, what it can still remember. Everything comes
 * from the request; the model keeps nothing.
 */

import { stringOf } from "../../base/support/index.ts";
import { type Note, readNote } from "./notes.ts";
import type { ModelView } from "./view.ts";

export interface MadeCall {
  readonly name: string;
  readonly arguments: string;
  /** `undefined`: not answered yet. */
  readonly result: string | undefined;
  /** Whether the result reports a failure of the tool instead of its output. */
  readonly failed: boolean;
}

export interface Turn {
  readonly view: ModelView;
  /** The user's text since the model last spoke, joined. */
  readonly text: string;
  readonly calls: readonly MadeCall[];
  /** User messages of earlier turns. */
  readonly earlier: readonly string[];
  /** True in the first turn of a conversation. */
  readonly first: boolean;
  readonly notes: readonly Note[];
}

export function turnOf(view: ModelView): Turn {
  const { seen } = view;
  const start = seen.findLastIndex((one) => one.type === "user");
  const now = seen.slice(start + 1);
  const results = new Map(now.flatMap((one) => (one.type === "result" ? [[one.callId, one] as const] : [])));
  return {
    view,
    text: seen[start]?.type === "user" ? seen[start].text : "",
    calls: now.flatMap((one) => {
      if (one.type !== "call") return [];
      const { text, failed = false } = results.get(one.callId) ?? { text: undefined };
      const { name } = one;
      return [{ name, arguments: one.arguments, result: text, failed: failed || tellsFailure(text ?? "") }];
    }),
    earlier: seen.slice(0, Math.max(0, start)).flatMap((one) => (one.type === "user" ? [one.text] : [])),
    first: !seen.slice(0, Math.max(0, start)).some((one) => one.type === "assistant"),
    notes: seen.flatMap((one) => (one.type === "notes" ? [readNote(one.text)] : [])),
  };
}

/** Finds a tool by name; hosted tools have none. */
export function toolNamed(turn: Turn, pattern: RegExp): string | undefined {
  if (turn.view.toolChoice === "none") return undefined;
  return turn.view.tools
    .filter((tool) => tool["type"] === "function")
    .map((tool) => stringOf(tool["name"]) ?? "")
    .find((name) => pattern.test(name));
}

/** A word that looks like a path; quoted ones are preferred. */
export function pathIn(text: string): string | undefined {
  const quoted = /[`"']([^`"'\s]+[./][^`"'\s]*)[`"']/.exec(text)?.[1];
  return (
    quoted ??
    /(?:^|\s)((?:[\w.-]+\/)*[\w-]+\.[a-z]\w{0,7}|(?:[\w.-]+\/)+[\w.-]*)(?=[\s,;:?!.]|$)/.exec(text)?.[1]
  );
}

/** Text in backticks is taken literally, whatever quotes surround it or occur in it, so it comes first. */
export function quotedIn(text: string): readonly string[] {
  const found = [...text.matchAll(/`([^`]+)`/g), ...text.matchAll(/["“']([^`"”']+)["”']/g)];
  return found.map((match) => match[1] ?? "");
}

/** Capitalised names after "in", "of", "for", "and" or a comma: good enough for cities. */
export function citiesIn(text: string): readonly string[] {
  const found = [
    ...text.matchAll(/(?:\b(?:in|of|for|and|or|at)|,)\s+((?:[A-Z][\p{L}'-]+)(?:\s[A-Z][\p{L}'-]+)*)/gu),
  ];
  return [...new Set(found.map((match) => match[1] ?? ""))];
}

/** A number that depends only on the text: what the model "thinks of". */
export function numberFrom(text: string): number {
  let value = 7;
  for (const char of text) value = (value * 31 + (char.codePointAt(0) ?? 0)) % 899;
  return value + 100;
}

/** A result in one line, shortened. */
export function shortly(text: string, limit = 240): string {
  const flat = text.trim().replaceAll(/\s+/g, " ");
  return flat.length <= limit ? flat : `${flat.slice(0, limit - 1).trimEnd()}…`;
}

const MAX_REPORT_LENGTH = 600;

/** Clients report a refusal at the beginning of a short result; a file may say anything. */
export const looksRefused = reports(
  /^\W*(?:not executed\W+)?(?:denied|refused|declined|not allowed|permission|the user (?:denied|declined|refused|did not))\b/i,
);

/** If no flag says so, a failure is reported at the beginning. A file may mention errors too, but not in this form. */
export const tellsFailure = reports(
  /^\W*(?:(?:the )?tool\b[^\n]{0,80}\b(?:failed|was stopped|error)|(?:\w+ )?\w*error:|error\b|enoent\b|failed to\b|not executed\b)/i,
);

/** For a tool's report on its own work: a word in the middle counts too. */
export const looksFailed = reports(
  /\b(error|failed|enoent|not found|no such file|does not exist|exception|timed out)\b/i,
);

function reports(pattern: RegExp): (result: string) => boolean {
  return (result) => result.length <= MAX_REPORT_LENGTH && pattern.test(result);
}

/** Whether the turn's text matches. */
export const says =
  (pattern: RegExp) =>
  (turn: Turn): boolean =>
    pattern.test(turn.text);
