/** Which refusals are about the history, and which rules belong to each (docs/replay-rules.md). */

import type { Dialect, ErrorInfo } from "../../base/events/index.ts";
import { namedInError } from "../../runtime/providers/index.ts";

type HistoryClass =
  | "PAIR"
  | "CRYPT"
  | "THINK"
  | "ECHO"
  | "GONE"
  | "PREFIX"
  | "TOOLPAIR"
  | "ID"
  | "SCHEMA"
  | "CAP";

const RULES: Readonly<Record<HistoryClass, Readonly<Record<Dialect, readonly string[]>>>> = {
  PAIR: { "openai-responses": ["R01", "R02", "R15"], "anthropic-messages": [], "openai-chat": [] },
  CRYPT: {
    "openai-responses": ["R03", "R16"],
    "anthropic-messages": ["M03", "M05"],
    "openai-chat": ["Q05", "Q06"],
  },
  THINK: {
    "openai-responses": [],
    "anthropic-messages": ["M01", "M02", "M05", "M06"],
    "openai-chat": ["Q03"],
  },
  ECHO: { "openai-responses": [], "anthropic-messages": ["M02"], "openai-chat": ["Q03"] },
  GONE: { "openai-responses": ["R03"], "anthropic-messages": [], "openai-chat": [] },
  PREFIX: { "openai-responses": [], "anthropic-messages": ["M04", "M05"], "openai-chat": [] },
  TOOLPAIR: {
    "openai-responses": ["R06", "R07", "R08"],
    "anthropic-messages": ["M07", "M08", "M09", "M12", "M13", "M24"],
    "openai-chat": ["Q01", "Q02"],
  },
  ID: {
    "openai-responses": ["R04", "R05", "R09"],
    "anthropic-messages": ["M11", "M12"],
    "openai-chat": ["Q08"],
  },
  SCHEMA: {
    "openai-responses": ["R05", "R09", "R10", "R11", "R12", "R13", "R17", "R18"],
    "anthropic-messages": ["M11", "M14", "M15", "M17", "M18", "M22", "M23", "M25"],
    "openai-chat": ["Q02", "Q04", "Q06", "Q08", "Q09", "Q10", "Q11", "Q12"],
  },
  CAP: { "openai-responses": ["R11", "R16"], "anthropic-messages": ["M06"], "openai-chat": ["Q04"] },
};

export function isAboutHistory(error: ErrorInfo): boolean {
  const name = error.class ?? "OTHER";
  if (!Object.hasOwn(RULES, name) || error.code === "previous_response_not_found") return false;
  if (name !== "SCHEMA" && name !== "CAP") return true;
  // A parameter is the client's own choice.
  const { path, field } = namedInError(error);
  return path !== undefined || field === undefined;
}

/** The rules of a class; of all classes if none is named. */
export function rulesOf(classes: ReadonlySet<string>, dialect: Dialect): readonly string[] {
  const chosen = Object.entries(RULES).filter(([name]) => classes.has(name) || classes.has("ALL"));
  return [...new Set(chosen.flatMap(([, rules]) => rules[dialect]))];
}
