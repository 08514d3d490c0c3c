/** A request with everything put back that its client lost and that may go back; and what was decided, with reasons. */

import type { Dialect } from "../../base/events/index.ts";
import { type Decision, type Group, type Ledger, NOTHING } from "../ledger/index.ts";
import type { Reading, Stretch } from "../marks/index.ts";
import { type Body, withEdits } from "./body.ts";
import { type Fates, fatesOf } from "./compare.ts";
import { type Match, Matcher, type Matches } from "./match.ts";
import { whyNot } from "./may-go-back.ts";
import { PutBack } from "./put-back.ts";
import type { RequestFacts } from "./request-facts.ts";
import type { Target } from "./target.ts";

export interface RestoreInput {
  readonly ledger: Ledger;
  readonly scope: string;
  readonly body: Body;
  readonly reading: Reading;
  readonly facts: RequestFacts;
  readonly target: Target;
  /** Groups that a refusal keeps out of requests to this target. */
  readonly keptOut: (group: Group) => boolean;
  /** Which groups still have the prefix that they were made after; asked for models that bind to it. */
  readonly hasPrefix?: ((match: Match) => boolean) | undefined;
}

export interface Restored {
  /** Wire text; undefined if nothing was put back. */
  readonly text: string | undefined;
  readonly decisions: readonly Decision[];
  /** Decisions to be kept once the request is accepted. */
  readonly pins: readonly { readonly key: string; readonly group: string }[];
  /** The answers that were known again, in order. */
  readonly groups: readonly Group[];
  /** The last answer, if it was known again: the parent of the next one. */
  readonly last?: Group | undefined;
  readonly restored: number;
  readonly restorable: number;
  readonly carried: number;
}

export function restore(input: RestoreInput): Restored {
  const { ledger, scope, body, reading, facts, target } = input;
  const matches = new Matcher(ledger.index, scope, ledger.mark, facts).match(reading);
  const edits = new PutBack(body, target);
  const decisions: Decision[] = [];
  let [restored, restorable, carried] = [0, 0, 0];
  // On models that bind thoughts to their prefix, nothing goes back after the first that cannot (failures.md C04).
  let bound = true;
  const seen = new Set<Group>();
  for (const match of matches.matched) {
    // A client that doubled an answer did not double its thoughts.
    if (seen.has(match.group)) continue;
    seen.add(match.group);
    const stretch = reading.stretches[match.stretch] as Stretch;
    const fates = fatesOf(match, stretch);
    const missing = fates.fates.filter(({ is }) => is !== "as issued").length;
    carried += fates.fates.length - missing;
    bound &&= input.hasPrefix?.(match) ?? true;
    const why = missing === 0 ? undefined : reasonAgainst(input, match, fates, bound);
    restorable += why === undefined ? fates.fates.length : fates.fates.length - missing;
    const raw = missing === 0 || why !== undefined ? undefined : ledger.thoughtsOf(match.group.id);
    const isPut = raw !== undefined && edits.add(match, stretch, fates.fates, raw);
    if (isPut) restored += missing;
    if (fates.fates.length > 0)
      decisions.push(decisionOf(match, stretch, fates, { isPut, why, missing }, body.dialect));
  }
  for (const { stretch, atom, why } of matches.undecided)
    decisions.push({
      where: whereOf(body.dialect, reading.stretches[stretch]?.atoms[atom]?.piece.at.element ?? 0),
      what: "left out",
      why,
      thoughts: 0,
    });
  return {
    text: restored === 0 ? undefined : withEdits(body, edits.edits()),
    decisions,
    pins: pinsOf(matches),
    groups: matches.matched.map(({ group }) => group),
    last: lastOf(matches, reading),
    restored,
    restorable,
    carried,
  };
}

function reasonAgainst(
  { facts, target, keptOut }: RestoreInput,
  { group }: Match,
  { others }: Fates,
  bound: boolean,
): string | undefined {
  // What the client wrote in its place is its own deed.
  if (others.length > 0) return "the client sends another thought here";
  if (keptOut(group)) return "the provider refused it here before";
  if (!bound) return "the history before it has changed";
  return whyNot(group, facts, target);
}

function decisionOf(
  { group, tier }: Match,
  { atoms }: Stretch,
  { fates }: Fates,
  {
    isPut,
    why,
    missing,
  }: { readonly isPut: boolean; readonly why: string | undefined; readonly missing: number },
  dialect: Dialect,
): Decision {
  const where = whereOf(dialect, atoms[0]?.piece.at.element ?? 0);
  const base = { where, group: group.id, tier, thoughts: missing };
  if (missing === 0) return { ...base, what: "as issued", thoughts: fates.length };
  if (!isPut) return { ...base, what: "left out", why: why ?? "its place or its text is gone" };
  return { ...base, what: fates.some(({ is }) => is === "changed") ? "replaced" : "put back" };
}

export function whereOf(dialect: Dialect, element: number): string {
  return dialect === "openai-responses" ? `input[${element}]` : `messages[${element}]`;
}

function pinsOf({ matched, undecided }: Matches): Restored["pins"] {
  return [
    ...matched
      .filter(({ tier }) => tier !== "pin")
      .map(({ pinKey, group }) => ({ key: pinKey, group: group.id })),
    ...undecided.filter(({ why }) => why !== "pinned").map(({ pinKey }) => ({ key: pinKey, group: NOTHING })),
  ];
}

/** Known only if the last answer of the request is. */
function lastOf({ matched }: Matches, { stretches }: Reading): Group | undefined {
  const last = matched.at(-1);
  const stretch = stretches.length - 1;
  const whole = last?.stretch === stretch && last.atom + last.count === stretches[stretch]?.atoms.length;
  return whole ? last?.group : undefined;
}
