/**
 * The blobs that lie beside a log file. One whose bytes do not have the hash in its name is as good as gone: it is not
 * carried on (docs/log-format.md, Blobs).
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { codeOf } from "../../base/support/index.ts";

/** `log` is the path of the `.jsonl` file. */
export function blobsBeside(log: string): ReadonlyMap<string, Uint8Array> {
  const folder = log.replace(/\.jsonl$/, ".blobs");
  const blobs = new Map<string, Uint8Array>();
  for (const name of namesIn(folder)) {
    const bytes = readFileSync(join(folder, name));
    if (createHash("sha256").update(bytes).digest("hex") === name) blobs.set(name, bytes);
  }
  return blobs;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^[0-9a-f]{64}$/.test(name));
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw error;
  }
}
