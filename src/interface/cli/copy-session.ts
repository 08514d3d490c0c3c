/** Copies one session from a store to another, so that both have the same bytes, or changes nothing. */

import { join } from "node:path";

import { codedError, codeOf, isThroughlineError, ThroughlineError } from "../../base/support/index.ts";
import {
  fileStore,
  locked,
  lockHolder,
  type Log,
  notFound,
  placeOf,
  readBundle,
  removeSession,
  type SessionBundle,
  type Store,
} from "../../runtime/log/index.ts";
import { sessionsFolder } from "../config/index.ts";
import { amount } from "./amount.ts";
import { type Database, openDatabase } from "./open-store.ts";
import { withLog } from "./session-argument.ts";

/** One of the two stores. */
export interface CopySide {
  readonly store: Store;
  /** The same for two stores that keep their sessions in the same place. */
  readonly place: string;
  /** The living writer of a session. */
  holderOf(id: string): Promise<string | undefined>;
  /** Removes a session if nothing has happened to it since it was read. */
  removeUnchanged(id: string, whole: SessionBundle): Promise<void>;
}

/** `flag` is named in errors about this side. */
export function filesSide(flag?: string): CopySide {
  const folder = sessionsFolder();
  const store = fileStore(folder);
  return blaming(flag, {
    store,
    place: placeOf(store),
    holderOf: (id) => lockHolder(join(folder, `${id}.jsonl`)),
    removeUnchanged: (id, { lines }) => removeSession(folder, id, { bytes: lines.length }),
  });
}

export async function databaseSide(database: Database, flag?: string): Promise<CopySide> {
  const store = await openDatabase(database);
  const { engineOf, removeUnchanged } = await import("../../runtime/postgres/index.ts");
  const engine = engineOf(store);
  if (engine === undefined) throw new Error("the store has no engine");
  await naming(flag, engine.identity.check());
  return blaming(flag, {
    store,
    // One database has many addresses. To move a session onto itself would be to remove it.
    place: `postgres ${engine.identity.incarnation}`,
    async holderOf(id) {
      const { holder } = (await store.shared?.holderOf(id)) ?? {};
      return holder === undefined ? undefined : `node ${holder}`;
    },
    removeUnchanged: (id, { events }) => removeUnchanged(engine, "", id, events.length),
  });
}

export interface CopyHow {
  readonly move: boolean;
  /** A session that is there already, with the same bytes, counts as copied. */
  readonly again: boolean;
}

export interface Copied {
  readonly events: number;
  readonly blobs: number;
  readonly wasThere: boolean;
}

export async function copySession(
  source: CopySide,
  target: CopySide,
  id: string,
  { move, again }: CopyHow,
): Promise<Copied> {
  const { whole, wasThere } = await withLog(openSource(source, id, move), async (log) => {
    if (move) await assertNothingWaits(source, id);
    const bundle = await readBundle(log);
    const there = await put(target, id, bundle, again);
    if (move && !(await isSame(target, id, bundle)))
      throw codedError(
        "log_not_confirmed",
        `session "${id}" was copied, but what was read back differs, so it was not removed where it was. Remove the copy and try again`,
      );
    return { whole: bundle, wasThere: there };
  });
  if (move) await source.removeUnchanged(id, whole);
  return { events: whole.events.length, blobs: whole.blobs.size, wasThere };
}

/** To move a session it is held as its writer, so that nobody adds to it meanwhile. */
async function openSource(side: CopySide, id: string, move: boolean): Promise<Log> {
  const { store } = side;
  if (!(await store.exists(id))) throw notFound(id);
  if (move) return store.open(id, { mode: "write" });
  const holder = await side.holderOf(id);
  if (holder !== undefined) throw locked(id, holder);
  return store.open(id, { mode: "read" });
}

async function assertNothingWaits({ store }: CopySide, id: string): Promise<void> {
  const { length } = await store.waiting(id).list();
  if (length === 0) return;
  throw codedError(
    "session_busy",
    `session "${id}" has ${amount(length, "waiting turn")} that a server accepted: let a server finish ${length === 1 ? "it" : "them"}, or copy it without --move`,
  );
}

/** Returns whether the same session was there already. */
async function put(target: CopySide, id: string, whole: SessionBundle, again: boolean): Promise<boolean> {
  try {
    const { lines, blobs } = whole;
    await target.store.create(id, { events: [], lines, blobs, modifiedAt: lastWritten(whole) });
    return false;
  } catch (error) {
    if (codeOf(error) !== "session_exists") throw error;
    if (again && (await isSame(target, id, whole))) return true;
    throw codedError(
      "session_exists",
      `the other store already has a session "${id}", with other content or from an earlier copy: remove it there, or keep both apart with throughline sessions import --id`,
      error,
    );
  }
}

/** Lists show the newest first, and `-c` continues that one: a copy is as old as what it copies. */
function lastWritten({ events }: SessionBundle): number | undefined {
  const at = Date.parse(events.at(-1)?.at ?? "");
  return Number.isNaN(at) ? undefined : Math.min(at, Date.now());
}

async function isSame({ store }: CopySide, id: string, { lines, blobs }: SessionBundle): Promise<boolean> {
  const found = await withLog(store.open(id, { mode: "read" }), readBundle);
  return (
    found.lines.equals(lines) &&
    found.blobs.size === blobs.size &&
    [...blobs].every(([name, bytes]) => Buffer.from(bytes).equals(found.blobs.get(name) ?? Buffer.alloc(0)))
  );
}

/** Names the flag in errors about a database, which otherwise speak of the store in use. */
async function naming<T>(flag: string | undefined, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (flag === undefined || !isThroughlineError(error) || !error.code.startsWith("store_")) throw error;
    throw new ThroughlineError({
      code: error.code,
      message: `${flag}: ${error.message}`,
      details: error.details,
    });
  }
}

function blaming(flag: string | undefined, side: CopySide): CopySide {
  if (flag === undefined) return side;
  const named = <T>(work: Promise<T>): Promise<T> => naming(flag, work);
  const { store, place } = side;
  return {
    place,
    store: Object.assign(Object.create(store) as Store, {
      open: (...args: Parameters<Store["open"]>) => named(store.open(...args)),
      create: (...args: Parameters<Store["create"]>) => named(store.create(...args)),
      exists: (...args: Parameters<Store["exists"]>) => named(store.exists(...args)),
      async *list(...args: Parameters<Store["list"]>) {
        const listed = store.list(...args)[Symbol.asyncIterator]();
        for (;;) {
          const next = await named(listed.next());
          if (next.done === true) return;
          yield next.value;
        }
      },
    }),
    holderOf: (id) => named(side.holderOf(id)),
    removeUnchanged: (id, whole) => named(side.removeUnchanged(id, whole)),
  };
}
