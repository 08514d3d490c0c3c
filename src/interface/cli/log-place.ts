/** Where the log of a session is, for `repair`, which also works on logs that no store can open: in a folder, or in the database. */

import { basename, dirname, join, resolve } from "node:path";

import { codedError, codeOf, isThroughlineError, readProblem } from "../../base/support/index.ts";
import {
  fileStore,
  type Log,
  readWholeFile,
  type SessionBundle,
  writeSession,
} from "../../runtime/log/index.ts";
import { blobsBeside } from "./blobs-beside.ts";
import { type Database, openDatabase } from "./open-store.ts";

type Whole = Pick<SessionBundle, "lines" | "blobs">;

export interface RawLog extends Whole {
  /** What is wrong that the lines do not show. */
  readonly problem?: string | undefined;
}

export interface LogPlace {
  readonly id: string;
  /** How a report names it. */
  readonly name: string;
  /** Its lines as they are, damaged or not. */
  read(): Promise<RawLog>;
  open(mode: "read" | "write"): Promise<Log>;
  /** A session of this place. Fails with `file_exists` if there is one. */
  create(whole: Whole): Promise<void>;
  /** The same place, for another session. */
  other(id: string): LogPlace;
}

export function filePlace(path: string): LogPlace {
  const full = resolve(path);
  return folderPlace(dirname(full), basename(full, ".jsonl"));
}

export function folderPlace(folder: string, id: string): LogPlace {
  const path = join(folder, `${id}.jsonl`);
  return {
    id,
    name: path,
    read: async () => ({ lines: readLog(path), blobs: blobsBeside(path) }),
    open: (mode) => fileStore(folder).open(id, { mode }),
    create: (whole) =>
      creating(path, "choose another name that ends in .jsonl with -o, or remove it", async () =>
        writeSession(folder, whole, { id }),
      ),
    other: (next) => folderPlace(folder, next),
  };
}

export async function databasePlace(database: Database, id: string): Promise<LogPlace> {
  const store = await openDatabase(database);
  const { engineOf, rawSession } = await import("../../runtime/postgres/index.ts");
  const engine = engineOf(store);
  if (engine === undefined) throw new Error("the store has no engine");
  const place = (own: string): LogPlace => ({
    id: own,
    name: `session ${own} in the PostgreSQL store`,
    read: () => rawSession(engine, "", own),
    open: (mode) => store.open(own, { mode }),
    create: (whole) =>
      creating(`session ${own}`, "remove it, or write the copy to a file with -o", () =>
        store.create(own, { events: [], ...whole }),
      ),
    other: place,
  });
  return place(id);
}

async function creating(name: string, instead: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (codeOf(error) !== "session_exists") throw error;
    throw codedError("file_exists", `${name} already exists: ${instead}`, error);
  }
}

function readLog(path: string): Buffer {
  try {
    return readWholeFile(path, path);
  } catch (error) {
    if (isThroughlineError(error)) throw error;
    throw codedError("file_unreadable", `cannot read ${path}: ${readProblem(error)}`);
  }
}
