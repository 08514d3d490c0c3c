/**
 * The scratch journal of a log. It may be lost, so nothing here fails: a full disk or a foreign file in its place must
 * not end a turn.
 */

import { closeSync, constants, fstatSync, openSync, rmSync, writeSync } from "node:fs";

import { readRegularFile } from "../../base/files/index.ts";
import type { Scratch } from "./log.ts";
import { wholeRows } from "./scratch-reader.ts";

export function createFileScratch(path: string): Scratch {
  let file: number | undefined;
  return {
    write(rows) {
      if (rows.length === 0) return;
      try {
        let lines = `${rows.join("\n")}\n`;
        if (file === undefined) {
          file = openSync(path, SCRATCH_FLAGS, 0o600);
          // An earlier writer may have left a torn row, which would corrupt the next one.
          if (fstatSync(file).size > 0) lines = `\n${lines}`;
        }
        writeSync(file, lines);
      } catch {
        // Lost. If something is wrong with the disk, the log itself reports it.
      }
    },
    async rows() {
      try {
        return wholeRows(readRegularFile(path).toString("utf8"));
      } catch {
        return [];
      }
    },
    clear() {
      if (file !== undefined) closeSync(file);
      file = undefined;
      try {
        rmSync(path, { force: true });
      } catch {
        // A leftover journal is recognized by the id of its response.
      }
    },
  };
}

const SCRATCH_FLAGS =
  constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;
