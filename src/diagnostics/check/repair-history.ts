/**
 * Repairs a history of any known format with the smallest change after which every rule holds. It never invents an id or a
 * payload and never changes a byte of one. The result lists what was changed and what was lost. A history without
 * violations is returned unchanged.
 */

import {
  aChoice,
  aList,
  aText,
  checkOptions,
  type OptionCheck,
  type OptionChecks,
} from "../../base/support/index.ts";
import type { Violation } from "../../runtime/rules/index.ts";
import {
  chatVendorOf,
  damageFindings,
  HISTORY_OPTIONS,
  type HistoryOptions,
  notesOf,
  violationsOf,
} from "./check-history.ts";
import { aRule, ChosenRules, IN_PLACE } from "./chosen-rules.ts";
import { type Finding, findingsOf } from "./findings.ts";
import { openHistory, type OpenedHistory } from "./formats/index.ts";
import type { FormatName } from "./formats/names.ts";
import type { Edit, History, HistoryDialect } from "./history.ts";
import { textMember } from "./json-text.ts";
import { CHAT_REMEDIES } from "./repairs/chat.ts";
import { allReasoning, repairsFromError } from "./repairs/from-error.ts";
import { MESSAGES_REMEDIES } from "./repairs/messages.ts";
import type { Aim, Remedies, Repair } from "./repairs/repair.ts";
import { RESPONSES_REMEDIES } from "./repairs/responses.ts";
import { isReference, keptByServer } from "./server-state.ts";

/** Options of `repairHistory`. */
export interface RepairOptions extends HistoryOptions {
  /** The error message of the API, which can see what the rules cannot. */
  readonly error?: string | undefined;
  /**
   * Removes all payloads that only their maker can read, for a history that moves to another model or account. A function
   * chooses among them.
   */
  readonly dropReasoning?: boolean | ((payload: string) => boolean) | undefined;
  /**
   * `history` repairs the history alone, as for the request of another client: no parameter changes, except that thinking
   * may be switched off, no message is added, and references to what the server keeps stay. Default: the whole request.
   */
  readonly scope?: "history" | undefined;
  /** Repairs only violations of these rules, such as `R06`, and those that the repairs cause. Default: all rules. */
  readonly rules?: readonly string[] | undefined;
}

const aFlagOrChoice: OptionCheck = (value) =>
  typeof value === "boolean" || typeof value === "function" ? undefined : "true, false or a function";

const REPAIR_OPTIONS = {
  ...HISTORY_OPTIONS,
  error: aText,
  dropReasoning: aFlagOrChoice,
  scope: aChoice("history"),
  rules: aList(aRule, "numbers of rules"),
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
  /** What could not be repaired, or was not asked for with `rules`. */
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
  const { error, vendor } = options;
  let history = openHistory(content, options.format);
  const { format } = history;
  const aim = aimOf(history, options);
  const found = (): readonly Violation[] => repairable(history, vendor, aim);
  const chosen = new ChosenRules(options.rules, options.rules === undefined ? [] : found(), history);
  const changes: Change[] = [];
  const opened = (edits: readonly Edit[]): OpenedHistory => openHistory(history.apply(edits), format);
  const perform = (repairs: readonly Repair[]): boolean => {
    const { front } = keptByServer(history);
    let made = inOrder(unique(repairs.filter((repair) => isAllowed(repair, history, aim, front))));
    let next = opened(made.map(({ edit }) => edit));
    if (endOf(next, aim) === "answer" && endOf(history, aim) !== "answer") {
      made = made.filter(({ edit }) => !takesFrom(edit, history.pieces.length - 1));
      next = opened(made.map(({ edit }) => edit));
    }
    if (next.text === history.text) return false;
    if (endOf(next, aim) === "nothing" && endOf(history, aim) !== "nothing") return false;
    const edits = made.map(({ edit }) => edit);
    chosen.carry(history, found, edits, opened);
    changes.push(...made.map((repair) => changeOf(repair, history)));
    history = next;
    return true;
  };
  if (history.damage.length > 0) perform(cleaned());
  if (error !== undefined) perform(repairsFromError(error, history, aim));
  const { dropReasoning } = options;
  if (dropReasoning === true) perform(allReasoning(history, aim));
  else if (typeof dropReasoning === "function") perform(allReasoning(history, aim, dropReasoning));
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const repairs = found()
      .filter((one) => chosen.includes(one, history))
      .flatMap((one) => REMEDIES[history.dialect][one.rule]?.(one, history, aim) ?? []);
    if (!perform(repairs)) break;
  }
  const { version, dialect, pieces, text } = history;
  return {
    format,
    version,
    dialect,
    text,
    changes,
    remaining: [...damageFindings(history), ...findingsOf(violationsOf(history, vendor), pieces)],
    notes: notesOf(history),
  };
}

