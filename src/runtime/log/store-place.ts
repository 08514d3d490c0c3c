/** Tells whether two stores are the same place: the same object, file stores on one folder, or one database. */

import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { Store } from "./log.ts";

const FOLDERS = new WeakMap<Store, string>();
const OTHERS = new WeakMap<Store, string>();
let others = 0;

/** For a store outside this folder that knows what it shares with others. */
export function rememberPlace(store: Store, place: string): Store {
  OTHERS.set(store, place);
  return store;
}

/** Called by `fileStore`. */
export function rememberFolder(store: Store, folder: string): Store {
  FOLDERS.set(store, folder);
  return store;
}

/** A text that two stores share only if they keep their sessions in the same place. */
export function placeOf(store: Store): string {
  const folder = FOLDERS.get(store);
  if (folder !== undefined) return `folder ${realFolder(folder)}`;
  const known = OTHERS.get(store);
  if (known !== undefined) return known;
  const place = `store ${(others += 1)}`;
  OTHERS.set(store, place);
  return place;
}

/** The folder may not exist yet; then the nearest one above it that does decides. */
function realFolder(folder: string): string {
  try {
    return realpathSync.native(folder); // one call instead of one for each folder above it
  } catch {
    const above = dirname(folder);
    return above === folder ? folder : join(realFolder(above), basename(folder));
  }
}
