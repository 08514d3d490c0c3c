/**
 * A session's summary as one line of a file, framed like a line of the log. It names the session and the state of the
 * log it was taken from. A line that does not match in every way is not a summary; the caller reads the log instead.
 */

import type { Origin, Usage } from "../../base/events/index.ts";
import { checkedLine, frameOpen } from "../../base/files/index.ts";
import { isObject, type JsonObject, numberOf, stringOf, tryParseJson } from "../../base/support/index.ts";
import type { Spent, StoredSummary } from "../facts/index.ts";

/** Changes with every append, and whenever another file replaces the log. */
export interface LogState {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ino: bigint;
}

export function sameState(a: LogState, b: LogState): boolean {
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.ino === b.ino;
}

/** Changes whenever the content or meaning of a line does. Lines with any other version are ignored. */
const VERSION = 2;

/** Each origin is stored once and usage as rows: most of a long session's summary is the usage of its requests. */
export function summaryLine(session: string, state: LogState, { spent, ...summary }: StoredSummary): Buffer {
  const origins = new Map<string, number>();
  const rows = spent.map(({ origin, usage, subAgent }) => {
    if (subAgent === undefined) return [indexOf(origins, origin), ...rowOf(usage)];
    return [subAgent.session, subAgent.costUsd ?? null, ...rowOf(usage)];
  });
  const text = JSON.stringify({
    v: VERSION,
    session,
    ...marksOf(state),
    ...summary,
    origins: [...origins.keys()].map((origin) => JSON.parse(origin) as unknown),
    spent: rows,
  });
  return frameOpen(text.slice(0, -1));
}

/** Returns undefined if this is not a summary of this session in this state. */
export function parseSummary(line: Buffer, session: string, state: LogState): StoredSummary | undefined {
  if (line.at(-1) !== 0x0a) return undefined;
  const text = checkedLine(line.subarray(0, -1));
  const read = text === undefined ? undefined : tryParseJson(text);
  if (!isObject(read) || read["v"] !== VERSION || read["session"] !== session) return undefined;
  const marks = marksOf(state);
  if (read["size"] !== marks.size || read["mtime"] !== marks.mtime || read["inode"] !== marks.inode)
    return undefined;
  return summaryIn(read);
}

/** As strings: nanoseconds, and inodes on some file systems, exceed the range of a JSON number. */
function marksOf({ size, mtimeNs, ino }: LogState): Readonly<Record<"size" | "mtime" | "inode", string>> {
  return { size: String(size), mtime: String(mtimeNs), inode: String(ino) };
}

function indexOf(origins: Map<string, number>, origin: Origin | undefined): number {
  if (origin === undefined) return UNKNOWN;
  const { provider, dialect, model, endpoint, credential } = origin;
  const key = JSON.stringify({ provider, dialect, model, endpoint, credential });
  const known = origins.get(key);
  if (known !== undefined) return known;
  origins.set(key, origins.size);
  return origins.size - 1;
}

const UNKNOWN = -1;

function rowOf(usage: Usage): readonly number[] {
  const { inputTokens, cachedTokens, outputTokens, reasoningTokens, contextTokens } = usage;
  const row = [inputTokens, cachedTokens, outputTokens, reasoningTokens];
  return contextTokens === undefined ? row : [...row, contextTokens];
}

/** The checksum proves that the line is as written, not that its writer was right, so every field is checked. */
function summaryIn(read: JsonObject): StoredSummary | undefined {
  const [events, turns, turnsEnded] = ["events", "turns", "turnsEnded"].map((name) => numberOf(read[name]));
  const texts = ["title", "cwd", "model", "openTurn", "subAgentOf"].map((name) => read[name]);
  const [usage, spent] = [usageIn(read["usage"]), spentIn(read["origins"], read["spent"])];
  if (events === undefined || turns === undefined || turnsEnded === undefined) return undefined;
  if (usage === undefined || spent === undefined) return undefined;
  if (texts.some((text) => text !== undefined && typeof text !== "string")) return undefined;
  const [title, cwd, model, openTurn, subAgentOf] = texts.map(stringOf);
  return { events, title, cwd, model, usage, turns, turnsEnded, subAgentOf, openTurn, spent };
}

function usageIn(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const { inputTokens, cachedTokens, outputTokens, reasoningTokens, contextTokens } = value;
  return usageOf([
    inputTokens,
    cachedTokens,
    outputTokens,
    reasoningTokens,
    ...(contextTokens === undefined ? [] : [contextTokens]),
  ]);
}

function usageOf(row: readonly unknown[]): Usage | undefined {
  if (row.length < 4 || row.length > 5 || row.some((one) => numberOf(one) === undefined)) return undefined;
  const [inputTokens = 0, cachedTokens = 0, outputTokens = 0, reasoningTokens = 0, contextTokens] =
    row as readonly number[];
  const usage = { inputTokens, cachedTokens, outputTokens, reasoningTokens };
  return contextTokens === undefined ? usage : { ...usage, contextTokens };
}

function spentIn(origins: unknown, rows: unknown): readonly Spent[] | undefined {
  if (!Array.isArray(origins) || !Array.isArray(rows) || !origins.every(isOrigin)) return undefined;
  const spent: Spent[] = [];
  for (const row of rows as readonly unknown[]) {
    if (!Array.isArray(row)) return undefined;
    const [at, ...counts] = row as readonly unknown[];
    if (typeof at === "string") {
      const [cost, ...own] = counts;
      const usage = usageOf(own);
      if (usage === undefined || (cost !== null && numberOf(cost) === undefined)) return undefined;
      const subAgent = { session: at, costUsd: numberOf(cost) };
      spent.push({ origin: undefined, usage, subAgent });
      continue;
    }
    const usage = usageOf(counts);
    const origin = origins[numberOf(at) ?? UNKNOWN];
    if (usage === undefined || (origin === undefined && at !== UNKNOWN)) return undefined;
    spent.push({ origin, usage });
  }
  return spent;
}

function isOrigin(value: unknown): value is Origin {
  return (
    isObject(value) &&
    ["provider", "dialect", "model", "endpoint", "credential"].every(
      (name) => typeof value[name] === "string",
    )
  );
}
