/**
 * pi sessions, versions 1 to 3: a header and a tree of entries. The history is the path to the last entry, as pi would send
 * it to the model that answered last: without thoughts of other models and without failed or aborted answers.
 */

import {
  arrayOf,
  hexHash,
  isObject,
  type JsonObject,
  numberOf,
  objectOf,
  stringOf,
  tryParseJson,
} from "../../../base/support/index.ts";
import { type Block, blockHistory, type FoundBlock } from "../block-history.ts";
import type { RecordFile } from "../element-list.ts";
import { type History, type HistoryDialect, LOST_RESULT } from "../history.ts";
import { jsonLines } from "../json-lines.ts";
import { pathToLast, type RecordEdits } from "../record-edits.ts";
import { textOf } from "./text-of.ts";

export const LINKS = { id: "id", parent: "parentId" };

export function openPiSession(text: string): History {
  const file = jsonLines(text);
  const sent = entriesToSend(file);
  const last = sent.map((line) => messageAt(file, line)).findLast((one) => one["role"] === "assistant") ?? {};
  const dialect = dialectOf(stringOf(last["api"]) ?? "");
  const header = file.values.find((value) => value?.["type"] === "session");
  return blockHistory(file, {
    format: "pi-session",
    version: String(numberOf(header?.["version"]) ?? 1),
    dialect,
    links: LINKS,
    sent,
    blocksOf: (entry) => blocksOf(entry, last, dialect),
    partsIn: ({ message }) => arrayOf(objectOf(message)["content"]).length,
    close: (edits, call) => close(edits, file, call),
    rename(edits, block, callId) {
      // The item id after the call id stays as it is.
      const itemId = wholeCallId(file, block).split("|")[1];
      setCallId(edits, block, itemId === undefined ? callId : `${callId}|${itemId}`);
    },
    renameTool(edits, { element, path }, from, to) {
      edits.exchangeAt(element, path.length === 0 ? ["message", "toolName"] : [...path, "name"], from, to);
    },
    strip(edits, block, field, all) {
      if (field === "id") withoutId(edits, file, block, all);
    },
  });
}

export function dialectOf(api: string): HistoryDialect {
  if (api.includes("responses")) return "openai-responses";
  return api.includes("anthropic") || api.includes("bedrock") ? "anthropic-messages" : "openai-chat";
}

function messageAt(file: RecordFile, line: number): JsonObject {
  return objectOf(file.values[line]?.["message"]);
}

export function isEntry(value: JsonObject): boolean {
  return value["type"] !== "session";
}

/** The path, from the first entry that its last compaction kept. */
function entriesToSend(file: RecordFile): readonly number[] {
  const { values } = file;
  const path = values.some((value) => typeof value?.["parentId"] === "string")
    ? pathToLast(file, LINKS, isEntry)
    : values.flatMap((value, index) => (value !== undefined && isEntry(value) ? [index] : []));
  const compaction = path.findLastIndex((line) => values[line]?.["type"] === "compaction");
  if (compaction === -1) return path;
  const kept = values[path[compaction] ?? -1]?.["firstKeptEntryId"];
  const first = path.findIndex((line) => values[line]?.["id"] === kept);
  return first === -1 || first > compaction ? path.slice(compaction) : path.slice(first);
}

function blocksOf(entry: JsonObject, target: JsonObject, dialect: HistoryDialect): readonly FoundBlock[] {
  if (entry["type"] === "compaction" || entry["type"] === "branch_summary")
    return [{ kind: "user", text: stringOf(entry["summary"]) ?? "(summary)" }];
  if (entry["type"] === "custom_message") return [{ kind: "user", text: "(custom)" }];
  const own = objectOf(entry["message"]);
  const { role, content } = own;
  const text = textOf(content) ?? "(attachment)";
  if (role === "user" || role === "custom" || role === "bashExecution") return [{ kind: "user", text }];
  if (role === "toolResult") {
    const callId = callIdOf(stringOf(own["toolCallId"]) ?? "", dialect);
    return [{ kind: "result", callId, text }];
  }
  if (role !== "assistant" || own["stopReason"] === "error" || own["stopReason"] === "aborted") return [];
  const home = ["api", "provider", "model"].every((key) => own[key] === target[key]);
  return arrayOf(content).flatMap((part, at) => {
    const block = partOf(objectOf(part), dialect, home);
    return block === undefined ? [] : [{ ...block, path: ["message", "content", at] }];
  });
}

