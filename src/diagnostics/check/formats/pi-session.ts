/**
 * pi sessions, versions 1 to 3: a header and entries that form a tree. Seen as pi would send the path to the last entry to
 * the model that answered last: thoughts of other models stay behind, answers that failed or were aborted too.
 *
 * @module
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
import { appHistory, type Block, type BlockEdit } from "../app-history.ts";
import { type History, type HistoryDialect, LOST_RESULT } from "../history.ts";
import { atPath, withoutMember } from "../json-text.ts";
import { type JsonLines, jsonLines } from "../line-file.ts";
import { LinkedLines, pathTo } from "./linked-lines.ts";

interface Source {
  readonly line: number;
  /** Index in the message's content; undefined: the whole entry. */
  readonly at: number | undefined;
}

interface Found {
  readonly block: Block;
  readonly source: Source;
}

const NAMES = { id: "id", parent: "parentId" };

export function openPiSession(text: string): History {
  const lines = jsonLines(text);
  const path = entriesToSend(lines);
  const last =
    path.map((line) => messageAt(lines, line)).findLast((one) => one["role"] === "assistant") ?? {};
  const dialect = dialectOf(stringOf(last["api"]) ?? "");
  const found = path.flatMap((line) => blocksOf(lines, line, last, dialect));
  const header = lines.values.find((value) => value?.["type"] === "session");
  return appHistory({
    format: "pi-session",
    version: String(numberOf(header?.["version"]) ?? 1),
    dialect,
    blocks: found.map(({ block }) => block),
    damage: lines.damage,
    clean: () => lines.clean(),
    rewrite: (edits) => rewrite(text, lines, found, edits),
  });
}

function dialectOf(api: string): HistoryDialect {
  if (api.includes("responses")) return "openai-responses";
  return api.includes("anthropic") || api.includes("bedrock") ? "anthropic-messages" : "openai-chat";
}

function messageAt(lines: JsonLines, line: number): JsonObject {
  return objectOf(lines.values[line]?.["message"]);
}

function isEntry(value: Readonly<Record<string, unknown>>): boolean {
  return value["type"] !== "session";
}

/** The path, from what the last compaction on it kept. */
function entriesToSend(lines: JsonLines): readonly number[] {
  const linked = lines.values.some((value) => typeof value?.["parentId"] === "string");
  const path = linked
    ? pathTo(lines, NAMES, isEntry)
    : lines.values.flatMap((value, index) => (value !== undefined && isEntry(value) ? [index] : []));
  const compaction = path.findLastIndex((line) => lines.values[line]?.["type"] === "compaction");
  if (compaction === -1) return path;
  const kept = lines.values[path[compaction] ?? -1]?.["firstKeptEntryId"];
  const first = path.findIndex((line) => lines.values[line]?.["id"] === kept);
  return first === -1 || first > compaction ? path.slice(compaction) : path.slice(first);
}

function blocksOf(
  lines: JsonLines,
  line: number,
  target: JsonObject,
  dialect: HistoryDialect,
): readonly Found[] {
  const entry = lines.values[line] ?? {};
  const place = `line ${line + 1}`;
  const message = place;
  const whole = (block: Omit<Block, "message" | "place">): Found => ({
    block: { ...block, message, place },
    source: { line, at: undefined },
  });
  if (entry["type"] === "compaction" || entry["type"] === "branch_summary")
    return [whole({ kind: "user", text: stringOf(entry["summary"]) ?? "(summary)" })];
  if (entry["type"] === "custom_message") return [whole({ kind: "user", text: "(custom)" })];
  const own = messageAt(lines, line);
  const role = own["role"];
  if (role === "user" || role === "custom" || role === "bashExecution")
    return [whole({ kind: "user", text: textOf(own["content"]) })];
  if (role === "toolResult") {
    const callId = callIdOf(stringOf(own["toolCallId"]) ?? "", dialect);
    return [whole({ kind: "result", callId, text: textOf(own["content"]) })];
  }
  if (role !== "assistant" || own["stopReason"] === "error" || own["stopReason"] === "aborted") return [];
  const home = ["api", "provider", "model"].every((key) => own[key] === target[key]);
  return arrayOf(own["content"])
    .filter(isObject)
    .flatMap((part, at): readonly Found[] => {
      const block = partOf(part, dialect, home);
      return block === undefined ? [] : [{ block: { ...block, message, place }, source: { line, at } }];
    });
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const texts = arrayOf(content)
    .filter(isObject)
    .flatMap((part) => stringOf(part["text"]) ?? []);
  return texts.length === 0 ? "(attachment)" : texts.join("\n");
}

/** pi keeps both ids of a Responses call in one: `call_id|fc_id`. */
function callIdOf(id: string, dialect: HistoryDialect): string {
  return dialect === "openai-responses" ? (id.split("|")[0] ?? id) : id;
}

