/**
 * What a person typed that the server has not acknowledged, as one plain value, and how it is read from the browser's
 * storage. Other tabs, other versions of the page and a full disk may have written there, so nothing is trusted.
 */

import { arrayOf, numberOf, objectOf, stringOf, tryParseJson } from "../../../base/support/index.ts";

/** An image of a draft. Its bytes are kept beside it (kept-images.ts), because they would not fit. */
export interface DraftImage {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

/** A message that was sent and not acknowledged. Sent again under the same turn, it is the same message. */
export interface Outgoing {
  readonly turn: string;
  readonly text: string;
  readonly images: readonly DraftImage[];
  /** It joins the running turn. */
  readonly steers: boolean;
  /** Its words still stand in the field. */
  readonly inField: boolean;
}

/** A message that is being edited in its place. Sent again unchanged, it is the same version. */
export interface DraftEdit {
  readonly seq: number;
  readonly text: string;
  readonly sent?: Pick<Outgoing, "turn" | "text"> | undefined;
}

export interface DraftValue {
  readonly text: string;
  readonly caret: readonly [start: number, end: number];
  readonly images: readonly DraftImage[];
  readonly outgoing: readonly Outgoing[];
  /** A message that the person took back to change it, though the server may have it. */
  readonly doubtful?: Pick<Outgoing, "turn" | "text"> | undefined;
  readonly edits: readonly DraftEdit[];
  /** The session that the first message opens, so that a second try opens the same one. */
  readonly session?: string | undefined;
}

export const NOTHING: DraftValue = { text: "", caret: [0, 0], images: [], outgoing: [], edits: [] };

export function isNothing({ text, images, outgoing, edits }: DraftValue): boolean {
  return text === "" && images.length === 0 && outgoing.length === 0 && edits.length === 0;
}

/** `isDamaged` if the text is not what `JSON.stringify` wrote; what can be saved of the words is in the value. */
export function readDraft(json: string): { readonly value: DraftValue; readonly isDamaged: boolean } {
  const parsed = tryParseJson(json);
  const given = objectOf(parsed);
  const text = stringOf(given["text"]);
  if (text === undefined) return { value: { ...NOTHING, text: wordsIn(json) }, isDamaged: true };
  const [start, end] = arrayOf(given["caret"]).map((at) => numberOf(at) ?? text.length);
  const caret = [start ?? text.length, end ?? text.length] as const;
  const value = {
    text,
    caret,
    images: imagesIn(given["images"]),
    outgoing: arrayOf(given["outgoing"]).flatMap(outgoingIn),
    doubtful: turnAndText(given["doubtful"]),
    edits: arrayOf(given["edits"]).flatMap(editIn),
    session: stringOf(given["session"]),
  };
  return { value, isDamaged: false };
}

function turnAndText(value: unknown): Pick<Outgoing, "turn" | "text"> | undefined {
  const { turn, text } = objectOf(value);
  return typeof turn === "string" && typeof text === "string" ? { turn, text } : undefined;
}

function editIn(value: unknown): readonly DraftEdit[] {
  const { seq, text, sent } = objectOf(value);
  return typeof seq === "number" && typeof text === "string" ? [{ seq, text, sent: turnAndText(sent) }] : [];
}

function outgoingIn(value: unknown): readonly Outgoing[] {
  const { turn, text, images, steers, inField } = objectOf(value);
  if (typeof turn !== "string" || typeof text !== "string") return [];
  return [{ turn, text, images: imagesIn(images), steers: steers === true, inField: inField === true }];
}

function imagesIn(value: unknown): readonly DraftImage[] {
  return arrayOf(value).flatMap((one) => {
    const { id, name, mediaType, bytes } = objectOf(one);
    return typeof id === "string" && typeof mediaType === "string"
      ? [{ id, mediaType, name: stringOf(name) ?? "image", bytes: numberOf(bytes) ?? 0 }]
      : [];
  });
}

/** The text is written first, so that a torn value still has its words. */
function wordsIn(damaged: string): string {
  const literal = /^\{"text":"([^"\\]*(?:\\.[^"\\]*)*)/.exec(damaged)?.[1]?.replace(/\\u[\da-f]{0,3}$/, "");
  return stringOf(tryParseJson(`"${literal ?? ""}"`)) ?? "";
}
