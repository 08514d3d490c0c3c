/** The scratch journal of a log. It may be lost, so nothing here fails: a full disk or a foreign file in its place must not end a turn. */

import { closeSync, constants, openSync, rmSync, writeSync } from "node:fs";

import { readRegularFile } from "../../base/files/index.ts";
import type { Scratch } from "./log.ts";

export function createFileScratch(path: string): Scratch {
  let file: number | undefined;
  return {
    write(text) {
      try {
        file ??= openSync(path, SCRATCH_FLAGS, 0o600);
        writeSync(file, text);
      } catch {
        // Lost; the log itself will say what is wrong with the disk.
      }
    },
    async read() {
      try {
        return readRegularFile(path).toString("utf8");
      } catch {
        return "";
      }
    },
    clear() {
      if (file !== undefined) closeSync(file);
      file = undefined;
      try {
        rmSync(path, { force: true });
      } catch {
        // What cannot be removed is told apart by the id of its response.
      }
    },
  };
}

const SCRATCH_FLAGS =
  constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;