type Part = Omit<Block, "message" | "place">;

function partOf(part: JsonObject, dialect: HistoryDialect, home: boolean): Part | undefined {
  const text = stringOf(part["text"]) ?? "";
  switch (part["type"]) {
    case "text":
      return text.trim() === "" ? undefined : { kind: "text", text, ...(home ? textId(part, dialect) : {}) };
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
        ...(itemId === undefined || itemId === "" ? {} : { id: itemId }),
      };
    }
    default:
      return undefined;
  }
}

function textId(part: JsonObject, dialect: HistoryDialect): { readonly id?: string } {
  const signature = stringOf(part["textSignature"]);
  if (dialect !== "openai-responses" || signature === undefined) return {};
  const parsed = tryParseJson(signature);
  const id = isObject(parsed) ? stringOf(parsed["id"]) : signature;
  return id === undefined ? {} : { id };
}

function thought(part: JsonObject, dialect: HistoryDialect): Part | undefined {
  const text = stringOf(part["thinking"]) ?? "";
  const signature = stringOf(part["thinkingSignature"]);
  if (dialect === "openai-responses") {
    // The item itself, exactly as it came.
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

function rewrite(
  text: string,
  lines: JsonLines,
  found: readonly Found[],
  edits: readonly BlockEdit[],
): string {
  const linked = new LinkedLines(lines, NAMES);
  const dropped = new Map<number, Set<number>>();
  for (const edit of edits) {
    const one = found[edit.block];
    if (one === undefined) continue;
    const { line, at } = one.source;
    if (edit.do === "drop" && at === undefined) linked.remove(line);
    else if (edit.do === "drop") dropped.set(line, (dropped.get(line) ?? new Set()).add(at ?? 0));
    else if (edit.do === "close") close(linked, lines, one);
    else if (edit.do === "rename") rename(linked, lines, one, edit.callId);
    else if (edit.field === "id") withoutId(linked, lines, found, one);
  }
  for (const [line, parts] of dropped) {
    const { length } = arrayOf(messageAt(lines, line)["content"]);
    if (parts.size === length) linked.remove(line);
    else
      for (const at of [...parts].toSorted((a, b) => b - a))
        linked.edits.change(line, (entry) => atPath(entry, ["message", "content", at], () => undefined));
  }
  return linked.text(text);
}

function close(linked: LinkedLines, lines: JsonLines, { block, source }: Found): void {
  const { line, at } = source;
  const entry = lines.values[line] ?? {};
  const part = objectOf(arrayOf(messageAt(lines, line)["content"])[at ?? 0]);
  const id = hexHash(`${linked.idOf(line) ?? String(line)} ${block.callId ?? ""}`, 8);
  const message = {
    role: "toolResult",
    toolCallId: part["id"],
    toolName: part["name"],
    content: [{ type: "text", text: LOST_RESULT }],
    isError: true,
    timestamp: messageAt(lines, line)["timestamp"],
  };
  linked.insertBehind(line, id, (parent) =>
    JSON.stringify({
      type: "message",
      ...(parent === undefined ? {} : { id, parentId: parent }),
      timestamp: entry["timestamp"],
      message,
    }),
  );
}

function setCallId(linked: LinkedLines, { source: { line, at } }: Found, id: string): void {
  const path = at === undefined ? ["message", "toolCallId"] : ["message", "content", at, "id"];
  linked.edits.change(line, (entry) => atPath(entry, path, () => JSON.stringify(id)));
}

/** The item id behind the call id stays what it is. */
function rename(linked: LinkedLines, lines: JsonLines, one: Found, callId: string): void {
  const { line, at } = one.source;
  const message = messageAt(lines, line);
  const old = at === undefined ? message["toolCallId"] : objectOf(arrayOf(message["content"])[at])["id"];
  const itemId = (stringOf(old) ?? "").split("|")[1];
  setCallId(linked, one, itemId === undefined ? callId : `${callId}|${itemId}`);
}

function withoutId(linked: LinkedLines, lines: JsonLines, found: readonly Found[], one: Found): void {
  const { line, at } = one.source;
  if (at === undefined) return;
  if (one.block.kind === "text") {
    linked.edits.change(line, (entry) =>
      atPath(entry, ["message", "content", at], (part) =>
        part === undefined ? part : withoutMember(part, "textSignature"),
      ),
    );
  } else if (one.block.kind === "call") {
    // pi finds the result of a call by the whole id.
    const whole = stringOf(objectOf(arrayOf(messageAt(lines, line)["content"])[at])["id"]);
    const callId = one.block.callId ?? "";
    setCallId(linked, one, callId);
    for (const other of found) {
      const isResult = other.block.kind === "result";
      if (isResult && messageAt(lines, other.source.line)["toolCallId"] === whole)
        setCallId(linked, other, callId);
    }
  }
}
