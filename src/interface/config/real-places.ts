/**
 * Resolves paths to real paths. Follows links one at a time, so that each is known: a copy of the files needs the same
 * links, and a link out of the permitted folders must be detected.
 */

import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, parse, resolve, sep } from "node:path";

export interface RealPlace {
  readonly path: string;
  readonly kind: "file" | "folder" | "other";
  readonly size: number;
  /** The links on the way: the path and the target of each. */
  readonly links: readonly Link[];
}

export interface Link {
  readonly at: string;
  readonly to: string;
}

const MAX_LINKS = 40;

/** Caches what is at each path, for a walk that visits the same folders thousands of times. */
export type KnownStats = Map<string, Stats | undefined>;

/** Returns undefined if nothing is there or it cannot be inspected. */
export function realPlace(path: string, known: KnownStats = new Map()): RealPlace | undefined {
  const links: Link[] = [];
  const rest = partsOf(resolve(path));
  let at = parse(resolve(path)).root;
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const next = resolve(at, part);
    const found = statOf(next, known);
    if (found === undefined) return undefined;
    if (found.isSymbolicLink()) {
      const to = resolve(at, linkAt(next));
      links.push({ at: next, to });
      if (links.length > MAX_LINKS) return undefined;
      rest.unshift(...partsOf(to));
      at = parse(to).root;
    } else if (rest.length > 0 && !found.isDirectory()) {
      return undefined;
    } else {
      at = next;
    }
  }
  const found = statOf(at, known);
  if (found === undefined) return undefined;
  const kind = found.isFile() ? "file" : found.isDirectory() ? "folder" : "other";
  return { path: at, kind, size: found.size, links };
}

export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Returns the folder, then every folder above it. */
export function foldersAbove(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
}

function partsOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((part) => part !== "");
}

function statOf(path: string, known: KnownStats): Stats | undefined {
  if (known.has(path)) return known.get(path);
  let found: Stats | undefined;
  try {
    found = lstatSync(path, { throwIfNoEntry: false });
  } catch {
    found = undefined;
  }
  known.set(path, found);
  return found;
}

function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ".";
  }
}
