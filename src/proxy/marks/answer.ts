/** An answer as the members that every client shows, and the thoughts among them that a client may lose. */

import type { Dialect } from "../../base/events/index.ts";
import {
  isObject,
  type JsonObject,
  objectOf,
  sliceMember,
  stringOf,
  tryParseJson,
} from "../../base/support/index.ts";
import type { ItemDraft } from "../../runtime/providers/index.ts";
import type { Mark, ModelPiece, Piece, ThoughtPiece } from "./piece.ts";
import { weightOf } from "./piece.ts";
import { readChatMessage } from "./read-chat.ts";
import { readMessage } from "./read-messages.ts";
import { readItem } from "./read-responses.ts";

/** A visible member of an answer. */
export interface Member {
  readonly kind: ModelPiece["kind"];
  readonly mark: string;
  readonly weight: number;
  /** On the first of several texts in a row: the mark of all of them, for clients that join them. */
  readonly joined?: string | undefined;
}

/** A thought as the provider issued it. */
export interface IssuedThought {
  /** The index of the member that follows it; the number of members if none does. */
  readonly before: number;
  /** The type of the item or block, or the field of the message. */
  readonly form: string;
  /** The hash of the item's id. */
  readonly id?: string | undefined;
  /** JSON text: the item, the block, or the value of the field. */
  readonly raw: string;
  /** Whether only its provider can read it. Readable thoughts are not bound to a model. */
  readonly opaque: boolean;
  /** Hashes by which a client's copy is known: of its payloads or signature, and of its words. */
  readonly identities: readonly string[];
  readonly words: string;
}

export interface Answer {
  readonly members: readonly Member[];
  /** The marks of the first texts joined, or of the first call: how a stretch finds its candidates. */
  readonly openings: readonly string[];
  readonly thoughts: readonly IssuedThought[];
  /** Ids of members, as issued. */
  readonly ids: readonly string[];
}

export function memberMark(mark: Mark, kind: ModelPiece["kind"], text: string): string {
  return mark(`${kind}\n${text}`);
}

/** Undefined if there is nothing to see, or nothing that could be known again. */
export function readIssued(dialect: Dialect, items: readonly ItemDraft[], mark: Mark): Answer | undefined {
  const sorted = items.toSorted((a, b) => a.outputIndex - b.outputIndex);
  const pieces = dialect === "openai-chat" ? chatPieces(sorted) : itemPieces(dialect, sorted);
  const members: (Member & { readonly text: string })[] = [];
  const thoughts: IssuedThought[] = [];
  const ids: string[] = [];
  for (const { piece, raw } of pieces) {
    if (piece.kind === "thought") {
      thoughts.push(issued(piece, raw, members.length, mark));
      continue;
    }
    if (piece.kind !== "text" && piece.kind !== "call") continue;
    const { kind, text } = piece;
    members.push({ kind, text, mark: memberMark(mark, kind, text), weight: weightOf(piece) });
    ids.push(
      ...[piece.id, piece.kind === "call" ? piece.callId : undefined].filter((id) => id !== undefined),
    );
  }
  if (members.length === 0) return undefined;
  return {
    members: withJoined(members, mark),
    openings: openingsOf(withJoined(members, mark)),
    thoughts: dialect === "openai-chat" ? joinedFields(thoughts, mark) : thoughts,
    ids: ids.filter((id) => id !== ""),
  };
}

function withJoined(members: readonly (Member & { readonly text: string })[], mark: Mark): readonly Member[] {
  return members.map(({ kind, mark: own, weight }, at) => {
    if (kind !== "text" || members[at - 1]?.kind === "text" || members[at + 1]?.kind !== "text")
      return { kind, mark: own, weight };
    const end = members.findIndex((one, index) => index > at && one.kind !== "text");
    const texts = members.slice(at, end === -1 ? members.length : end).map(({ text }) => text);
    return { kind, mark: own, weight, joined: memberMark(mark, "text", texts.join("")) };
  });
}

