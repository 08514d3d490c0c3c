/**
 * The user's past messages, for the Up key: one JSON string per line, readable only by the owner. A convenience: if the
 * history cannot be read or written, everything else still works.
 */

import { closeSync, fchmodSync, mkdirSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

import { openToAppend, readRegularFile, replaceFile } from "../../base/files/index.ts";
import { escapeLineSeparators, stringOf, tryParseJson } from "../../base/support/index.ts";
import { dataFolder } from "../config/index.ts";
import type { InputHistory } from "../tui/index.ts";

const KEPT = 500;
/** The file is rewritten when it has more lines than this. */
const MOST = 2 * KEPT;

function inputHistoryFile(): string {
  return join(dataFolder(), "input-history.jsonl");
}

export function openInputHistory(file = inputHistoryFile()): InputHistory {
  const { entries, torn: wasTorn } = readEntries(file);
  /** True if the last line may lack its line break, so that a new entry must start with one. */
  let torn = wasTorn;
  return {
    entries,
    add(text) {
      if (text.trim() === "" || text === entries.at(-1)) return;
      entries.push(text);
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        const opened = openToAppend(file);
        try {
          writeSync(opened, `${torn ? "\n" : ""}${lineOf(text)}\n`);
          torn = false;
          fchmodSync(opened, 0o600); // the file may have been created with another umask
        } finally {
          closeSync(opened);
        }
      } catch {
        torn = true; // Read-only or full disk: this process keeps its messages in memory.
      }
    },
  };
}

function readEntries(file: string): { readonly entries: string[]; readonly torn: boolean } {
  let text: string;
  try {
    text = readRegularFile(file).toString("utf8");
  } catch {
    return { entries: [], torn: false };
  }
  const all = text.split("\n").flatMap((line) => stringOf(tryParseJson(line)) ?? []);
  const kept = all.slice(-KEPT);
  if (all.length > MOST) {
    try {
      replaceFile(file, kept.map((entry) => `${lineOf(entry)}\n`).join(""));
      return { entries: kept, torn: false };
    } catch {
      // A history that is too long does no harm.
    }
  }
  return { entries: kept, torn: text !== "" && !text.endsWith("\n") };
}

function lineOf(text: string): string {
  return escapeLineSeparators(JSON.stringify(text));
}
