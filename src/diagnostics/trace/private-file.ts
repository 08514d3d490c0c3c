/**
 * A new file that only its owner can read, written record by record: what is in it survives the death of the process.
 * It never replaces or follows anything that is there already.
 */

import { closeSync, constants, openSync, writeSync } from "node:fs";

import { codeOf, messageOf, type ThroughlineError, codedError } from "../../base/support/index.ts";

export interface PrivateFile {
  write(text: string): void;
  close(): void;
}

/** `flag` is named in errors; `onFailure` is told once if the file cannot be written any more. */
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
        onFailure(unwritable(path, flag, `it ends here: ${messageOf(error)}`, error));
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
        `${flag} ${path}: it is there already, and nothing is overwritten: choose another name or remove it`,
      );
    }
    throw unwritable(path, flag, messageOf(error), error);
  }
}

function unwritable(path: string, flag: string, why: string, cause: unknown): ThroughlineError {
  return codedError("file_unwritable", `${flag} ${path}: cannot be written: ${why}`, cause);
}
