/** The scratch journal of a log. It may be lost, so nothing here fails: a full disk or a foreign file in its place must not end a turn. */

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
          // What a writer before left may end in a torn row, which would take the next one with it.
          if (fstatSync(file).size > 0) lines = `\n${lines}`;
        }
        writeSync(file, lines);
      } catch {
        // Lost; the log itself will say what is wrong with the disk.
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
        // What cannot be removed is told apart by the id of its response.
      }
    },
  };
}

const SCRATCH_FLAGS =
  constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;
