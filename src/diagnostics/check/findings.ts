/** A violation as shown to the user: the rule, the place, the error it would cause, and what to do. */

import {
  CHAT_RULES,
  HEAD,
  MESSAGES_RULES,
  RESPONSES_RULES,
  type Violation,
} from "../../runtime/rules/index.ts";
import type { HistoryDialect, Piece } from "./history.ts";

/** A broken rule: where, the error it would cause, and what to do. */
export interface Finding {
  /** The number of the rule, such as `R03`. */
  readonly rule: string;
  readonly title: string;
  /** The place: `input[3]`, `messages.1.content.0`, `line 12`. */
  readonly location: string;
  /** What the API would answer. */
  readonly message: string;
  /** What to do about it. */
  readonly todo: string;
  /** Where the rule is documented or reported. */
  readonly evidence: string;
}

const RULES = new Map([...RESPONSES_RULES, ...MESSAGES_RULES, ...CHAT_RULES].map((rule) => [rule.id, rule]));

/** Adds title, location and advice to violations, such as those of a `RequestPreview`. */
export function findingsOf(
  violations: readonly Violation[],
  pieces: readonly Piece[] = [],
): readonly Finding[] {
  return violations.map((violation) => {
    const { title = "", todo = "", evidence = "" } = RULES.get(violation.rule) ?? {};
    const { rule, message } = violation;
    return { rule, title, location: whereIs(violation, pieces), message, todo, evidence };
  });
}

const KEYS: Readonly<Record<string, HistoryDialect>> = {
  R: "openai-responses",
  M: "anthropic-messages",
  Q: "openai-chat",
};

function whereIs({ rule, index, part }: Violation, pieces: readonly Piece[]): string {
  if (index === HEAD) return "the request";
  const piece = pieces[index];
  const dialect = KEYS[rule.slice(0, 1)] ?? "openai-responses";
  if (part !== undefined && piece?.parts?.[part] !== undefined) return piece.parts[part];
  const base = piece?.where ?? (dialect === "openai-responses" ? `input[${index}]` : `messages[${index}]`);
  if (part === undefined || piece?.parts !== undefined) return base;
  return dialect === "anthropic-messages" ? `${base}.content.${part}` : `${base}.tool_calls[${part}]`;
}
