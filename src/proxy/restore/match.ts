/**
 * Knows the answers in a request again. A group is matched by the first evidence that leaves exactly one candidate;
 * doubt means no match, because a thought of another turn is worse than a lost one (ADR 0026).
 */

import { type Alike, type Group, type GroupIndex, NOTHING } from "../ledger/index.ts";
import type { Atom, Keys, Mark, Reading, Stretch } from "../marks/index.ts";
import { type Aligned, Aligner } from "./align.ts";

/** The evidence for a match, strongest first. */
export type Tier = "pin" | "place" | "identity" | "loose place" | "anchor" | "spine" | "chain";

export interface Match extends Aligned {
  readonly stretch: number;
  /** The first piece. */
  readonly atom: number;
  readonly tier: Tier;
  readonly pinKey: string;
}

/** A stretch of which something is known that did not suffice. */
export interface Undecided {
  readonly stretch: number;
  readonly atom: number;
  readonly why: "several answers fit" | "too little evidence" | "pinned" | "ids of another answer";
  readonly pinKey: string;
}

export interface Matches {
  readonly matched: readonly Match[];
  readonly undecided: readonly Undecided[];
}

/** How many characters a stretch needs if its place is not known: of its own, or with the model's words before it. */
const OWN_WEIGHT = 40;
const SPINE_WEIGHT = 100;
/** The model has answered so often before: one equal answer may be chance. */
const SPINE_ANSWERS = 2;
const CHAIN_WEIGHT = 200;
const LOOSE_WEIGHT = 40;
const MOST_ALIKE = 256;
/** More answers that fit one after another are a doubt anyway. */
const MOST_CHAINS = 64;

/** A piece whose group is sought, or the first of several that were found to be one. */
interface Unit {
  readonly stretch: number;
  readonly atom: number;
  readonly count: number;
  readonly match?: Match | undefined;
}

/** A twin of the same model comes before any hint. */
const MODEL_WEIGHT = 100;

type Step = "strong" | "backward" | "weak";

export class Matcher {
  readonly #index: GroupIndex;
  readonly #scope: string;
  readonly #mark: Mark;
  readonly #model: string;
  readonly #hints: ReadonlySet<string>;
  readonly #aligner: Aligner;
  readonly #candidates = new Map<Atom, readonly Aligned[]>();

  constructor(
    index: GroupIndex,
    scope: string,
    mark: Mark,
    { model, hints }: { readonly model: string; readonly hints: readonly string[] },
  ) {
    this.#index = index;
    this.#scope = scope;
    this.#mark = mark;
    this.#model = model;
    this.#hints = new Set(hints);
    this.#aligner = new Aligner(mark);
  }

