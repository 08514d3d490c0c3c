/**
 * pi sessions as entries: the path to the last entry, with the answers of every model, each in its own dialect. A
 * compaction is a cut with its summary; what it replaced stays. Other branches are left out and counted.
 */

import { arrayOf, type JsonObject, numberOf, objectOf, stringOf } from "../../../base/support/index.ts";
import type { FoundBlock } from "../block-history.ts";
import { callIdOf, dialectOf, isEntry, LINKS, partOf } from "../formats/pi-session.ts";
import { jsonLines } from "../json-lines.ts";
import { pathToLast } from "../record-edits.ts";
import {
  type AnswerEntry,
  type EntryList,
  type HistoryEntry,
  type LeftOutList,
  textIn,
  timeOf,
} from "./entry.ts";
import { answerItems } from "./from-blocks.ts";
import { inputParts, resultText } from "./input-parts.ts";

export function readPi(text: string, left: LeftOutList): EntryList {
  const file = jsonLines(text);
  const { values } = file;
  const linked = values.some((value) => typeof value?.["parentId"] === "string");
  const all = values.flatMap((value, line) => (value !== undefined && isEntry(value) ? [line] : []));
  const path = linked ? pathToLast(file, LINKS, isEntry) : all;
  const messages = (lines: readonly number[]): number =>
    lines.filter((line) => values[line]?.["type"] === "message").length;
  left.add("message on another branch", "messages on other branches", messages(all) - messages(path));
  const entries: HistoryEntry[] = [];
  /** Where the entries of a line begin. */
  const starts = new Map<string, number>();
  let dialect: AnswerEntry["dialect"] = "openai-chat";
  for (const line of path) {
    const value = objectOf(values[line]);
    starts.set(stringOf(value["id"]) ?? `line ${line}`, entries.length);
    const message = objectOf(value["message"]);
    if (message["role"] === "assistant") dialect = dialectOf(stringOf(message["api"]) ?? "");
    entries.push(...entriesOf(value, { dialect, starts, at: entries.length }, left));
  }
  const header = objectOf(values.find((value) => value?.["type"] === "session"));
  const named = values.findLast((value) => value?.["type"] === "session_info");
  return { entries, cwd: textIn(header, "cwd"), title: textIn(objectOf(named), "name") };
}

interface Around {
  /** Of the last answer: call ids are written in its form. */
  readonly dialect: AnswerEntry["dialect"];
  readonly starts: ReadonlyMap<string, number>;
  /** How many entries come before this one. */
  readonly at: number;
}

function entriesOf(value: JsonObject, around: Around, left: LeftOutList): readonly HistoryEntry[] {
  const message = objectOf(value["message"]);
  const at = timeOf(value["timestamp"]) ?? timeOf(message["timestamp"]);
  const told = (content: unknown, by: "person" | "runtime"): readonly HistoryEntry[] => {
    const parts = inputParts(content, left);
    if (parts.length === 0) left.add("empty message", "empty messages");
    return parts.length === 0 ? [] : [{ kind: "user", by, parts, at }];
  };
  switch (value["type"]) {
    case "compaction": {
      const before = around.starts.get(stringOf(value["firstKeptEntryId"]) ?? "") ?? around.at;
      return [{ kind: "cut", before, summary: stringOf(value["summary"]) ?? "", at }];
    }
    case "branch_summary":
      return told(stringOf(value["summary"]), "runtime");
    case "custom_message":
      return told(value["content"], "runtime");
    case "message":
      break;
    default:
      return [];
  }
  switch (message["role"]) {
    case "user":
      return told(message["content"], "person");
    case "toolResult": {
      const { text, whole } = resultText(message["content"]);
      return [
        {
          kind: "result",
          callId: callIdOf(stringOf(message["toolCallId"]) ?? "", around.dialect),
          text,
          failed: message["isError"] === true,
          full: whole ? undefined : JSON.stringify(message["content"]),
          at,
        },
      ];
    }
    case "bashExecution": {
      if (message["excludeFromContext"] !== true)
        return told(
          `$ ${stringOf(message["command"]) ?? ""}\n${stringOf(message["output"]) ?? ""}`,
          "runtime",
        );
      left.add("command that the model never saw", "commands that the model never saw");
      return [];
    }
    case "assistant":
      return [...answerOf(message, around.dialect, at)];
    default:
      return told(message["content"], "runtime");
  }
}

const ENDS: Readonly<Record<string, AnswerEntry["status"]>> = {
  error: "failed",
  aborted: "cancelled",
  length: "incomplete",
};

function answerOf(
  message: JsonObject,
  dialect: AnswerEntry["dialect"],
  at: string | undefined,
): readonly AnswerEntry[] {
  const blocks = arrayOf(message["content"]).flatMap((part) => blockOf(objectOf(part), dialect) ?? []);
  const reason = stringOf(message["stopReason"]) ?? "";
  const status = Object.hasOwn(ENDS, reason) ? ENDS[reason] : undefined;
  if (blocks.length === 0 && status === undefined) return [];
  return [
    {
      kind: "answer",
      dialect,
      items: answerItems(dialect, blocks),
      provider: textIn(message, "provider"),
      model: textIn(message, "model"),
      status,
      error: status === "failed" ? (textIn(message, "errorMessage") ?? "the answer failed") : undefined,
      at,
    },
  ];
}

/** pi does not send a thought without its payload as a thought. It stays one here, and the guard decides. */
function blockOf(part: JsonObject, dialect: AnswerEntry["dialect"]): FoundBlock | undefined {
  const block = partOf(part, dialect, true);
  if (part["type"] !== "thinking" || block?.kind === "reasoning") return block;
  const text = stringOf(part["thinking"]) ?? "";
  return text.trim() === "" ? undefined : { kind: "reasoning", text };
}

/** The highest version of the format that is known. */
const KNOWN_VERSION = 3;

/** The version that the header states, if this program does not know it. */
export function unknownPiVersion(text: string): string | undefined {
  const header = jsonLines(text).values.find((value) => value?.["type"] === "session");
  const { version } = objectOf(header);
  const number = version === undefined ? 1 : numberOf(version);
  return number !== undefined && number >= 1 && number <= KNOWN_VERSION ? undefined : String(version);
}
