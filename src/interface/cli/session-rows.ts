/**
 * Sessions as rows: the newest first, and of each only what a list shows. Only rows that are shown are read.
 */

import { isoTime, messageOf } from "../../base/support/index.ts";
import { factsOf } from "../../runtime/facts/index.ts";
import type { Store, StoredSession } from "../../runtime/log/index.ts";
import { crashLeft } from "./crash-left.ts";
import { inertLine } from "./inert-text.ts";
import { fitted } from "./text-width.ts";

export interface SessionRow {
  readonly id: string;
  readonly modifiedAt: string;
  readonly bytes: number;
  readonly title: string | undefined;
  readonly cwd: string | undefined;
  readonly turns: number;
  readonly problem: string | undefined;
}

/** Two machines that share a folder seldom agree to the second. */
const SKEW_MS = 60_000;

/**
 * A session of the future was written before the clock was set back: it comes behind those of the present, or `-c` would
 * go on with it until its time has come.
 */
export async function newestFirst(store: Store, now = Date.now()): Promise<readonly StoredSession[]> {
  const all: StoredSession[] = [];
  for await (const stored of store.list()) all.push(stored);
  const isFuture = ({ modifiedAt }: StoredSession): number => (modifiedAt > now + SKEW_MS ? 1 : 0);
  return all.toSorted((a, b) => isFuture(a) - isFuture(b) || b.modifiedAt - a.modifiedAt);
}

/** Newest first, read one by one as they are asked for; of one directory, where one is given. */
export async function* rowsOf(store: Store, cwd?: string): AsyncGenerator<SessionRow> {
  for (const stored of await newestFirst(store)) {
    const row = await describe(store, stored);
    if (cwd === undefined || row.cwd === cwd) yield row;
  }
}

async function describe(store: Store, { id, modifiedAt, bytes }: StoredSession): Promise<SessionRow> {
  const base = { id, modifiedAt: isoTime(modifiedAt), bytes };
  try {
    const log = await store.open(id, { mode: "read" });
    await log.close();
    const { title, cwd, turns } = factsOf(log.events);
    const problem = log.events.length === 0 ? await crashLeft(log) : undefined;
    return { ...base, title, cwd, turns: turns.size, problem };
  } catch (error) {
    return { ...base, title: undefined, cwd: undefined, turns: 0, problem: messageOf(error) };
  }
}

/** How wide a title may be: wide signs take two columns. */
const TITLE_COLUMNS = 60;

/** `2026-11-16 01:02    3 turns  the title`, without the id. */
export function rowText({ modifiedAt, title, turns, problem }: SessionRow): string {
  const what =
    problem === undefined
      ? `${String(turns).padStart(3)} ${turns === 1 ? "turn " : "turns"}  ${fitted(inertLine(title ?? "", Number.POSITIVE_INFINITY), TITLE_COLUMNS)}`
      : `! ${fitted(inertLine(problem, Number.POSITIVE_INFINITY), TITLE_COLUMNS)}`;
  return `${modifiedAt.slice(0, 16).replace("T", " ")}  ${what}`;
}
