/**
 * Which projects' settings a person trusts. A decision belongs to one file with one content: its path and the hash of
 * its bytes. Another byte asks again.
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

interface Entry {
  readonly sha256: string;
  readonly decision: TrustDecision;
  readonly at: string;
}

export function trustOf(store: string, file: string, sha256: string): TrustDecision | undefined {
  const entry = read(store)[file];
  return entry?.sha256 === sha256 ? entry.decision : undefined;
}

export function recordTrust(
  store: string,
  decision: {
    readonly file: string;
    readonly sha256: string;
    readonly decision: TrustDecision;
    readonly at: string;
  },
): void {
  const { file, ...entry } = decision;
  try {
    replaceFile(store, `${JSON.stringify({ ...read(store), [file]: entry }, undefined, 2)}\n`, {
      makeFolder: true,
    });
  } catch (error) {
    throw codedError(
      "trust_unwritable",
      `the decision cannot be kept in ${store}: ${messageOf(error)}`,
      error,
    );
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
  if (!isObject(object)) throw damaged(store, "it is not a JSON object");
  return Object.fromEntries(
    Object.entries(object).flatMap(([file, entry]): readonly (readonly [string, Entry])[] => {
      if (!isObject(entry)) return [];
      const { sha256, decision, at } = entry;
      if (typeof sha256 !== "string" || (decision !== "trusted" && decision !== "refused")) return [];
      return [[file, { sha256, decision, at: stringOf(at) ?? "" }]];
    }),
  );
}

function damaged(store: string, why: string): ThroughlineError {
  return codedError(
    "trust_unreadable",
    `cannot read ${store}: ${why}. Remove it; every project is then asked for again`,
  );
}
