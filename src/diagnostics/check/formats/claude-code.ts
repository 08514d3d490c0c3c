/**
 * Claude Code transcripts: each line has a message of the Messages API, and parentUuid links the lines. Several lines with
 * the same message id may form one answer, and results of parallel calls may be off the path.
 */

import {
  arrayOf,
  hexHash,
  isObject,
  type JsonObject,
  objectOf,
  sliceArray,
  sliceMember,
  stringOf,
} from "../../../base/support/index.ts";
import { type Block, blockHistory, type FoundBlock } from "../block-history.ts";
import type { RecordFile } from "../element-list.ts";
import { type History, LOST_RESULT } from "../history.ts";
import { jsonLines } from "../json-lines.ts";
import { textMember, withMember, withoutMember } from "../json-text.ts";
import { pathToLast, type RecordEdits } from "../record-edits.ts";

export const LINKS = { id: "uuid", parent: "parentUuid" };

export function openClaudeCode(text: string): History {
  const file = jsonLines(text);
  return blockHistory(file, {
    format: "claude-code",
    version: file.values.map((value) => stringOf(value?.["version"])).findLast((one) => one !== undefined),
    dialect: "anthropic-messages",
    links: LINKS,
    sent: sentLines(file),
    blocksOf: (value, line) => blocksOf(value, file, line),
    partsIn: ({ message }) => arrayOf(objectOf(message)["content"]).length,
    close,
    rename: (edits, { element, path, kind }, callId) =>
      edits.setAt(element, [...path, kind === "result" ? "tool_use_id" : "id"], callId),
    renameTool: (edits, { element, path }, from, to) =>
      edits.exchangeAt(element, [...path, "name"], from, to),
  });
}

/** Whether a line is sent to the model, or was its answer. */
export function isTalk(value: JsonObject): boolean {
  return (
    (value["type"] === "user" || value["type"] === "assistant") &&
    value["isSidechain"] !== true &&
    value["isApiErrorMessage"] !== true &&
    isObject(value["message"])
  );
}

/** The path to the last line, and the lines next to it that belong to it. */
function sentLines(file: RecordFile): readonly number[] {
  const linked = file.values.some((value) => stringOf(value?.["uuid"]) !== undefined);
  const talk = file.values.flatMap((value, index) => (value !== undefined && isTalk(value) ? [index] : []));
  if (!linked) return talk;
  const path = new Set(pathToLast(file, LINKS, isTalk));
  const messageId = (index: number): string | undefined =>
    stringOf(objectOf(file.values[index]?.["message"])["id"]);
  const answers = new Set([...path].map(messageId).filter((id) => id !== undefined));
  const own = new Set(talk.filter((index) => path.has(index) || answers.has(messageId(index) ?? "")));
  const calls = new Set([...own].flatMap((index) => idsIn(file, index, "id")));
  return talk.filter(
    (index) => own.has(index) || idsIn(file, index, "tool_use_id").some((id) => calls.has(id)),
  );
}

/** The exact JSON of the content. */
export function contentOf({ elements }: RecordFile, line: number): string {
  return sliceMember(sliceMember(elements[line] ?? "{}", "message") ?? "{}", "content") ?? "";
}

function idsIn(file: RecordFile, line: number, field: string): readonly string[] {
  return sliceArray(contentOf(file, line)).flatMap((block) => textMember(block, field) ?? []);
}

function blocksOf(value: JsonObject, file: RecordFile, line: number): readonly FoundBlock[] {
  const assistant = value["type"] === "assistant";
  const message = stringOf(objectOf(value["message"])["id"]) ?? `line ${line + 1}`;
  const content = contentOf(file, line);
  if (content.startsWith('"'))
    return [{ kind: assistant ? "text" : "user", message, wire: `{"type":"text","text":${content}}` }];
  return sliceArray(content).map((wire, at) => ({
    kind: kindOf(textMember(wire, "type") ?? "", assistant),
    message,
    path: ["message", "content", at],
    wire,
    callId: textMember(wire, "id") ?? textMember(wire, "tool_use_id"),
    name: textMember(wire, "name"),
  }));
}

function kindOf(type: string, assistant: boolean): Block["kind"] {
  if (type === "tool_result") return "result";
  if (!assistant) return "user";
  if (type === "tool_use") return "call";
  return type.endsWith("thinking") ? "reasoning" : "text";
}

/** A user line with a constant result. It copies the envelope of the call's line. */
function close(edits: RecordEdits, { element, callId = "" }: Block): void {
  const uuid = uuidFrom(`${edits.idOf(element) ?? String(element)} ${callId}`);
  const content = [{ type: "tool_result", tool_use_id: callId, content: LOST_RESULT, is_error: true }];
  const envelope = ["message", "requestId", "toolUseResult"].reduce(
    withoutMember,
    edits.get(element) ?? "{}",
  );
  edits.insertBehind(element, uuid, (parent) => {
    const own = withMember(
      withMember(envelope, "type", '"user"'),
      "message",
      JSON.stringify({ role: "user", content }),
    );
    if (parent === undefined) return own;
    return withMember(withMember(own, "parentUuid", JSON.stringify(parent)), "uuid", JSON.stringify(uuid));
  });
}

function uuidFrom(seed: string): string {
  const hex = hexHash(seed, 32);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