  match({ stretches }: Reading): Matches {
    if (!stretches.some(({ atoms }) => atoms.some((_, atom) => this.#candidatesAt(atoms, atom).length > 0)))
      return { matched: [], undecided: [] };
    let units: readonly Unit[] = stretches.flatMap(({ atoms }, stretch) =>
      atoms.map((_, atom) => ({ stretch, atom, count: 1 })),
    );
    // A match is an anchor for its neighbours, so the strong evidence comes first and each step is followed by a walk back.
    for (const step of ["strong", "backward", "weak", "backward"] as const)
      units = this.#walk(units, stretches, step);
    units = this.#walk(this.#chained(units, stretches), stretches, "weak");
    units = whole(this.#walk(units, stretches, "backward"), stretches);
    const matched = units.flatMap(({ match }) => match ?? []);
    return { matched, undecided: units.flatMap((unit) => this.#undecided(unit, stretches)) };
  }

  #walk(units: readonly Unit[], stretches: readonly Stretch[], step: Step): readonly Unit[] {
    const done: Unit[] = [];
    const rest = step === "backward" ? units.toReversed() : units;
    for (let at = 0; at < rest.length; at += 1) {
      const unit = rest[at] as Unit;
      const match = unit.match ?? this.#find(unit, stretches, step, done.at(-1)?.match);
      if (match === undefined || unit.match !== undefined) {
        done.push(unit);
        continue;
      }
      // The units that the match covers: they follow it in the request, so a walk back has seen them already.
      const covered = match.count - 1;
      const others =
        step === "backward"
          ? done.splice(done.length - covered, covered)
          : rest.slice(at + 1, at + 1 + covered);
      if (
        others.some((one) => one.match !== undefined || one.stretch !== unit.stretch) ||
        others.length < covered
      ) {
        if (step === "backward") done.push(...others);
        done.push(unit);
        continue;
      }
      if (step !== "backward") at += covered;
      done.push({ ...unit, count: match.count, match });
    }
    return step === "backward" ? done.toReversed() : done;
  }

  #find(
    { stretch, atom }: Unit,
    stretches: readonly Stretch[],
    step: Step,
    neighbour: Match | undefined,
  ): Match | undefined {
    const own = stretches[stretch] as Stretch;
    const first = own.atoms[atom] as Atom;
    const all = this.#candidatesAt(own.atoms, atom);
    if (all.length === 0) return undefined;
    const pinKey = this.#pinKey(own.atoms, atom);
    const found = (one: Aligned | undefined, tier: Tier): Match | undefined =>
      one === undefined ? undefined : { ...one, stretch, atom, tier, pinKey };
    const named = this.#named(own, atom, all);
    const pin = this.#index.pin(this.#scope, pinKey);
    if (named === undefined) {
      if (pin === NOTHING) return undefined;
      const pinned = pin === undefined ? undefined : all.find(({ group }) => group.id === pin);
      if (pinned !== undefined) return found(pinned, "pin");
    }
    const open = named === "several" ? [] : all.filter(({ group }) => named === undefined || named === group);
    if (open.length === 0) return undefined;
    // Part of a stretch is known again only by its place or its ids, and so is one that another account may have had.
    const isElsewhere = this.#aligner
      .openings(own.atoms, atom)
      .some((opening) => this.#index.isElsewhere(this.#scope, opening, first.keys));
    const ending = isElsewhere ? [] : open.filter(({ count }) => atom + count === own.atoms.length);
    if (step === "backward") return found(before(ending, neighbour), "anchor");
    return (
      found(this.#atPlace(open, first.keys), "place") ??
      (named === undefined ? undefined : found(open[0], "identity")) ??
      found(this.#loosely(ending, open, own.atoms, atom), "loose place") ??
      found(this.#after(ending, first.keys, neighbour), "anchor") ??
      (step === "weak" && stretch >= SPINE_ANSWERS
        ? found(this.#bySpine(ending, open, own.atoms, atom), "spine")
        : undefined)
    );
  }

  /** Twins have the same history and the same answer: any of them is a thought of this very text. */
  #atPlace(open: readonly Aligned[], { place }: Keys): Aligned | undefined {
    const here = open.filter(({ group }) => group.keys.place === place);
    const longest = Math.max(...here.map(({ count }) => count));
    const shared = ({ group }: Aligned): number =>
      (group.model === this.#model ? MODEL_WEIGHT : 0) +
      group.hints.filter((hint) => this.#hints.has(hint)).length;
    return here
      .filter(({ count }) => count === longest)
      .toSorted(
        (a, b) => shared(b) - shared(a) || a.group.at - b.group.at || (a.group.id < b.group.id ? -1 : 1),
      )[0];
  }

  /** The only one with this key, and no unknown answer can have it too. */
  #only(
    ending: readonly Aligned[],
    open: readonly Aligned[],
    name: "loose" | "near" | "spine",
    keys: Keys,
  ): Aligned | undefined {
    if (keys[name] === "" || this.#index.isOpen(this.#scope, "loose", keys.loose)) return undefined;
    if (keys.spine !== "" && this.#index.isOpen(this.#scope, "spine", keys.spine)) return undefined;
    // The one that is sought may have lost its mark: to a reminder that is gone, or to a history that was cut off.
    const here = open.filter(
      ({ group: { keys: own } }) =>
        own[name] === keys[name] ||
        own.spine === keys.spine ||
        (name !== "loose" && own.local === keys.local && own.local !== ""),
    );
    const [only] = here.length === 1 ? here : [];
    return only?.group.keys[name] === keys[name] && ending.includes(only) ? only : undefined;
  }

  /** The group before is known, and this one was issued after it. */
  #after(
    open: readonly Aligned[],
    { local, spine }: Keys,
    neighbour: Match | undefined,
  ): Aligned | undefined {
    if (neighbour === undefined || this.#index.isOpen(this.#scope, "spine", spine)) return undefined;
    const { id } = neighbour.group;
    const after = open.filter(({ group }) => group.parent === id);
    const nearer = after.filter(({ group }) => group.keys.local === local);
    const strays = open.filter(isStray);
    const isRival = ({ group: { keys } }: Aligned): boolean => keys.local === local || keys.spine === spine;
    if (nearer.length === 1) return strays.some(isRival) ? undefined : nearer[0];
    const isSure =
      after.length === 1 && strays.length === 0 && !this.#index.isOpen(this.#scope, "parent", id);
    return isSure ? after[0] : undefined;
  }

  /** The same history but for reminders and numbers, and more of it than a greeting. */
  #loosely(
    ending: readonly Aligned[],
    open: readonly Aligned[],
    atoms: readonly Atom[],
    atom: number,
  ): Aligned | undefined {
    const { keys, historyWeight } = atoms[atom] as Atom;
    return historyWeight < LOOSE_WEIGHT ? undefined : this.#only(ending, open, "loose", keys);
  }

  /** Everything the model said before is the same, and what it said is long enough not to be said twice. */
  #bySpine(
    ending: readonly Aligned[],
    open: readonly Aligned[],
    atoms: readonly Atom[],
    atom: number,
  ): Aligned | undefined {
    const { keys, spineWeight } = atoms[atom] as Atom;
    const own = weightOf(atoms.slice(atom));
    const near = own >= OWN_WEIGHT ? this.#only(ending, open, "near", keys) : undefined;
    return near ?? (own + spineWeight >= SPINE_WEIGHT ? this.#only(ending, open, "spine", keys) : undefined);
  }

  /**
   * Neighbours that were issued one after another: after a client has cut off or changed what stood before them. Exactly
   * one such chain must fit.
   */
  #chained(units: readonly Unit[], stretches: readonly Stretch[]): readonly Unit[] {
    const done = [...units];
    let chains: (readonly Aligned[])[] = [];
    let from = 0;
    const settle = (end: number): void => {
      const [only] = chains.length === 1 ? chains : [];
      const weight = (only ?? []).reduce((sum, _, step) => {
        const unit = units[from + step] as Unit;
        return sum + weightOf(stretches[unit.stretch]?.atoms.slice(unit.atom) ?? []);
      }, 0);
      if (only !== undefined && only.length === end - from && only.length > 1 && weight >= CHAIN_WEIGHT)
        for (const [step, one] of only.entries())
          done[from + step] = this.#asMatch(units[from + step] as Unit, one, stretches);
      chains = [];
    };
    for (const [at, unit] of units.entries()) {
      const open = unit.match === undefined ? this.#wholeCandidates(unit, stretches) : [];
      const { local } = stretches[unit.stretch]?.atoms[unit.atom]?.keys ?? { local: "" };
      const isStuck = chains.length > 0 && open.some(isStray);
      const longer = isStuck
        ? []
        : chains.flatMap((chain) =>
            open
              .filter(({ group }) => group.parent === chain.at(-1)?.group.id && group.keys.local === local)
              .map((one) => [...chain, one]),
          );
      if (longer.length > 0 && longer.length <= MOST_CHAINS) {
        chains = longer;
        continue;
      }
      settle(at);
      from = at;
      chains = open.length > MOST_CHAINS ? [] : open.map((one) => [one]);
    }
    settle(units.length);
    return done;
  }

  #wholeCandidates({ stretch, atom }: Unit, stretches: readonly Stretch[]): readonly Aligned[] {
    const own = stretches[stretch] as Stretch;
    const all = this.#candidatesAt(own.atoms, atom);
    if (all.length === 0 || this.#index.pin(this.#scope, this.#pinKey(own.atoms, atom)) === NOTHING)
      return [];
    if (atom > 0 || this.#named(own, atom, all) !== undefined) return [];
    return all.filter(({ count }) => count === own.atoms.length);
  }

  #asMatch(unit: Unit, one: Aligned, stretches: readonly Stretch[]): Unit {
    const { stretch, atom } = unit;
    const pinKey = this.#pinKey(stretches[stretch]?.atoms ?? [], atom);
    return { ...unit, count: one.count, match: { ...one, stretch, atom, tier: "chain", pinKey } };
  }

  /** The one group that the ids and payloads here were issued in; "several" if they disagree. */
  #named(stretch: Stretch, atom: number, all: readonly Aligned[]): Group | "several" | undefined {
    const count = Math.max(...all.map((one) => one.count));
    const thoughts = stretch.thoughts.filter(({ before: at }) => at >= atom && at < atom + count);
    const hashes = [
      ...stretch.atoms.slice(atom, atom + count).flatMap(({ ids }) => ids),
      ...thoughts.flatMap(({ identity, payloads, words, id, piece }) => [
        identity,
        ...payloads,
        piece.words.length < OWN_WEIGHT ? "" : words,
        id,
      ]),
    ];
    const groups = new Set<Group>();
    for (const hash of hashes) {
      const issued = hash === "" ? [] : this.#index.issuedWith(this.#scope, hash);
      const [only] = issued;
      if (issued.length === 1 && only !== undefined) groups.add(only);
    }
    if (groups.size > 1) return "several";
    return groups.values().next().value;
  }

  #candidatesAt(atoms: readonly Atom[], atom: number): readonly Aligned[] {
    const first = atoms[atom] as Atom;
    const known = this.#candidates.get(first);
    if (known !== undefined) return known;
    const groups = new Set<Group>();
    for (const opening of this.#aligner.openings(atoms, atom))
      for (const group of this.#likely(this.#index.alike(this.#scope, opening), first.keys))
        groups.add(group);
    const found = [...groups].flatMap((group) => this.#aligner.align(group, atoms, atom) ?? []);
    this.#candidates.set(first, found);
    return found;
  }

  /** Words that were said very often are looked up by what stood before them. */
  #likely(alike: Alike, keys: Keys): readonly Group[] {
    if (alike.groups.length <= MOST_ALIKE) return alike.groups;
    return (["place", "loose", "spine", "near", "local"] as const).flatMap((name) =>
      alike.with(name, keys[name]),
    );
  }

  /** The rest of a stretch at its place: what a decision is about. */
  #pinKey(atoms: readonly Atom[], atom: number): string {
    const said = atoms
      .slice(atom)
      .map(({ piece }) => (piece.kind === "text" ? piece.text : `\n${piece.text}\n`));
    return this.#mark(`pin\n${this.#model}\n${atoms[atom]?.keys.place ?? ""}\n${said.join("")}`);
  }

  #undecided(unit: Unit, stretches: readonly Stretch[]): readonly Undecided[] {
    if (unit.match !== undefined) return [];
    const own = stretches[unit.stretch] as Stretch;
    const all = this.#candidatesAt(own.atoms, unit.atom);
    if (all.length === 0) return [];
    const pinKey = this.#pinKey(own.atoms, unit.atom);
    const named = this.#named(own, unit.atom, all);
    const why =
      this.#index.pin(this.#scope, pinKey) === NOTHING
        ? "pinned"
        : named === "several" || (named !== undefined && !all.some(({ group }) => group === named))
          ? "ids of another answer"
          : all.length > 1
            ? "several answers fit"
            : "too little evidence";
    return [{ stretch: unit.stretch, atom: unit.atom, why, pinKey }];
  }
}

/** An answer of which it is not known what it was issued after. It may be the one that is sought. */
function isStray({ group }: Aligned): boolean {
  return group.parent === undefined && group.keys.spine !== "";
}

function weightOf(atoms: readonly Atom[]): number {
  return atoms.reduce((sum, { weight }) => sum + weight, 0);
}

/** A stretch that is known in part may be another answer, and so may one that is pieced together without its place. */
function whole(units: readonly Unit[], stretches: readonly Stretch[]): readonly Unit[] {
  const known = new Map<number, { pieces: number; matches: number }>();
  for (const { stretch, match, count } of units) {
    const so = known.get(stretch) ?? { pieces: 0, matches: 0 };
    if (match !== undefined) known.set(stretch, { pieces: so.pieces + count, matches: so.matches + 1 });
  }
  return units.map((unit) => {
    if (unit.match === undefined || SURE.has(unit.match.tier)) return unit;
    const { pieces, matches } = known.get(unit.stretch) ?? { pieces: 0, matches: 0 };
    const isWhole = pieces === stretches[unit.stretch]?.atoms.length;
    return isWhole && (matches === 1 || unit.match.tier === "place") ? unit : { ...unit, match: undefined };
  });
}

/** Evidence that needs no neighbour. */
const SURE: ReadonlySet<Tier> = new Set(["pin", "identity"]);

/** The group after is known, and it was issued after this one. */
function before(open: readonly Aligned[], neighbour: Match | undefined): Aligned | undefined {
  const parent = neighbour?.group.parent;
  return parent === undefined ? undefined : open.find(({ group }) => group.id === parent);
}
