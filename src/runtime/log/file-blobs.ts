/**
 * Blobs: files next to a log, named by the SHA-256 of their bytes. Every failure has an error code of ours and names
 * the errno. A link, pipe or folder planted in place of a blob is neither followed nor waited for.
 */

import { createHash } from "node:crypto";
import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { fileProblem, readRegularFile, systemError } from "../../base/files/index.ts";
import { codeOf, type ErrorCode, ThroughlineError } from "../../base/support/index.ts";
import { removeUnfinishedBlobs } from "./leftovers.ts";
import { writeWholeFile } from "./whole-file.ts";

export class FileBlobs {
  readonly #folder: string;
  #swept = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  put(bytes: Uint8Array): string {
    const name = createHash("sha256").update(bytes).digest("hex");
    const path = join(this.#folder, name);
    try {
      makeOwnFolder(this.#folder);
      if (!this.#swept) removeUnfinishedBlobs(this.#folder); // left by a writer that was killed
      this.#swept = true;
      writeWholeFile(path, bytes);
    } catch (error) {
      throw blobError("blob_write_failed", `could not write ${path}`, name, error);
    }
    return name;
  }

  /** Returns undefined if there is no such blob. */
  get(name: string): Buffer | undefined {
    if (!/^[0-9a-f]{64}$/.test(name)) return undefined;
    const path = join(this.#folder, name);
    try {
      if (!isOwnFolder(this.#folder)) return undefined;
      return verified(readRegularFile(path), name, path);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      if (error instanceof ThroughlineError) throw error;
      if (codeOf(error) === "ERR_FS_FILE_TOO_LARGE") throw damaged(name, path); // no blob of that size was ever stored
      throw blobError("blob_unreadable", `could not read ${path}`, name, error);
    }
  }
}

function blobError(code: ErrorCode, what: string, blob: string, cause: unknown): ThroughlineError {
  const details = { blob, errno: codeOf(cause) };
  return new ThroughlineError({ code, message: `${what}: ${fileProblem(cause)}`, details, cause });
}

function makeOwnFolder(folder: string): void {
  if (isOwnFolder(folder)) return;
  mkdirSync(folder, { mode: 0o700 });
}

/** False if there is none. A link to a folder is rejected. */
function isOwnFolder(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isDirectory()) throw systemError("ENOTDIR");
  return true;
}

/** The bytes must hash to the name, so a changed blob is never mistaken for the stored one. */
function verified(bytes: Buffer, name: string, path: string): Buffer {
  if (createHash("sha256").update(bytes).digest("hex") === name) return bytes;
  throw damaged(name, path);
}

function damaged(name: string, path: string): ThroughlineError {
  return new ThroughlineError({
    code: "blob_damaged",
    message: `${path} is damaged: its bytes do not match the hash in its name. Restore it from a copy, or remove it; requests will then say that it is missing`,
    details: { blob: name },
  });
}
