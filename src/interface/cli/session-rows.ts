/** Sessions as rows of a list, newest first. */

import { isoTime, messageOf } from "../../base/support/index.ts";
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
  /** The session that called it, if it is a sub-agent's. */
  readonly subAgentOf: string | undefined;
  readonly problem: string | undefined;
}

/** Yields rows lazily, newest first, optionally only those of one directory. */
export async function* rowsOf(store: Store, cwd?: string): AsyncGenerator<SessionRow> {
  for await (const stored of store.list()) {
    if (cwd === undefined || stored.summary?.cwd === cwd) yield await rowOf(store, stored);
  }
}

async function rowOf(store: Store, stored: StoredSession): Promise<SessionRow> {
  const { id, modifiedAt, bytes, summary } = stored;
  // An empty log file is a session without messages.
  const torn = summary?.events === 0 && bytes > 0;
  const problem = torn ? await emptyProblem(store, id) : stored.problem;
  return {
    id,
    modifiedAt: isoTime(modifiedAt),
    bytes,
    title: summary?.title,
    cwd: summary?.cwd,
    turns: summary?.turns ?? 0,
    subAgentOf: summary?.subAgentOf,
    problem,
  };
}

/** A summary cannot tell whether a writer is about to write the first event or has crashed before it. */
async function emptyProblem(store: Store, id: string): Promise<string | undefined> {
  try {
    const log = await store.open(id, { mode: "read" });
    await log.close();
    return log.events.length === 0 ? await crashLeft(log) : undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** The width limit of a title; wide characters take two columns. */
const TITLE_COLUMNS = 60;

/** `2026-11-16 01:02    3 turns  the title`, without the id. */
export function rowText({ modifiedAt, title, turns, subAgentOf, problem }: SessionRow): string {
  const what =
    problem === undefined
      ? `${String(turns).padStart(3)} ${turns === 1 ? "turn " : "turns"}  ${fitted(inertLine(title ?? "", Number.POSITIVE_INFINITY), TITLE_COLUMNS)}`
      : `! ${fitted(inertLine(problem, Number.POSITIVE_INFINITY), TITLE_COLUMNS)}`;
  const caller = subAgentOf === undefined ? "" : `  (sub-agent of ${inertLine(subAgentOf, 64)})`;
  return `${modifiedAt.slice(0, 16).replace("T", " ")}  ${what}${caller}`;
}
