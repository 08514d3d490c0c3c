import { describe, expect, test } from "vitest";

import { CANONICAL_TYPES } from "../src/base/events/index.ts";
import { sourceFiles, sourceText } from "./support/source-imports.ts";

/** The log has three folds. Code that needs to know something about a session uses one of them. */
const FOLDS = /^src\/(?:runtime\/fold|runtime\/facts|interface\/fragments)\//;

/**
 * Files that distinguish four or more event types without accumulating anything over a log, each with its reason. A
 * file that no longer does so must leave the list.
 */
const NO_FOLDS: Readonly<Record<string, string>> = {
  "src/base/events/canonical.ts": "says which types are items",
  "src/diagnostics/import/session-events.ts": "makes the events of a session from another tool's history",
  "src/interface/cli/line-chat.ts": "shows a turn and asks its questions as they come; nothing is kept",
  "src/interface/cli/playback/play-back.ts": "does again what a recording says, event by event",
  "src/interface/cli/show-progress.ts": "a line for an event as it comes; nothing is kept",
  "src/interface/cli/spoken-lines.ts": "a line for an event as it comes; nothing is kept",
  "src/runtime/providers/openai-responses/stream.ts": "makes item events from the wire",
  "src/runtime/turn/live-rows.ts":
    "knows which items are open, to end what was live of them; the log itself is not summed up",
  "src/runtime/session/fork.ts": "copies events into another log",
  "src/runtime/session/history-edits.ts": "finds where a branch may lead to",
  "src/runtime/session/session-tree.ts": "draws all paths, those that were left too",
};

const TYPES: ReadonlySet<string> = new Set(CANONICAL_TYPES);

/** The event types that a file compares with. */
function toldApart(text: string): readonly string[] {
  const compared = [...text.matchAll(/(?:\btype\s*(?:===|!==)\s*|\bcase )"(\w+)"/g)].map(
    ([, type = ""]) => type,
  );
  return [...new Set(compared)].filter((type) => TYPES.has(type));
}

function isReducer(text: string): boolean {
  return /events\/index\.ts"|events\/canonical/.test(text) && toldApart(text).length >= 4;
}

/** Searches a log for one fact, which SessionFacts has already. */
const SCANS =
  /\b(?:find|findLast|findLastIndex|some|filter)\(\s*\(?[^()]*\)?[^()]*=>\s*[^()]*type === "(?:title|settings)"/;

describe("the log has three folds and no fourth", () => {
  const others = sourceFiles().filter((file) => !FOLDS.test(file) && !file.startsWith("src/emulator/"));

  test("no file outside the folds reduces events by their types", () => {
    const found = others.filter(
      (file) => file === "src/base/events/canonical.ts" || isReducer(sourceText(file)),
    );
    expect(found.toSorted()).toEqual(Object.keys(NO_FOLDS).toSorted());
  });

  test("no file outside the folds searches a log for its title or its settings", () => {
    expect(others.filter((file) => SCANS.test(sourceText(file)))).toEqual([]);
  });

  test("a planted fold and a planted search are found", () => {
    const cases = ["title", "response_end", "turn_end", "settings"].map((type) => `case "${type}": break;`);
    const planted = `import type { LoggedEvent } from "../../base/events/index.ts";\n${cases.join("\n")}`;
    expect(isReducer(planted)).toBe(true);
    expect(SCANS.test('log.events.findLast((event) => event.type === "title")?.title')).toBe(true);
  });

  test("each of the three distinguishes every event type", () => {
    const complete = [
      "src/runtime/fold/fold.ts",
      "src/runtime/facts/session-facts.ts",
      "src/interface/fragments/from-event.ts",
    ];
    for (const file of complete)
      expect([file, toldApart(sourceText(file)).toSorted()]).toEqual([file, [...TYPES].toSorted()]);
  });
});
