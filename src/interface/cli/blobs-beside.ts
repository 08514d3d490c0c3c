/** Reads the blobs next to a log file. Skips a blob whose bytes do not match its name (docs/log-format.md, Blobs). */

import { readdirSync } from "node:fs";

import { codeOf } from "../../base/support/index.ts";
import { FileBlobs } from "../../runtime/log/index.ts";

/** `log` is the path of the `.jsonl` file. */
export function blobsBeside(log: string): ReadonlyMap<string, Uint8Array> {
  const folder = log.replace(/\.jsonl$/, ".blobs");
  const files = new FileBlobs(folder);
  const blobs = new Map<string, Uint8Array>();
  for (const name of namesIn(folder)) {
    const bytes = wholeOf(files, name);
    if (bytes !== undefined) blobs.set(name, bytes);
  }
  return blobs;
}

function wholeOf(files: FileBlobs, name: string): Uint8Array | undefined {
  try {
    return files.get(name);
  } catch (error) {
    if (codeOf(error) === "blob_damaged") return undefined;
    throw error;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^[0-9a-f]{64}$/.test(name));
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw error;
  }
}
