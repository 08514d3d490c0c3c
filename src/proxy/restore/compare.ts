/** What became of the thoughts of an answer in a client's hands, one by one. */

import type { Group, KnownThought } from "../ledger/index.ts";
import type { PlacedThought, Stretch, ThoughtPiece } from "../marks/index.ts";
import type { Match } from "./match.ts";

export interface Fate {
  /** Its number among the thoughts of the group. */
  readonly number: number;
  readonly thought: KnownThought;
  /** The client's copy. */
  readonly copy?: PlacedThought | undefined;
  readonly is: "as issued" | "changed" | "lost";
}

export interface Fates {
  readonly fates: readonly Fate[];
  /** Thoughts of the client that were not issued with this answer. */
  readonly others: readonly PlacedThought[];
}

type Copy = PlacedThought;

export function fatesOf({ group, atom, count }: Match, stretch: Stretch): Fates {
  const isLast = atom + count === stretch.atoms.length;
  const copies = stretch.thoughts.filter(({ before }) => before >= atom && (before < atom + count || isLast));
  const taken = new Set<Copy>();
  const take = (fits: (copy: Copy) => boolean): Copy | undefined => {
    const found = copies.find((copy) => !taken.has(copy) && fits(copy));
    if (found !== undefined) taken.add(found);
    return found;
  };
  const found = group.thoughts.map((thought) => ({
    thought,
    copy:
      take(({ identity }) => identity !== "" && thought.identities.includes(identity)) ??
      take(({ payloads }) => payloads.some((payload) => thought.identities.includes(payload))) ??
      take(({ id }) => id !== "" && id === thought.id) ??
      take(({ words, piece }) => words !== "" && words === thought.words && piece.form === thought.form),
  }));
  const fates = found.map(({ thought, copy }, number): Fate => {
    // A client that emptied everything left the thought where it was.
    const blank = copy ?? take(({ piece }) => piece.form === thought.form && isBlank(piece));
    return { number, thought, copy: blank, is: blank === undefined ? "lost" : judged(thought, blank, group) };
  });
  // A chat client may keep its own copy in a field of another name; only the same field is an answer of its own.
  const forms = new Set(group.thoughts.map(({ form }) => form));
  const isOther = ({ piece }: Copy): boolean => group.dialect !== "openai-chat" || forms.has(piece.form);
  return { fates, others: copies.filter((copy) => !taken.has(copy) && isOther(copy)) };
}

/** Nothing is left in it that anybody could have made. */
function isBlank({ identity, payloads, words }: ThoughtPiece): boolean {
  return words.trim() === "" && (payloads === undefined ? identity.trim() === "" : payloads.length === 0);
}

function judged(thought: KnownThought, copy: Copy, { dialect }: Group): Fate["is"] {
  if (copy.piece.form === "item_reference") return "as issued";
  const sameIdentity = thought.identities.length === 0 || thought.identities.includes(copy.identity);
  // The signature of a thought covers its text; a payload stands for itself (failures.md C01, E03).
  const sameWords = dialect === "openai-responses" && thought.opaque ? true : copy.words === thought.words;
  return sameIdentity && sameWords ? "as issued" : "changed";
}
