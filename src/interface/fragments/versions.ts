/**
 * The versions of messages and answers: what edits, retries, undos and cuts left behind. A log is a tree of slots. Messages
 * that follow the same slot are versions of one another. The slots between a message and the next one are its answer; each
 * end of them is a version of the answer. Notices and requests for summaries make no versions.
 *
 * Each version leads to the path through it that was shown last, so a checkout shows it as it was left. Linear in the log.
 */

import { inertLine } from "../../base/support/index.ts";
import type { TurnEndBlock } from "./block.ts";
import { ResponseBlocks } from "./response-blocks.ts";
import type { ShownPath, Slot } from "./slot.ts";

/** A version of a message or of an answer, with everything that followed it when it was last shown. */
export interface BlockVersion {
  /** What `checkout` takes. */
  readonly to: number;
  /** The first words of the message or of the answer. */
  readonly text: string;
  /** How many turns it has, and how many thoughts are in them. */
  readonly turns: number;
  readonly thoughts: number;
  /** When the message was sent, or the answer ended. */
  readonly at: string;
  /** Whether it is on the path that is shown. */
  readonly shown: boolean;
}

/** The versions of what is shown. A message or an answer with one version is not among them. */
export interface BlockVersions {
  /** By the id of a `UserBlock`. */
  readonly messages: ReadonlyMap<string, readonly BlockVersion[]>;
  /** By the id of the `UserBlock` that they answer. */
  readonly answers: ReadonlyMap<string, readonly BlockVersion[]>;
  /** What once followed the end of the shown path. */
  readonly undone: readonly BlockVersion[];
}

export interface Tree {
  /** All slots, each after the one before it. */
  readonly slots: readonly Slot[];
  /** The shown path, from its start. */
  readonly path: readonly Slot[];
  /** The paths that were left, in order, and the shown one. */
  readonly shown: readonly ShownPath[];
  /** False while a turn is about to begin at the end of the path: what follows it is replaced, not undone. */
  readonly atRest: boolean;
}

export function versionsOf(tree: Tree): BlockVersions {
  return new Versions(tree).list();
}

/** What is known of a slot; the counts include those of all slots before it. */
interface Known {
  /** The slot, or the last one before it that counts. */
  readonly anchor: Slot | undefined;
  /** Whether it belongs to a request for a summary. */
  readonly aside: boolean;
  /** The message that opened its turn. */
  readonly message: Slot | undefined;
  readonly turns: number;
  readonly thoughts: number;
  /** The first words of the answer that it belongs to. */
  readonly words: string;
}

const NOTHING: Known = {
  anchor: undefined,
  aside: false,
  message: undefined,
  turns: 0,
  thoughts: 0,
  words: "",
};

class Versions {
  readonly #tree: Tree;
  readonly #known = new Map<Slot, Known>();
  /** The last shown path through each slot, as an index of `shown`. */
  readonly #lastShown = new Map<Slot, number>();
  /** The last shown path that ended at a slot. */
  readonly #lastEnded = new Map<Slot | undefined, number>();
  /** The messages and the parts of answers that follow a slot. */
  readonly #messages = new Map<Slot | undefined, Slot[]>();
  readonly #answers = new Map<Slot | undefined, Slot[]>();
  readonly #onPath: ReadonlySet<Slot>;
  readonly #ended = new Set<string>();