/** pi keeps both ids of a Responses call in one: `call_id|fc_id`. */
export function callIdOf(id: string, dialect: HistoryDialect): string {
  return dialect === "openai-responses" ? (id.split("|")[0] ?? id) : id;
}

export function partOf(part: JsonObject, dialect: HistoryDialect, home: boolean): FoundBlock | undefined {
  const text = stringOf(part["text"]) ?? "";
  switch (part["type"]) {
    case "text":
      return text.trim() === ""
        ? undefined
        : { kind: "text", text, id: home ? textId(part, dialect) : undefined };
    case "thinking":
      return home ? thought(part, dialect) : undefined;
    case "toolCall": {
      const id = stringOf(part["id"]) ?? "";
      const itemId = home && dialect === "openai-responses" ? id.split("|")[1] : undefined;
      return {
        kind: "call",
        callId: callIdOf(id, dialect),
        name: stringOf(part["name"]) ?? "",
        arguments: JSON.stringify(part["arguments"] ?? {}),
        id: itemId === "" ? undefined : itemId,
      };
    }
    default:
      return undefined;
  }
}

function textId(part: JsonObject, dialect: HistoryDialect): string | undefined {
  const signature = stringOf(part["textSignature"]);
  if (dialect !== "openai-responses" || signature === undefined) return undefined;
  const parsed = tryParseJson(signature);
  return isObject(parsed) ? stringOf(parsed["id"]) : signature;
}

function thought(part: JsonObject, dialect: HistoryDialect): FoundBlock | undefined {
  const text = stringOf(part["thinking"]) ?? "";
  const signature = stringOf(part["thinkingSignature"]);
  if (dialect === "openai-responses") {
    // The item itself, exactly as received.
    return signature !== undefined && isObject(tryParseJson(signature))
      ? { kind: "reasoning", wire: signature, text }
      : undefined;
  }
  if (dialect === "anthropic-messages") {
    if (signature === undefined || signature === "")
      return text.trim() === "" ? undefined : { kind: "text", text };
    return { kind: "reasoning", text, payload: signature, redacted: part["redacted"] === true };
  }
  return { kind: "reasoning", text, field: signature ?? "reasoning_content" };
}

function close(edits: RecordEdits, file: RecordFile, call: Block): void {
  const { element, path } = call;
  const message = messageAt(file, element);
  const part = objectOf(arrayOf(message["content"])[Number(path.at(-1))]);
  const id = hexHash(`${edits.idOf(element) ?? String(element)} ${call.callId ?? ""}`, 8);
  const result = {
    role: "toolResult",
    toolCallId: part["id"],
    toolName: part["name"],
    content: [{ type: "text", text: LOST_RESULT }],
    isError: true,
    timestamp: message["timestamp"],
  };
  edits.insertBehind(element, id, (parent) =>
    JSON.stringify({
      type: "message",
      ...(parent === undefined ? {} : { id, parentId: parent }),
      timestamp: file.values[element]?.["timestamp"],
      message: result,
    }),
  );
}

/** Returns the call id of a call or a result, with the item id after it. */
function wholeCallId(file: RecordFile, { element, path }: Block): string {
  const message = messageAt(file, element);
  const whole =
    path.length === 0
      ? message["toolCallId"]
      : objectOf(arrayOf(message["content"])[Number(path.at(-1))])["id"];
  return stringOf(whole) ?? "";
}

function setCallId(edits: RecordEdits, { element, path }: Block, id: string): void {
  edits.setAt(element, path.length === 0 ? ["message", "toolCallId"] : [...path, "id"], id);
}

function withoutId(edits: RecordEdits, file: RecordFile, block: Block, all: readonly Block[]): void {
  const { element, path, kind, callId = "" } = block;
  if (path.length === 0) return;
  if (kind === "text") edits.removeAt(element, [...path, "textSignature"]);
  if (kind !== "call") return;
  // pi finds the result of a call by the whole id.
  const whole = wholeCallId(file, block);
  setCallId(edits, block, callId);
  for (const other of all)
    if (other.kind === "result" && wholeCallId(file, other) === whole) setCallId(edits, other, callId);
}
