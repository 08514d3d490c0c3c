/**
 * What an accepted repair means for later requests of the same conversation: they carry it without another refusal. It is
 * remembered by what was refused, and exactly what was done, so nothing else is forgotten.
 */

import { isObject } from "../../base/support/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { readPieces } from "../marks/index.ts";
import { type Body, elementText } from "../restore/index.ts";
import { answerKey, elementKeys, KEPT_OUT, LEFT_OUT, payloadKeys, WITHOUT } from "./element-keys.ts";

export interface Accepted {
  readonly ledger: Ledger;
  readonly scope: string;
  readonly at: number;
  /** The request that was refused first, and the one that was accepted. */
  readonly refused: Body;
  readonly accepted: Body;
  readonly classes: ReadonlySet<string>;
  /** The answers whose thoughts were put back into the refused request. */
  readonly putBack: readonly { readonly id: string; readonly identities: readonly string[] }[];
}

export function rememberRepair(given: Accepted): void {
  const { ledger, scope, at, refused, accepted, classes, putBack } = given;
  const { mark } = ledger;
  const note = (key: string, what: string): void => {
    if (key !== "") void ledger.record({ type: "override", at, scope, key, what });
  };
  const left = new Set(payloadKeys(accepted, mark).flat());
  for (const identity of new Set(payloadKeys(refused, mark).flat()))
    if (!left.has(identity)) note(identity, LEFT_OUT);
  for (const { id, identities } of putBack)
    if (!identities.every((identity) => left.has(identity))) note(answerKey(id, mark), KEPT_OUT);
  const keys = elementKeys(refused, mark);
  const touched = touchedElements(refused, accepted);
  for (const { index, done } of touched)
    for (const what of done.length > 0 ? done : classes) note(keys[index] ?? "", what);
  // Only a parameter changed: thinking is off while this turn is open.
  if (touched.length === 0) {
    const last = refused.values.findLastIndex((_, index) => isOfModel(refused, index));
    for (const what of classes) note(keys[last] ?? "", what);
  }
}

interface Touched {
  readonly index: number;
  /** Exactly what was done; empty if the rules of the class must do it again. */
  readonly done: readonly string[];
}

/** The elements that the repair changed, and the ones before something that it added. */
function touchedElements(refused: Body, accepted: Body): readonly Touched[] {
  const old = refused.values.map((_, index) => elementText(refused, index));
  const made = accepted.values.map((_, index) => elementText(accepted, index));
  const kept = new Set(made);
  const before = new Set(old);
  const fresh = made.flatMap((text, index) => (before.has(text) ? [] : [index]));
  const used = new Set<number>();
  const touched = old.flatMap((text, index): readonly Touched[] => {
    if (kept.has(text)) return [];
    if (refused.dialect !== "openai-responses") return [{ index, done: [] }];
    const stripped = fresh.find(
      (one) => !used.has(one) && lostMembers(refused.values[index], accepted.values[one]) !== undefined,
    );
    if (stripped === undefined) return [{ index, done: [LEFT_OUT] }];
    used.add(stripped);
    const lost = lostMembers(refused.values[index], accepted.values[stripped]) ?? [];
    return [{ index, done: lost.map((member) => `${WITHOUT}${member}`) }];
  });
  const added = fresh
    .filter((index) => !used.has(index))
    .map((index) => ({ index: anchorOf(index, made, old), done: [] }));
  return refused.dialect === "openai-responses"
    ? [...touched, ...added]
    : touched.length > 0
      ? touched
      : added;
}

/** The members that an element lost; undefined if it is another one, or changed otherwise. */
function lostMembers(old: unknown, now: unknown): readonly string[] | undefined {
  if (!isObject(old) || !isObject(now)) return undefined;
  const lost = Object.keys(old).filter((key) => !Object.hasOwn(now, key));
  const isSame = Object.keys(now).every((key) => JSON.stringify(now[key]) === JSON.stringify(old[key]));
  return lost.length > 0 && isSame ? lost : undefined;
}

function anchorOf(index: number, made: readonly string[], old: readonly string[]): number {
  for (let at = index - 1; at >= 0; at -= 1) {
    const found = old.indexOf(made[at] ?? "");
    if (found !== -1) return found;
  }
  return 0;
}

function isOfModel({ dialect, values }: Body, index: number): boolean {
  return readPieces(dialect, values[index], index).some(({ kind }) => kind === "text" || kind === "call");
}
