/**
 * The messages a person typed, kept for the Up key: one JSON string a line, readable by its owner only. It is a
 * convenience: a history that cannot be read or written costs nothing but itself.
 */

import { appendFileSync, chmodSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { replaceFile } from "../../base/files/index.ts";
import { escapeLineSeparators, stringOf, tryParseJson } from "../../base/support/index.ts";
import { dataFolder } from "../config/index.ts";
import type { InputHistory } from "../tui/index.ts";

const KEPT = 500;
/** Rewritten when it has grown to this many lines. */
const MOST = 2 * KEPT;

export function inputHistoryFile(): string {
  return join(dataFolder(), "input-history.jsonl");
}

export function openInputHistory(file = inputHistoryFile()): InputHistory {
  const entries = readEntries(file);
  return {
    entries,
    add(text) {
      if (text.trim() === "" || text === entries.at(-1)) return;
      entries.push(text);
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        appendFileSync(file, `${lineOf(text)}\n`, { mode: 0o600 });
        chmodSync(file, 0o600); // it may have been made by somebody with another mask
      } catch {
        // Read-only or full: the messages of this process are still there.
      }
    },
  };
}

function readEntries(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  const all = text.split("\n").flatMap((line) => stringOf(tryParseJson(line)) ?? []);
  const kept = all.slice(-KEPT);
  if (all.length > MOST) {
    try {
      replaceFile(file, kept.map((entry) => `${lineOf(entry)}\n`).join(""));
    } catch {
      // Too long is no harm.
    }
  }
  return kept;
}

function lineOf(text: string): string {
  return escapeLineSeparators(JSON.stringify(text));
}
