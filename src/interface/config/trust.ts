/**
 * The user's trust decisions. A decision names the settings file and every file that runs because of it, each with the
 * hash of its bytes. If a byte changes, or a file is added or removed, the user is asked again and told what changed.
 */

import { readText, replaceFile } from "../../base/files/index.ts";
import {
  codedError,
  codeOf,
  isObject,
  messageOf,
  stringOf,
  type ThroughlineError,
  tryParseJson,
} from "../../base/support/index.ts";

export type TrustDecision = "trusted" | "refused";

/** Hashes by the name of the file. */
export type FileHashes = Readonly<Record<string, string>>;

export interface TrustSubject {
  /** The settings file. */
  readonly file: string;
  readonly sha256: string;
  /** The files that run because of it. */
  readonly files: FileHashes;
}

export interface TrustChange {
  readonly file: string;
  readonly change: "edited" | "added" | "removed";
}

export interface TrustState {
  readonly decision: TrustDecision | undefined;
  /** The changes since the last trusted state; empty if there was none. */
  readonly changes: readonly TrustChange[];
}

interface Entry {
  readonly sha256: string;
  /** Empty for decisions of older versions, which are valid only if no code runs. */
  readonly files: FileHashes;
  readonly decision: TrustDecision;
  readonly at: string;
}

export function trustOf(store: string, subject: TrustSubject): TrustState {
  const entries = read(store);
  const entry = Object.hasOwn(entries, subject.file) ? entries[subject.file] : undefined;
  if (entry === undefined) return { decision: undefined, changes: [] };
  const changes = changesBetween(entry, subject);
  if (changes.length === 0) return { decision: entry.decision, changes: [] };
  return { decision: undefined, changes: entry.decision === "trusted" ? changes : [] };
}

function changesBetween(before: Entry, now: TrustSubject): readonly TrustChange[] {
  const settings: readonly TrustChange[] =
    before.sha256 === now.sha256 ? [] : [{ file: now.file, change: "edited" }];
  const names = [...new Set([...Object.keys(before.files), ...Object.keys(now.files)])].toSorted();
  const files = names.flatMap((file): readonly TrustChange[] => {
    const was = Object.hasOwn(before.files, file) ? before.files[file] : undefined;
    const is = Object.hasOwn(now.files, file) ? now.files[file] : undefined;
    if (was === is) return [];
    return [{ file, change: was === undefined ? "added" : is === undefined ? "removed" : "edited" }];
  });
  return [...settings, ...files];
}

export function recordTrust(
  store: string,
  subject: TrustSubject & { readonly decision: TrustDecision; readonly at: string },
): void {
  const { file, sha256, files, decision, at } = subject;
  const entries = Object.entries(read(store)).filter(([name]) => name !== file);
  const all = Object.fromEntries([...entries, [file, { sha256, files, decision, at }]]);
  try {
    replaceFile(store, `${JSON.stringify(all, undefined, 2)}\n`, { makeFolder: true });
  } catch (error) {
    throw codedError("trust_unwritable", `cannot save the decision in ${store}: ${messageOf(error)}`, error);
  }
}

function read(store: string): Readonly<Record<string, Entry>> {
  let text: string;
  try {
    text = readText(store);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return {};
    throw damaged(store, messageOf(error));
  }
  const object = tryParseJson(text);
  if (!isObject(object)) throw damaged(store, "not a JSON object");
  return Object.fromEntries(
    Object.entries(object).flatMap(([file, entry]): readonly (readonly [string, Entry])[] => {
      if (!isObject(entry)) return [];
      const { sha256, files, decision, at } = entry;
      if (typeof sha256 !== "string" || (decision !== "trusted" && decision !== "refused")) return [];
      return [[file, { sha256, files: hashesIn(files), decision, at: stringOf(at) ?? "" }]];
    }),
  );
}

function hashesIn(files: unknown): FileHashes {
  return Object.fromEntries(
    Object.entries(isObject(files) ? files : {}).flatMap(([name, hash]) =>
      typeof hash === "string" ? [[name, hash]] : [],
    ),
  );
}

function damaged(store: string, why: string): ThroughlineError {
  return codedError(
    "trust_unreadable",
    `cannot read ${store}: ${why}. Remove it; you will be asked about each project again`,
  );
}
