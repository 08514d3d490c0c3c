/**
 * The messages a person typed, kept for the Up key: one JSON string a line, readable by its owner only. It is a
 * convenience: a history that cannot be read or written costs nothing but itself.
 */

import { closeSync, fchmodSync, mkdirSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

import { openToAppend, readRegularFile, replaceFile } from "../../base/files/index.ts";
import { escapeLineSeparators, stringOf, tryParseJson } from "../../base/support/index.ts";
import { dataFolder } from "../config/index.ts";
import type { InputHistory } from "../tui/index.ts";

const KEPT = 500;
/** Rewritten when it has grown to this many lines. */
const MOST = 2 * KEPT;

function inputHistoryFile(): string {
  return join(dataFolder(), "input-history.jsonl");
}

export function openInputHistory(file = inputHistoryFile()): InputHistory {
  const { entries, torn: wasTorn } = readEntries(file);
  /** The last line may lack its end: what is added must not become part of it. */
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
          fchmodSync(opened, 0o600); // it may have been made with another mask
        } finally {
          closeSync(opened);
        }
      } catch {
        torn = true; // Read-only or full: the messages of this process are still there.
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
      // Too long is no harm.
    }
  }
  return { entries: kept, torn: text !== "" && !text.endsWith("\n") };
}

function lineOf(text: string): string {
  return escapeLineSeparators(JSON.stringify(text));
}
