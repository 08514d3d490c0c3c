/**
 * Repair of a history of any known format: the smallest change after which every rule holds, never an invented id or
 * payload, never a changed byte of one. What was done and what was lost is told. A history with nothing wrong comes back as
 * it is.
 */

import { damageFindings, type HistoryOptions, notesOf, violationsOf } from "./check-history.ts";
import { type Finding, findingsOf } from "./findings.ts";
import { openHistory } from "./formats/index.ts";
import type { FormatName } from "./formats/names.ts";
import type { Edit, History, HistoryDialect } from "./history.ts";
import { CHAT_REMEDIES } from "./repairs/chat.ts";
import { allReasoning, repairsFromError } from "./repairs/from-error.ts";
import { MESSAGES_REMEDIES } from "./repairs/messages.ts";
import type { Remedies, Repair } from "./repairs/repair.ts";
import { RESPONSES_REMEDIES } from "./repairs/responses.ts";
import { keptByServer } from "./server-state.ts";

export interface RepairOptions extends HistoryOptions {
  /** The error the API answered with: it sees what the rules cannot. */
  readonly error?: string | undefined;
  /** All payloads only their maker can read go out: for a history that moves to another model or account. */
  readonly dropReasoning?: boolean | undefined;
}

export interface Change {
  readonly rule: string;
  readonly location: string;
  readonly what: string;
  /** What is not in the history any more. */
  readonly lost?: string | undefined;
}

export interface RepairedHistory {
  readonly format: FormatName;
  readonly version?: string | undefined;
  readonly dialect: HistoryDialect;
  /** The same text when nothing was changed. */
  readonly text: string;
  readonly changes: readonly Change[];
  /** What could not be repaired. */
  readonly remaining: readonly Finding[];
  /** What could not be judged, because only the server knows it; nothing was changed for its sake. */
  readonly notes?: readonly string[] | undefined;
}

const REMEDIES: Readonly<Record<HistoryDialect, Remedies>> = {
  "openai-responses": RESPONSES_REMEDIES,
  "anthropic-messages": MESSAGES_REMEDIES,
  "openai-chat": CHAT_REMEDIES,
};

/** A repair may bring the next thing to light: a call that was closed, a thought that lost its follower. */
const MOST_ROUNDS = 100;

export function repairHistory(content: string | Uint8Array, options: RepairOptions = {}): RepairedHistory {
  let history = openHistory(content, options.format);
  const { format } = history;
  const changes: Change[] = [];
  let text = history.text;
  const perform = (repairs: readonly Repair[]): boolean => {
    const chosen = unique(repairs);
    const next = history.apply(chosen.map(({ edit }) => edit));
    if (next === text) return false;
    changes.push(...chosen.map((repair) => changeOf(repair, history)));
    text = next;
    history = openHistory(text, format);
    return true;
  };
  if (history.damage.length > 0) perform(cleaned());
  if (options.error !== undefined) perform(repairsFromError(options.error, history));
  if (options.dropReasoning === true) perform(allReasoning(history));
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const violations = violationsOf(history, options.vendor);
    const repairs = violations.flatMap(
      (found) => REMEDIES[history.dialect][found.rule]?.(found, history) ?? [],
    );
    if (!perform(keptByServer(history).front ? repairs.filter(isOfThisRequest) : repairs)) break;
  }
  const { version, dialect, pieces } = history;
  return {
    format,
    version,
    dialect,
    text,
    changes,
    remaining: [...damageFindings(history), ...findingsOf(violationsOf(history, options.vendor), pieces)],
    notes: notesOf(history),
  };
}

/** Where a conversation goes on that the server has, its settings stay and nothing is said in anybody's name. */
function isOfThisRequest({ rule, edit }: Repair): boolean {
  return edit.do !== "add" && (edit.do !== "head" || rule === "R14");
}

function cleaned(): readonly Repair[] {
  const edit: Edit = { do: "clean" };
  return [
    { rule: "file", edit, what: "left out the lines that cannot be read", lost: "what stood in those lines" },
  ];
}

/** Two violations may ask for the same change, and what goes needs no other. */
function unique(repairs: readonly Repair[]): readonly Repair[] {
  const seen = new Set<string>();
  const dropped = new Set(repairs.flatMap(({ edit }) => (edit.do === "drop" ? [spotKey(edit)] : [])));
  return repairs.filter(({ edit }) => {
    const key = JSON.stringify(edit);
    if (seen.has(key) || (edit.do !== "drop" && "at" in edit && dropped.has(spotKey(edit)))) return false;
    seen.add(key);
    return true;
  });
}

function spotKey(edit: Extract<Edit, { readonly at: unknown }>): string {
  return `${edit.at.index}.${edit.at.part ?? ""}`;
}

function changeOf({ rule, edit, what, lost }: Repair, history: History): Change {
  return { rule, location: whereIs(edit, history), what, lost };
}

function whereIs(edit: Edit, { pieces, damage }: History): string {
  if (edit.do === "head") return "the request";
  if (edit.do === "clean") return damage.map(({ where }) => where).join(", ");
  if (edit.do === "add") return pieces[edit.before]?.where ?? "the end";
  const piece = pieces[edit.at.index];
  const { part } = edit.at;
  if (part === undefined) return piece?.where ?? "";
  return piece?.parts?.[part] ?? `${piece?.where ?? ""}, part ${part}`;
}