function aimOf(history: History, { scope, vendor }: RepairOptions): Aim {
  const { name, traits } = chatVendorOf(history, history.dialect === "openai-chat" ? vendor : undefined);
  return { historyOnly: scope === "history", vendor: name, traits };
}

/** Rules about calls and outputs. A reference may stand for either, even if the request says that nothing is stored. */
const PAIRS: ReadonlySet<string> = new Set(["R06", "R07", "R08"]);

function repairable(history: History, vendor: string | undefined, aim: Aim): readonly Violation[] {
  const found = violationsOf(history, vendor);
  const kept = keptByServer(history);
  if (!aim.historyOnly || kept.items || !history.pieces.some(isReference)) return found;
  const sure = violationsOf(history, vendor, { ...kept, items: true });
  const keys = new Set(sure.map(({ rule, index }) => `${rule} ${index}`));
  return found.filter(({ rule, index }) => !PAIRS.has(rule) || keys.has(`${rule} ${index}`));
}

/** Pieces change before they go, and go before others take their place. */
function inOrder(repairs: readonly Repair[]): readonly Repair[] {
  return repairs.toSorted((a, b) => phaseOf(a.edit) - phaseOf(b.edit));
}

function phaseOf(edit: Edit): number {
  if (IN_PLACE.has(edit.do)) return 0;
  return edit.do === "drop" ? 1 : 2;
}

function takesFrom(edit: Edit, index: number): boolean {
  return (edit.do === "drop" || edit.do === "move") && edit.at.index === index;
}

/**
 * What the request ends with, where that matters. No API accepts an empty request, and some refuse one in which the model
 * would go on from its own answer. Without words of ours, no repair may lead there.
 */
function endOf({ head, pieces, dialect }: History, aim: Aim): "nothing" | "answer" | "other" {
  const last = pieces.at(-1)?.text;
  if (last === undefined) return head === undefined ? "other" : "nothing";
  const refused =
    dialect === "anthropic-messages" || (dialect === "openai-chat" && !aim.traits.userAfterTool);
  return aim.historyOnly && refused && textMember(last, "role") === "assistant" ? "answer" : "other";
}

/** If the request continues a conversation on the server, its settings stay and no message is added to it. */
function isAllowed({ rule, edit, thinkingOff }: Repair, history: History, aim: Aim, front: boolean): boolean {
  if (edit.do === "add") return !aim.historyOnly && !front;
  if (edit.do === "head") return aim.historyOnly ? thinkingOff === true && !front : !front || rule === "R14";
  if (!aim.historyOnly || !("at" in edit)) return true;
  const piece = history.pieces[edit.at.index];
  return piece === undefined || !isReference(piece);
}

function cleaned(): readonly Repair[] {
  const edit: Edit = { do: "clean" };
  return [{ rule: "file", edit, what: "removed the unreadable lines", lost: "the content of those lines" }];
}

/** Two violations may need the same change, and a removed piece or part needs no other change. */
function unique(repairs: readonly Repair[]): readonly Repair[] {
  const seen = new Set<string>();
  const dropped = new Set(
    repairs.flatMap(({ edit }) => (edit.do === "drop" ? [spotKey(edit.at.index, edit.at.part)] : [])),
  );
  return repairs.filter(({ edit }) => {
    const key = JSON.stringify(edit);
    const gone =
      "at" in edit &&
      ((edit.at.part !== undefined && dropped.has(spotKey(edit.at.index))) ||
        (edit.do !== "drop" && dropped.has(spotKey(edit.at.index, edit.at.part))));
    if (seen.has(key) || gone) return false;
    seen.add(key);
    return true;
  });
}

function spotKey(index: number, part?: number): string {
  return `${index}.${part ?? ""}`;
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
