/**
 * Where `sessions erase` looks for a secret beside the log, and how it puts the copy in place: in the folder of the
 * sessions, or in the database.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { fileProblem, readRegularFile } from "../../base/files/index.ts";
import { codedError } from "../../base/support/index.ts";
import { type Replace, type SessionBundle, standsBeside, writeSession } from "../../runtime/log/index.ts";
import { sessionsFolder } from "../config/index.ts";
import { chosenDatabase, type Database, openDatabase, type StoreFlags } from "./open-store.ts";
import { putSession } from "./put-session.ts";

export interface ErasePlace {
  /** What holds the secret and is not part of the copy. `named` are the blobs that events name. */
  besideWith(id: string, replace: Replace, named: ReadonlySet<string>): Promise<readonly string[]>;
  /** Replaces the session, and removes everything else that belonged to it. */
  putOver(id: string, clean: SessionBundle): Promise<void>;
  putNew(id: string, clean: SessionBundle): Promise<void>;
  /** Who may still have the secret. */
  readonly remains: string;
}

export function erasePlace(flags: StoreFlags): ErasePlace {
  const database = chosenDatabase(flags);
  return database === undefined ? filesPlace() : databasePlace(database, flags);
}

function filesPlace(): ErasePlace {
  return {
    besideWith: async (id, replace, named) => filesWith(id, replace, named),
    putOver: async (id, clean) => void (await writeSession(sessionsFolder(), clean, { id, replace: true })),
    putNew: async (id, clean) => void (await writeSession(sessionsFolder(), clean, { id })),
    remains: "Backups and the provider may still have the secret",
  };
}

function databasePlace(database: Database, flags: StoreFlags): ErasePlace {
  const parts = async () => {
    const { besideSession, engineOf, replaceSession } = await import("../../runtime/postgres/index.ts");
    const engine = engineOf(await openDatabase(database));
    if (engine === undefined) throw new Error("the store has no engine");
    return { besideSession, replaceSession, engine };
  };
  return {
    async besideWith(id, replace, named) {
      const { besideSession, engine } = await parts();
      const found = new Set<string>();
      for await (const { name, bytes } of besideSession(engine, "", id, named))
        if (holds(bytes, replace)) found.add(name);
      return [...found];
    },
    async putOver(id, clean) {
      const { replaceSession, engine } = await parts();
      await replaceSession(engine, "", id, clean);
    },
    putNew: (id, clean) => putSession(flags, clean, { id }),
    remains:
      "Backups, replicas and the write-ahead log of the database, freed space in its files, and the provider may still have the secret",
  };
}

/**
 * Files next to the log that hold the secret and are not part of the copy: the scratch journal and similar files, and
 * blobs that no event names. Such blobs remain if a replacement is killed after it wrote the log and before it removed
 * them.
 */
function filesWith(id: string, replace: Replace, named: ReadonlySet<string>): readonly string[] {
  const folder = sessionsFolder();
  const blobs = `${id}.blobs`;
  const beside = namesIn(folder).filter((name) => standsBeside(name, id));
  const orphans = namesIn(join(folder, blobs)).filter((name) => !named.has(name));
  return [...beside, ...orphans.map((name) => join(blobs, name))].filter((name) =>
    holds(bytesOf(join(folder, name)), replace),
  );
}

/** Searches as UTF-8 and as one character per byte, like the blobs of a copy. */
function holds(bytes: Buffer, replace: Replace): boolean {
  return [bytes.toString("utf8"), bytes.toString("latin1")].some((text) => replace(text) !== text);
}

function bytesOf(path: string): Buffer {
  try {
    return readRegularFile(path);
  } catch (error) {
    throw codedError("file_unreadable", `cannot search ${path}: ${fileProblem(error)}`, error);
  }
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
