/**
 * A new file that only its owner can read. Each record is written at once, so that it survives the end of the process. The
 * file never replaces an existing file and never follows a link.
 */

import { closeSync, constants, openSync, writeSync } from "node:fs";

import { writeProblem } from "../../base/files/index.ts";
import { codeOf, type ThroughlineError, codedError, readProblem } from "../../base/support/index.ts";

export interface PrivateFile {
  write(text: string): void;
  close(): void;
}

/** Errors name `flag`. `onFailure` is called once, when the file can no longer be written. */
export function createPrivateFile(
  path: string,
  flag: string,
  onFailure: (error: ThroughlineError) => void,
): PrivateFile {
  let descriptor: number | undefined = open(path, flag);
  const close = (): void => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  return {
    close,
    write(text) {
      if (descriptor === undefined) return;
      try {
        let rest = Buffer.from(text);
        while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
      } catch (error) {
        close();
        onFailure(unwritable(path, flag, `it is incomplete: ${readProblem(error)}`, error));
      }
    },
  };
}

function open(path: string, flag: string): number {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants;
  try {
    return openSync(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
  } catch (error) {
    if (codeOf(error) === "EEXIST") {
      throw codedError(
        "file_exists",
        `${flag} ${path}: the file already exists and is not overwritten: choose another name or remove it`,
      );
    }
    throw unwritable(path, flag, writeProblem(error, path), error);
  }
}

function unwritable(path: string, flag: string, why: string, cause: unknown): ThroughlineError {
  return codedError("file_unwritable", `${flag} ${path}: cannot be written: ${why}`, cause);
}
