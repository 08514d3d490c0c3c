/**
 * Checks a history of any known format against every numbered rule of its dialect. A finding has the place, the error it
 * would cause, and what to do. Payloads are not decrypted and not needed.
 */

import {
  anything,
  checkOptions,
  codedError,
  didYouMean,
  type OptionChecks,
} from "../../base/support/index.ts";
import {
  CHAT_VENDORS,
  type ChatTraits,
  createRequestCheck,
  type KeptByServer,
  type RequestCheck,
  type Violation,
} from "../../runtime/rules/index.ts";
import { type Finding, findingsOf } from "./findings.ts";
import { openHistory } from "./formats/index.ts";
import { aFormat, type FormatName } from "./formats/names.ts";
import type { History, HistoryDialect } from "./history.ts";
import { textMember } from "./json-text.ts";
import { keptByServer, notJudged } from "./server-state.ts";

/** Options of `checkHistory`. */
export interface HistoryOptions {
  /** The format of the file. Default: detected from the content. */
  readonly format?: FormatName | undefined;
  /** The vendor of the chat API: openai, deepseek, kimi, mistral, groq, openrouter … Default: from the model's name. */
  readonly vendor?: string | undefined;
}

// An unknown vendor has an error code of its own.
export const HISTORY_OPTIONS = {
  format: aFormat,
  vendor: anything,
} satisfies OptionChecks<HistoryOptions>;

/** What `checkHistory` found. */
export interface CheckedHistory {
  readonly format: FormatName;
  /** The version of the format, if the file says it. */
  readonly version?: string | undefined;
  readonly dialect: HistoryDialect;
  /** The number of items or messages in the request that the history would become. */
  readonly pieces: number;
  readonly findings: readonly Finding[];
  /** What could not be checked, because only the server knows it. */
  readonly notes?: readonly string[] | undefined;
}

/** Checks a raw history against every numbered rule of its dialect. Throws `input_invalid` for an unknown format. */
export function checkHistory(content: string | Uint8Array, options: HistoryOptions = {}): CheckedHistory {
  checkOptions("checkHistory", options, HISTORY_OPTIONS);
  const history = openHistory(content, options.format);
  const { format, version, dialect, pieces } = history;
  return {
    format,
    version,
    dialect,
    pieces: pieces.length,
    findings: [...damageFindings(history), ...findingsOf(violationsOf(history, options.vendor), pieces)],
    notes: notesOf(history),
  };
}

/** Undefined if everything was checked. */
export function notesOf(history: History): readonly string[] | undefined {
  const notes = notJudged(history);
  return notes.length === 0 ? undefined : notes;
}

export function violationsOf(
  history: History,
  vendor: string | undefined,
  kept: KeptByServer = keptByServer(history),
): readonly Violation[] {
  const check = startCheck(history, vendor, kept);
  for (const { text, context } of history.pieces) check.push(text, context);
  if (history.head === undefined && endsWithAnswer(history)) check.push(NEXT);
  return check.violations().filter(({ index }) => index < history.pieces.length);
}

/** A stored history is checked as it will be sent: with the user's next message, the same text in every dialect. */
const NEXT = '{"role":"user","content":"Go on."}';

function endsWithAnswer({ pieces }: History): boolean {
  const last = pieces.at(-1)?.text;
  if (last === undefined) return false;
  const role = textMember(last, "role");
  return (
    role === "assistant" || (role === undefined && !(textMember(last, "type") ?? "").endsWith("_output"))
  );
}

function startCheck(history: History, vendor: string | undefined, kept: KeptByServer): RequestCheck {
  const { dialect, head } = history;
  if (dialect === "openai-chat") {
    const { traits } = chatVendorOf(history, vendor);
    return createRequestCheck("openai-chat", { traits, head });
  }
  return dialect === "openai-responses"
    ? createRequestCheck(dialect, { head, kept })
    : createRequestCheck(dialect, { head, keptFront: kept.front });
}

export interface ChatVendor {
  readonly name: string | undefined;
  readonly traits: ChatTraits;
}

/** If neither the options nor the model's name say the vendor, only rules of all vendors apply. */
export function chatVendorOf({ head = "" }: History, vendor: string | undefined): ChatVendor {
  const model = textMember(head, "model") ?? "";
  const name = vendor ?? VENDORS.find(([pattern]) => pattern.test(model))?.[1];
  if (name === undefined) return { name, traits: ANY_VENDOR };
  if (Object.hasOwn(CHAT_VENDORS, name))
    return { name, traits: CHAT_VENDORS[name as keyof typeof CHAT_VENDORS] };
  throw codedError(
    "vendor_unknown",
    `unknown vendor "${name}"; use one of ${Object.keys(CHAT_VENDORS).join(", ")}${didYouMean(name, Object.keys(CHAT_VENDORS))}`,
  );
}

const ANY_VENDOR: ChatTraits = {
  ...CHAT_VENDORS.openai,
  unknownField: "ignored",
  maxCallIdLength: Number.POSITIVE_INFINITY,
};

const VENDORS: readonly (readonly [RegExp, keyof typeof CHAT_VENDORS])[] = [
  [/^(?:emu-deepseek-old|deepseek-reasoner)/, "deepseek-old"],
  [/deepseek/, "deepseek"],
  [/kimi|moonshot/, "kimi"],
  [/mistral|ministral|devstral|codestral/, "mistral"],
  [/^emu-groq|^groq\//, "groq"],
  [/^emu-router|^openrouter\//, "openrouter"],
  [/^(?:emu-chat|gpt-|o\d|chatgpt-)/, "openai"],
];

export function damageFindings({ damage }: History): readonly Finding[] {
  return damage.map(({ where, problem }) => ({
    rule: "file",
    title: "Every line can be read",
    location: where,
    message: problem,
    todo: "Remove the line: the tool that wrote the file skips it or stops there.",
    evidence: "H08",
  }));
}