function openingsOf([first]: readonly Member[]): readonly string[] {
  if (first === undefined) return [];
  return first.joined === undefined ? [first.mark] : [first.mark, first.joined];
}

interface ReadPiece {
  readonly piece: Piece;
  readonly raw: string;
}

function itemPieces(dialect: Dialect, items: readonly ItemDraft[]): readonly ReadPiece[] {
  return items.flatMap(({ item }, index) => {
    const value = tryParseJson(item);
    const pieces =
      dialect === "openai-responses"
        ? readItem(value, index)
        : readMessage({ role: "assistant", content: [value] }, index);
    return pieces.map((piece) => ({ piece, raw: item }));
  });
}

/** A chat answer is one message: its thoughts stand before everything else. */
function chatPieces(items: readonly ItemDraft[]): readonly ReadPiece[] {
  const thoughts = items.flatMap((draft): readonly ReadPiece[] => {
    if (draft.type !== "reasoning") return [];
    const raw = sliceMember(draft.item, draft.itemType) ?? "null";
    const message: JsonObject =
      draft.itemType === "content_thinking"
        ? { role: "assistant", content: [tryParseJson(raw)] }
        : { role: "assistant", ...objectOf(tryParseJson(draft.item)) };
    const piece = readChatMessage(message, 0).find((one) => one.kind === "thought");
    return piece === undefined ? [] : [{ piece, raw }];
  });
  const visible = items.flatMap((draft): readonly ReadPiece[] => {
    if (draft.type === "reasoning") return [];
    const value = tryParseJson(draft.item);
    const message = draft.type === "tool_call" ? { tool_calls: [value] } : isObject(value) ? value : {};
    return readChatMessage({ ...message, role: "assistant" }, 0)
      .filter((one) => one.kind !== "thought")
      .map((piece) => ({ piece, raw: draft.item }));
  });
  return [...thoughts, ...visible];
}

/** A thought that came in several parts goes back as one field. */
function joinedFields(thoughts: readonly IssuedThought[], mark: Mark): readonly IssuedThought[] {
  return [...new Set(thoughts.map(({ form }) => form))].flatMap((form) => {
    const own = thoughts.filter((one) => one.form === form);
    const [first] = own;
    if (first === undefined || (own.length === 1 && form !== "content_thinking")) return own;
    const raw =
      form === "content_thinking"
        ? `[${own.map((one) => one.raw).join(",")}]`
        : JSON.stringify(own.map((one) => stringOf(tryParseJson(one.raw)) ?? "").join(""));
    const message =
      form === "content_thinking" ? { content: tryParseJson(raw) } : { [form]: tryParseJson(raw) };
    const piece = readChatMessage({ role: "assistant", ...message }, 0).find((one) => one.kind === "thought");
    return piece === undefined ? [] : [issued(piece, raw, first.before, mark)];
  });
}

function issued(piece: ThoughtPiece, raw: string, before: number, mark: Mark): IssuedThought {
  const { identity, payloads, words } = thoughtMarks(piece, mark);
  return {
    before,
    form: piece.form,
    id: piece.id === undefined ? undefined : idMark(mark, piece.id),
    raw,
    opaque: identity !== "",
    identities: identity === "" ? [] : [identity, ...payloads],
    words,
  };
}

export function idMark(mark: Mark, id: string): string {
  return mark(`id\n${id}`);
}

/** The hashes of a thought, empty where it has nothing to hash. */
export interface ThoughtMarks {
  readonly identity: string;
  readonly payloads: readonly string[];
  readonly words: string;
}

export function thoughtMarks(
  { form, identity, payloads = [], words }: ThoughtPiece,
  mark: Mark,
): ThoughtMarks {
  return {
    identity: identity === "" ? "" : mark(`identity\n${form}\n${identity}`),
    payloads: payloads.map((payload) => mark(`payload\n${form}\n${payload}`)),
    words: words.trim() === "" ? "" : mark(`words\n${words}`),
  };
}
