/**
 * Claude Code transcripts: lines with a message of the Messages API each, linked by parentUuid. One answer may be spread over
 * several lines with the same message id; results of parallel calls may hang beside the path.
 *
 * @module
 */

import {
  hexHash,
  isObject,
  objectOf,
  sliceArray,
  sliceMember,
  stringOf,
} from "../../../base/support/index.ts";
import { appHistory, type Block, type BlockEdit } from "../app-history.ts";
import { type History, LOST_RESULT } from "../history.ts";
import { arrayText, atPath, textMember, withMember, withoutMember } from "../json-text.ts";
import { type JsonLines, jsonLines } from "../line-file.ts";
import { LinkedLines, pathTo } from "./linked-lines.ts";

type Line = Readonly<Record<string, unknown>>;

/** Where a block stands: its line, and its place in the message's content; undefined: the content is a text. */
interface Source {
  readonly line: number;
  readonly at: number | undefined;
}

const NAMES = { id: "uuid", parent: "parentUuid" };

export function openClaudeCode(text: string): History {
  const lines = jsonLines(text);
  const sources: Source[] = [];
  const blocks: Block[] = [];
  for (const line of sentLines(lines)) {
    for (const { block, at } of blocksOf(lines, line)) {
      blocks.push(block);
      sources.push({ line, at });
    }
  }
  const version = lines.values
    .map((value) => stringOf(value?.["version"]))
    .findLast((one) => one !== undefined);
  return appHistory({
    format: "claude-code",
    version,
    dialect: "anthropic-messages",
    blocks,
    damage: lines.damage,
    clean: () => lines.clean(),
    rewrite: (edits) => rewrite(text, lines, { blocks, sources }, edits),
  });
}

function isTalk(value: Line): boolean {
  return (
    (value["type"] === "user" || value["type"] === "assistant") &&
    value["isSidechain"] !== true &&
    value["isApiErrorMessage"] !== true &&
    isObject(value["message"])
  );
}

/** The path to the last line, and what belongs to it without standing on it. */
function sentLines(lines: JsonLines): readonly number[] {
  const linked = lines.values.some((value) => stringOf(value?.["uuid"]) !== undefined);
  const talk = lines.values.flatMap((value, index) => (value !== undefined && isTalk(value) ? [index] : []));
  if (!linked) return talk;
  const path = new Set(pathTo(lines, NAMES, isTalk));
  const messageId = (index: number): string | undefined =>
    stringOf(objectOf(lines.values[index]?.["message"])["id"]);
  const answers = new Set([...path].map(messageId).filter((id) => id !== undefined));
  const own = talk.filter((index) => path.has(index) || answers.has(messageId(index) ?? ""));
  const calls = new Set(own.flatMap((index) => idsIn(lines, index, "id")));
  return talk.filter(
    (index) => own.includes(index) || idsIn(lines, index, "tool_use_id").some((id) => calls.has(id)),
  );
}

function contentOf(lines: JsonLines, line: number): string {
  return sliceMember(sliceMember(lines.file.elements[line] ?? "{}", "message") ?? "{}", "content") ?? "";
}

function idsIn(lines: JsonLines, line: number, field: string): readonly string[] {
  return sliceArray(contentOf(lines, line)).flatMap((block) => textMember(block, field) ?? []);
}

function blocksOf(
  lines: JsonLines,
  line: number,
): readonly { readonly block: Block; readonly at: number | undefined }[] {
  const value = lines.values[line] ?? {};
  const assistant = value["type"] === "assistant";
  const message = stringOf(objectOf(value["message"])["id"]) ?? `line ${line + 1}`;
  const place = `line ${line + 1}`;
  const content = contentOf(lines, line);
  if (content.startsWith('"')) {
    const kind = assistant ? "text" : "user";
    return [{ block: { kind, message, place, wire: `{"type":"text","text":${content}}` }, at: undefined }];
  }
  return sliceArray(content).map((wire, at) => {
    const callId = textMember(wire, "id") ?? textMember(wire, "tool_use_id");
    const name = textMember(wire, "name");
    const block: Block = {
      kind: kindOf(textMember(wire, "type") ?? "", assistant),
      message,
      place,
      wire,
      callId,
      name,
    };
    return { block, at };
  });
}

function kindOf(type: string, assistant: boolean): Block["kind"] {
  if (type === "tool_result") return "result";
  if (!assistant) return "user";
  if (type === "tool_use") return "call";
  return type.endsWith("thinking") ? "reasoning" : "text";
}

function rewrite(
  text: string,
  lines: JsonLines,
  { blocks, sources }: { readonly blocks: readonly Block[]; readonly sources: readonly Source[] },
  edits: readonly BlockEdit[],
): string {
  const linked = new LinkedLines(lines, NAMES);
  const dropped = new Map<number, Set<number | undefined>>();
  for (const edit of edits) {
    const block = blocks[edit.block];
    const source = sources[edit.block];
    if (block === undefined || source === undefined) continue;
    const { line, at } = source;
    const path = ["message", "content", ...(at === undefined ? [] : [at])];
    if (edit.do === "drop") dropped.set(line, (dropped.get(line) ?? new Set()).add(at));
    else if (edit.do === "close") close(linked, line, block);
    else if (edit.do === "strip" && at !== undefined)
      linked.edits.change(line, (one) =>
        atPath(one, path, (wire) => (wire === undefined ? wire : withoutMember(wire, edit.field))),
      );
    else if (edit.do === "rename") {
      const field = block.kind === "result" ? "tool_use_id" : "id";
      linked.edits.change(line, (one) => atPath(one, [...path, field], () => JSON.stringify(edit.callId)));
    }
  }
  for (const [line, parts] of dropped) {
    const kept = sliceArray(
      contentOf({ ...lines, file: { ...lines.file, elements: current(lines, linked) } }, line),
    ).filter((_, at) => !parts.has(at));
    if (kept.length === 0 || parts.has(undefined)) linked.remove(line);
    else linked.edits.change(line, (one) => atPath(one, ["message", "content"], () => arrayText(kept)));
  }
  return linked.text(text);
}

/** Lines as they stand after the edits so far. */
function current(lines: JsonLines, { edits }: LinkedLines): readonly string[] {
  return lines.file.elements.map((line, index) => edits.get(index) ?? line);
}

/** A line of the user's with a constant result, in the envelope of the call's line. */
function close(linked: LinkedLines, line: number, { callId = "" }: Block): void {
  const uuid = uuidFrom(`${linked.idOf(line) ?? String(line)} ${callId}`);
  const content = [{ type: "tool_result", tool_use_id: callId, content: LOST_RESULT, is_error: true }];
  const envelope = ["message", "requestId", "toolUseResult"].reduce(
    withoutMember,
    linked.edits.get(line) ?? "{}",
  );
  linked.insertBehind(line, uuid, (parent) => {
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
