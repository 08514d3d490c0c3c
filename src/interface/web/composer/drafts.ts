/**
 * Drafts, one for each session and one for the session that is not there yet. Every change is in the browser's storage
 * before the next one, so a reload or the end of the server costs nothing. Where there is no storage, a draft lives as
 * long as its tab, and says so. Of several tabs the last one that wrote is right; the others take over what it wrote
 * and write nothing themselves.
 */

import { type DraftValue, isNothing, NOTHING, readDraft } from "./draft-value.ts";
import { dropImages } from "./kept-images.ts";

const PREFIX = "throughline/draft/";
/** No session has an empty id. */
const FIRST = "";
/** Moves of the caret alone are written together. */
const CARET_MS = 250;

const drafts = new Map<string, Draft>();

export function draftOf(session: string): Draft {
  let draft = drafts.get(session);
  if (draft === undefined) {
    draft = new Draft(PREFIX + session);
    drafts.set(session, draft);
  }
  return draft;
}

/** The draft of a session that does not exist yet. */
export function firstDraft(): Draft {
  return draftOf(FIRST);
}

/** The session was removed, so its draft has no place any more. */
export function forgetDraft(session: string): void {
  draftOf(session).clear();
  drafts.delete(session);
}

export class Draft {
  readonly #key: string;
  readonly #listeners = new Set<() => void>();
  /** Turns that this tab is sending now. */
  readonly #sending = new Set<string>();
  #value: DraftValue = NOTHING;
  #problem: string | undefined;
  #isKept = true;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(key: string) {
    this.#key = key;
    this.#read();
  }

  get value(): DraftValue {
    return this.#value;
  }

  /** Why the draft would not survive a reload, or what was lost of it. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** False while the draft lives only in this tab. */
  get isKept(): boolean {
    return this.#isKept;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  change(part: Partial<DraftValue>): void {
    this.#value = { ...this.#value, ...part };
    this.#write();
    this.#tell();
  }

  /** The caret changes far more often than words do, and losing its last move loses little. */
  moveCaret(caret: DraftValue["caret"]): void {
    const [start, end] = this.#value.caret;
    if (start === caret[0] && end === caret[1]) return;
    this.#value = { ...this.#value, caret };
    this.#timer ??= setTimeout(() => this.#write(), CARET_MS);
  }

  /** Writes what waits to be written. */
  settle(): void {
    if (this.#timer !== undefined) this.#write();
  }

  /** Gives everything to the draft of a session. */
  moveTo(session: string, value: DraftValue): void {
    draftOf(session).change(value);
    this.#value = NOTHING;
    this.#write();
    this.#tell();
  }

  clear(): void {
    const { images, outgoing } = this.#value;
    dropImages([...images, ...outgoing.flatMap((one) => one.images)]);
    this.#value = NOTHING;
    this.#write();
    this.#tell();
  }

  isSending(turn: string): boolean {
    return this.#sending.has(turn);
  }

  setSending(turn: string, sending: boolean): void {
    if (sending) this.#sending.add(turn);
    else this.#sending.delete(turn);
    this.#tell();
  }

  /** Another tab wrote. What this tab is sending stays, whatever the other one knew of it. */
  adopt(json: string | null): void {
    const { value } = json === null ? { value: NOTHING } : readDraft(json);
    const known = new Set(value.outgoing.map(({ turn }) => turn));
    const own = this.#value.outgoing.filter(({ turn }) => this.#sending.has(turn) && !known.has(turn));
    this.#value = { ...value, outgoing: [...own, ...value.outgoing] };
    this.#tell();
  }

  #read(): void {
    try {
      const kept = storage().getItem(this.#key);
      if (kept === null) return;
      const { value, isDamaged } = readDraft(kept);
      this.#value = value;
      if (!isDamaged) return;
      this.#problem =
        value.text === ""
          ? "What this browser kept of your draft could not be read. What you write now is kept."
          : "Only the words of your draft could be read again. What you write now is kept.";
    } catch {
      this.#problem = undefined; // told when there is something to keep
    }
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const empty = isNothing(this.#value);
    try {
      if (empty) storage().removeItem(this.#key);
      else storage().setItem(this.#key, JSON.stringify(this.#value));
      this.#isKept = true;
      this.#problem = undefined;
    } catch (error) {
      this.#isKept = empty;
      this.#problem = empty
        ? undefined
        : `Your draft is kept only while this tab is open: ${reasonOf(error)}.`;
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Throws if the browser has no storage or blocks it. */
function storage(): Storage {
  const found = globalThis.localStorage as Storage | null | undefined;
  if (found === null || found === undefined) throw new Error("no storage");
  return found;
}

function reasonOf(error: unknown): string {
  const name = error instanceof DOMException ? error.name : "";
  return name === "QuotaExceededError"
    ? "the storage of this browser is full"
    : "this browser does not let the page store anything";
}

addEventListener("storage", ({ key, newValue }) => {
  if (key?.startsWith(PREFIX) === true) drafts.get(key.slice(PREFIX.length))?.adopt(newValue);
});
addEventListener("pagehide", () => {
  for (const draft of drafts.values()) draft.settle();
});
