/**
 * Repairs a history of any known format with the smallest change after which every rule holds. It never invents an id or a
 * payload and never changes a byte of one. The result lists what was changed and what was lost. A history without
 * violations is returned unchanged.
 */

import { aFlag, aText, checkOptions, type OptionChecks } from "../../base/support/index.ts";
import {
  damageFindings,
  HISTORY_OPTIONS,
  type HistoryOptions,
  notesOf,
  violationsOf,
} from "./check-history.ts";
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

/** Options of `repairHistory`. */
export interface RepairOptions extends HistoryOptions {
  /** The error message of the API, which can see what the rules cannot. */
  readonly error?: string | undefined;
  /** Removes all payloads that only their maker can read, for a history that moves to another model or account. */
  readonly dropReasoning?: boolean | undefined;
}

const REPAIR_OPTIONS = {
  ...HISTORY_OPTIONS,
  error: aText,
  dropReasoning: aFlag,
} satisfies OptionChecks<RepairOptions>;

/** A change that a repair made. */
export interface Change {
  /** The rule that made it necessary. */
  readonly rule: string;
  /** The place, as in `Finding.location`. */
  readonly location: string;
  /** What was changed, in words. */
  readonly what: string;
  /** What the history no longer contains. */
  readonly lost?: string | undefined;
}

/** A repaired history and what changed in it. */
export interface RepairedHistory {
  readonly format: FormatName;
  readonly version?: string | undefined;
  readonly dialect: HistoryDialect;
  /** The same text if nothing was changed. */
  readonly text: string;
  readonly changes: readonly Change[];
  /** What could not be repaired. */
  readonly remaining: readonly Finding[];
  /** What could not be checked, because only the server knows it. The repair changed nothing there. */
  readonly notes?: readonly string[] | undefined;
}

const REMEDIES: Readonly<Record<HistoryDialect, Remedies>> = {
  "openai-responses": RESPONSES_REMEDIES,
  "anthropic-messages": MESSAGES_REMEDIES,
  "openai-chat": CHAT_REMEDIES,
};

/** A repair may reveal the next problem: a call that was closed, or a thought that lost its follower. */
const MOST_ROUNDS = 100;

/** Makes the smallest change to a raw history after which every rule holds. Invents no id and no payload. */
export function repairHistory(content: string | Uint8Array, options: RepairOptions = {}): RepairedHistory {
  checkOptions("repairHistory", options, REPAIR_OPTIONS);
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

/** If the request continues a conversation on the server, its settings stay and no message is added to it. */
function isOfThisRequest({ rule, edit }: Repair): boolean {
  return edit.do !== "add" && (edit.do !== "head" || rule === "R14");
}

function cleaned(): readonly Repair[] {
  const edit: Edit = { do: "clean" };
  return [{ rule: "file", edit, what: "removed the unreadable lines", lost: "the content of those lines" }];
}

/** Two violations may need the same change, and a removed piece needs no other change. */
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