  constructor(tree: Tree) {
    this.#tree = tree;
    this.#onPath = new Set(tree.path);
    for (const slot of tree.slots) this.#know(slot);
    // The newest first: a slot that already has one has it for all slots before it.
    for (let index = tree.shown.length - 1; index >= 0; index -= 1) {
      const end = tree.shown[index]?.end;
      const anchor = this.#of(end).anchor;
      if (!this.#lastEnded.has(anchor)) this.#lastEnded.set(anchor, index);
      for (let slot = end; slot !== undefined && !this.#lastShown.has(slot); slot = slot.before)
        this.#lastShown.set(slot, index);
    }
  }

  list(): BlockVersions {
    const messages = new Map<string, readonly BlockVersion[]>();
    const answers = new Map<string, readonly BlockVersion[]>();
    for (const slot of this.#tree.path) {
      if (!isOpening(slot)) continue;
      const id = slot.content.id;
      const alike = this.#messages.get(this.#of(slot.before).anchor) ?? [];
      if (alike.length > 1)
        messages.set(
          id,
          alike.map((one) => this.#messageVersion(one)),
        );
      const ends = this.#endsOf(slot);
      if (ends.length > 1)
        answers.set(
          id,
          ends.map((end) => this.#answerVersion(end, slot)),
        );
    }
    return { messages, answers, undone: this.#tree.atRest ? this.#undone() : [] };
  }

  #know(slot: Slot): void {
    const { content, before } = slot;
    const previous = this.#of(before);
    const aside = previous.aside || slot.leaves;
    const opens = isOpening(slot);
    const counts = this.#counts(content, previous.anchor);
    const response = content instanceof ResponseBlocks ? content : undefined;
    this.#known.set(slot, {
      anchor: counts ? slot : previous.anchor,
      aside,
      message: opens ? slot : previous.message,
      turns: previous.turns + (opens ? 1 : 0),
      thoughts: previous.thoughts + (response?.thoughts ?? 0),
      words: opens ? "" : previous.words || inertLine(response?.firstText ?? "", MAX_TEXT),
    });
    if (!counts || aside) return;
    const siblings = opens ? this.#messages : this.#answers;
    const known = siblings.get(previous.anchor);
    if (known === undefined) siblings.set(previous.anchor, [slot]);
    else known.push(slot);
  }

  #counts(content: Slot["content"], anchor: Slot | undefined): boolean {
    if (content instanceof ResponseBlocks) return true;
    if (content.kind !== "turn_end") return content.kind !== "notice";
    // A turn that was cut into is closed once more.
    if (this.#ended.has(content.id)) return false;
    this.#ended.add(content.id);
    // A turn of which nothing is on the path was stopped before it began.
    const before = anchor?.content;
    return before instanceof ResponseBlocks || before?.kind === "user";
  }

  #of(slot: Slot | undefined): Known {
    return (slot && this.#known.get(slot)) ?? NOTHING;
  }

  /**
   * The ends of the answers to a message: where nothing of an answer follows, where a message was sent after a part of
   * one, and where the shown path ends.
   */
  #endsOf(message: Slot): readonly Slot[] {
    const shownEnd = this.#of(this.#tree.path.at(-1)).anchor;
    const ends: Slot[] = [];
    const open = [message];
    for (let slot = open.pop(); slot !== undefined; slot = open.pop()) {
      const next = this.#answers.get(slot) ?? [];
      if (next.length === 0 || this.#messages.has(slot) || slot === shownEnd) ends.push(slot);
      for (let index = next.length - 1; index >= 0; index -= 1) open.push(next[index] as Slot);
    }
    return ends;
  }

  #messageVersion(slot: Slot): BlockVersion {
    return this.#version(slot, this.#lastShown.get(slot), {
      since: slot.before,
      words: textOf(slot),
      shown: this.#onPath.has(slot),
      parts: 0,
    });
  }

  /** The last path that went on from this end with a message, or ended there. */
  #answerVersion(end: Slot, message: Slot): BlockVersion {
    let path = this.#lastEnded.get(end) ?? -1;
    for (const one of this.#messages.get(end) ?? []) path = Math.max(path, this.#lastShown.get(one) ?? -1);
    const next = this.#answers.get(end) ?? [];
    return this.#version(end, path, {
      since: message,
      words: this.#of(end).words || unanswered(end),
      shown: this.#onPath.has(end) && !next.some((one) => this.#onPath.has(one)),
      parts: 1,
    });
  }

  #undone(): readonly BlockVersion[] {
    const end = this.#tree.path.at(-1);
    const { anchor } = this.#of(end);
    const following = [...(this.#messages.get(anchor) ?? []), ...(this.#answers.get(anchor) ?? [])];
    return following.map((slot) => {
      const index = this.#lastShown.get(slot);
      const opens = isOpening(slot);
      return this.#version(slot, index, {
        since: end,
        words: opens ? textOf(slot) : this.#wordsAt(this.#tree.shown[index ?? -1]?.end, slot),
        shown: false,
        parts: opens ? 0 : 1,
      });
    });
  }

  /** The words of the answer that a slot belongs to, on the path to an end. */
  #wordsAt(end: Slot | undefined, slot: Slot): string {
    const { message } = this.#of(slot);
    let last = end;
    while (last !== undefined && this.#of(last).message !== message) last = last.before;
    return this.#of(last).words || unanswered(last ?? slot);
  }

  #version(
    slot: Slot,
    index: number | undefined,
    from: {
      readonly since: Slot | undefined;
      readonly words: string;
      readonly shown: boolean;
      /** Turns that began before `since` and go on after it. */
      readonly parts: number;
    },
  ): BlockVersion {
    const path = this.#tree.shown[index ?? -1];
    const [first, last] = [this.#of(from.since), this.#of(path?.end)];
    return {
      to: path?.to ?? -1,
      text: from.words,
      turns: last.turns - first.turns + from.parts,
      thoughts: last.thoughts - first.thoughts,
      at: slot.at,
      shown: from.shown,
    };
  }
}

const MAX_TEXT = 120;

type Opening = Slot & {
  readonly content: { readonly kind: "user"; readonly id: string; readonly text: string };
};

/** A message with which a person began a turn. */
function isOpening(slot: Slot): slot is Opening {
  const { content } = slot;
  return (
    !(content instanceof ResponseBlocks) &&
    content.kind === "user" &&
    content.by === "person" &&
    content.steer !== true
  );
}

function textOf(slot: Slot): string {
  return isOpening(slot) ? inertLine(slot.content.text, MAX_TEXT) : "";
}

function unanswered({ content }: Slot): string {
  const status =
    content instanceof ResponseBlocks || content.kind !== "turn_end" ? undefined : content.status;
  return status === undefined ? "No answer yet" : UNANSWERED[status];
}

const UNANSWERED: Readonly<Record<TurnEndBlock["status"], string>> = {
  completed: "No text",
  incomplete: "Ended at a limit",
  failed: "Failed",
  cancelled: "Stopped",
  interrupted: "Broken off",
};
