/**
 * A history of another tool → a whole session. Answers name their origin. The account cannot be known from a file, so
 * thoughts count as another account's, and are translated, unless the caller says which model of its own made them.
 */

import { createHash } from "node:crypto";

import type { EventDraft, LoggedEvent, Origin } from "../../base/events/index.ts";
import {
  aChoice,
  aText,
  checkArgument,
  checkOptions,
  type Clock,
  createIdSource,
  isoTime,
  type OptionChecks,
  systemClock,
  VERSION,
} from "../../base/support/index.ts";
import { type AppendDraft, memoryStore, type Store } from "../../runtime/log/index.ts";
import type { Model } from "../../runtime/providers/index.ts";
import {
  aModel,
  aStore,
  planRepair,
  previewFromLog,
  settingsFor,
  titleOf,
} from "../../runtime/session/index.ts";
import { type AnswerEntry, FORMATS, type FormatName, type ReadHistory, readHistory } from "../check/index.ts";
import { type EventCounts, sessionEvents } from "./session-events.ts";

/** Options of `historySession`. */
export interface HistorySessionOptions {
  /** The id of the session. Default: made from the content, so that the same file gives the same id. */
  readonly id?: string | undefined;
  /** The format of the file. Default: detected from the content. */
  readonly format?: FormatName | undefined;
  /** The model, with your key, that made the answers. Its thoughts then go back to it. Default: another account's. */
  readonly from?: Model | undefined;
  /** The name of the file, for the notice in the log. */
  readonly name?: string | undefined;
  /** Returns the directory of the session, given the one that the file names. Default: none. */
  readonly chooseCwd?: ((named: string | undefined) => string | undefined) | undefined;
  /** For tests. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Options of `importHistory`. */
export type ImportHistoryOptions = Omit<HistorySessionOptions, "chooseCwd" | "clock">;

const OPTIONS: OptionChecks<ImportHistoryOptions> = {
  id: aText,
  format: aChoice(...Object.keys(FORMATS)),
  from: aModel,
  name: aText,
};

/** What was imported, and what of it a model will get. */
export interface ImportedHistory extends EventCounts {
  readonly id: string;
  readonly format: FormatName;
  /** The version that the file states. */
  readonly version?: string | undefined;
  /** The models that made the answers, as `provider/model`, in the order of their first answer. */
  readonly models: readonly string[];
  /** How many thoughts go back to the model named by `from`. */
  readonly thoughtsKept: number;
  /** Why the others do not, with their numbers. */
  readonly thoughtsDropped: Readonly<Record<string, number>>;
  /** What of the file is not in the session: `2 system messages`. */
  readonly leftOut: readonly string[];
}

/** A session that is ready to be written. */
export interface HistorySession {
  readonly id: string;
  readonly events: readonly AppendDraft[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  readonly report: ImportedHistory;
}

/**
 * Imports a history of another tool (a Codex rollout, a pi session, a Claude Code transcript, AI SDK or LangChain
 * messages …) into a store as a new session, as a whole or not at all. Throws `session_exists` if the same file was
 * imported before and no other `id` is given.
 */
export async function importHistory(
  store: Store,
  content: string | Uint8Array,
  options: ImportHistoryOptions = {},
): Promise<ImportedHistory> {
  checkArgument("importHistory", "store", store, aStore);
  checkOptions("importHistory", options, OPTIONS);
  const { id, events, blobs, report } = await historySession(content, options);
  await store.create(id, { events, blobs });
  return report;
}

export async function historySession(
  content: string | Uint8Array,
  options: HistorySessionOptions = {},
): Promise<HistorySession> {
  const { from, name, chooseCwd, clock = systemClock } = options;
  const history = readHistory(content, options.format);
  const sha256 = createHash("sha256").update(content).digest("hex");
  const id = options.id ?? `imported_${sha256.slice(0, 20)}`;
  const now = isoTime(clock.now());
  const models = new Map<string, Origin>();
  const originOf = (answer: AnswerEntry): Origin => {
    const origin = originIn(answer, from);
    models.set(`${origin.provider}/${origin.model}`, origin);
    return origin;
  };
  const start: AppendDraft = {
    type: "session_start",
    session: id,
    root: id,
    cwd: chooseCwd?.(history.cwd),
    writer: `throughline/${VERSION}`,
  };
  const settings: readonly EventDraft[] =
    from === undefined ? [] : [{ type: "settings", settings: settingsFor(from, { model: from }) }];
  const ids = createIdSource(() => clock.now());
  const written = sessionEvents(history.entries, { ids, originOf, now, firstSeq: 2 + settings.length });
  const title = history.title ?? titleOf(written.firstMessage);
  const leftOut = [...history.leftOut, ...lostResults(written.counts)];
  const notice: EventDraft = {
    type: "notice",
    code: "imported",
    message: noticeText(history, { name, sha256, leftOut }),
  };
  const events = [
    start,
    notice,
    ...settings,
    ...written.drafts,
    ...(title === "" ? [] : [{ type: "title", title: titleOf(title) } as const]),
  ];
  const whole = { events, blobs: written.blobs };
  const { repairs, kept, dropped } = await atHome(id, whole, from);
  return {
    id,
    events: [...events, ...repairs],
    blobs: written.blobs,
    report: {
      id,
      format: history.format,
      version: history.version,
      ...written.counts,
      models: [...models.keys()],
      thoughtsKept: kept,
      thoughtsDropped: dropped,
      leftOut,
    },
  };
}

/**
 * Another program may have written what no API takes back. The corrections are part of the session, so that its first
 * request is accepted; and the rendered request says which thoughts it carries.
 */
async function atHome(
  id: string,
  whole: { readonly events: readonly AppendDraft[]; readonly blobs: ReadonlyMap<string, Uint8Array> },
  from: Model | undefined,
): Promise<{
  readonly repairs: readonly EventDraft[];
  readonly kept: number;
  readonly dropped: Readonly<Record<string, number>>;
}> {
  const thoughts = whole.events.filter(({ type }) => type === "reasoning").length;
  if (from === undefined)
    return { repairs: [], kept: 0, dropped: thoughts === 0 ? {} : { foreign_origin: thoughts } };
  const store = memoryStore();
  await store.create(id, whole);
  const log = await store.open(id, { mode: "write" });
  const { drafts: repairs } = await planRepair(log);
  await log.append(repairs);
  const { decisions } = await previewFromLog(log);
  await log.close();
  const isThought = new Set(
    log.events.filter((event: LoggedEvent) => event.type === "reasoning").map(({ seq }) => seq),
  );
  const dropped: Record<string, number> = {};
  let kept = 0;
  for (const { seq, action, reason } of decisions) {
    if (!isThought.has(seq)) continue;
    if (action === "replay") kept += 1;
    else dropped[reason] = (dropped[reason] ?? 0) + 1;
  }
  return { repairs, kept, dropped };
}

/** What the file does not say is "unknown". The credential equals no real one, so the answers are abroad everywhere. */
function originIn({ dialect, provider, model }: AnswerEntry, from: Model | undefined): Origin {
  const target = from?.settings.target;
  if (
    target !== undefined &&
    target.dialect === dialect &&
    (model === undefined || isSameModel(model, target.model))
  )
    return target;
  return {
    provider: provider ?? "unknown",
    dialect,
    model: model ?? "unknown",
    endpoint: "unknown",
    credential: "imported",
  };
}

/** Files name the served model, which may end with a date: `claude-opus-5-20260101`. */
function isSameModel(stated: string, model: string): boolean {
  return stated === model || undated(stated) === undated(model);
}

function undated(name: string): string {
  return name.replace(/^[^/]+\//, "").replace(/-(?:20\d{6}|20\d\d-\d\d-\d\d|latest)$/, "");
}

function lostResults({ lostResults: count }: EventCounts): readonly string[] {
  if (count === 0) return [];
  return [count === 1 ? "1 tool result without its call" : `${count} tool results without their calls`];
}

function noticeText(
  { format, version }: ReadHistory,
  about: { readonly name: string | undefined; readonly sha256: string; readonly leftOut: readonly string[] },
): string {
  const { name, sha256, leftOut } = about;
  const [what = format] = FORMATS[format].split(/ \(|: /);
  const file = name === undefined ? "" : `, file ${name}`;
  const said = version === undefined ? "" : ` ${version}`;
  const left = leftOut.length === 0 ? "" : `. Left out: ${leftOut.join(", ")}`;
  return `imported from ${format}${said} (${what})${file}, sha256 ${sha256}${left}`;
}
