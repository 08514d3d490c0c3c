/**
 * Indexes of a history for the remedies, built once. The time to repair a long history with thousands of violations grows
 * with its length, not with the square of its length.
 */

import { sliceArray, sliceMember } from "../../../base/support/index.ts";
import { isCallType, isOutputType } from "../../../runtime/rules/index.ts";
import { isMade } from "../formats/infer-groups.ts";
import type { History, Spot } from "../history.ts";
import { textMember } from "../json-text.ts";

/** The outline of a piece. */
export interface Outline {
  readonly type: string;
  readonly role: string | undefined;
  readonly id: string | undefined;
  readonly callId: string | undefined;
}

/** The place of a call id. */
export interface IdSpots {
  readonly calls: readonly Spot[];
  readonly results: readonly Spot[];
}

export class Lookup {
  readonly #history: History;
  readonly #outlines = new Map<number, Outline>();
  readonly #blocks = new Map<number, readonly string[]>();
  readonly #calls = new Map<number, readonly string[]>();
  #runs: ReadonlyMap<string, readonly number[]> | undefined;
  #ids: ReadonlyMap<string, IdSpots> | undefined;
  #items: ReadonlyMap<string, number> | undefined;

  constructor(history: History) {
    this.#history = history;
  }

  outline(index: number): Outline {
    return kept(this.#outlines, index, () => {
      const text = this.#text(index);
      return {
        type: textMember(text, "type") ?? "message",
        role: textMember(text, "role"),
        id: textMember(text, "id"),
        callId: textMember(text, "call_id") ?? textMember(text, "tool_call_id"),
      };
    });
  }

  /** Content blocks of an Anthropic message. */
  blocks(index: number): readonly string[] {
    return kept(this.#blocks, index, () => sliceArray(sliceMember(this.#text(index), "content") ?? ""));
  }

  /** Calls of a chat message. */
  calls(index: number): readonly string[] {
    return kept(this.#calls, index, () => sliceArray(sliceMember(this.#text(index), "tool_calls") ?? ""));
  }

  /** Whether the model or the provider made this item; only for Responses. */
  made(index: number): boolean {
    const text = this.#text(index);
    return text !== "" && isMade(text);
  }

  run(name: string): readonly number[] {
    this.#runs ??= grouped(
      this.#history.pieces.flatMap(({ run }, index) => (run === undefined ? [] : [[run, index]])),
    );
    return this.#runs.get(name) ?? [];
  }

  /** The first item that has this item id; a reference does not have it. */
  item(id: string): number | undefined {
    this.#items ??= new Map(
      [...this.#history.pieces.keys()].toReversed().flatMap((index) => {
        const { id: own, type } = this.outline(index);
        return own === undefined || type === "item_reference" ? [] : [[own, index] as const];
      }),
    );
    return this.#items.get(id);
  }

  /** Calls and results with this id; a missing id counts as an empty one. */
  ids(id: string): IdSpots {
    this.#ids ??= this.#collectIds();
    return this.#ids.get(id) ?? { calls: [], results: [] };
  }

  #text(index: number): string {
    return this.#history.pieces[index]?.text ?? "";
  }

  #collectIds(): ReadonlyMap<string, IdSpots> {
    const found = new Map<string, { calls: Spot[]; results: Spot[] }>();
    const add = (kind: "calls" | "results", id: string | undefined, spot: Spot): void => {
      const spots = found.get(id ?? "") ?? { calls: [], results: [] };
      spots[kind].push(spot);
      found.set(id ?? "", spots);
    };
    for (const index of this.#history.pieces.keys()) {
      const { type, role, callId } = this.outline(index);
      if (this.#history.dialect === "openai-responses") {
        if (isCallType(type)) add("calls", callId, { index });
        else if (isOutputType(type)) add("results", callId, { index });
      } else if (this.#history.dialect === "openai-chat") {
        for (const [part, call] of this.calls(index).entries())
          add("calls", textMember(call, "id"), { index, part });
        if (role === "tool") add("results", callId, { index });
      } else {
        for (const [part, block] of this.blocks(index).entries()) {
          const kind = textMember(block, "type");
          if (kind === "tool_use") add("calls", textMember(block, "id"), { index, part });
          else if (kind === "tool_result") add("results", textMember(block, "tool_use_id"), { index, part });
        }
      }
    }
    return found;
  }
}

/** The result of this call: behind it, and before the next call with the same id. */
export function resultOf({ calls, results }: IdSpots, call: Spot): Spot | undefined {
  const next = calls.find((other) => isBefore(call, other));
  return results.find((result) => isBefore(call, result) && (next === undefined || isBefore(result, next)));
}

export function isBefore(one: Spot, other: Spot): boolean {
  return one.index < other.index || (one.index === other.index && (one.part ?? 0) < (other.part ?? 0));
}

/** A result in front of the only call that it can answer: it was moved there, or the call was. */
export function earlyResult({
  calls,
  results,
}: IdSpots): { readonly result: Spot; readonly call: Spot } | undefined {
  const [call] = calls;
  const [result] = results;
  if (call === undefined || result === undefined || !isBefore(result, call)) return undefined;
  return resultOf({ calls, results }, call) === undefined ? { result, call } : undefined;
}

export const lookupOf = oncePerHistory((history) => new Lookup(history));

/** Remembers what was made for a history, so that its violations share it. */
export function oncePerHistory<T extends object>(make: (history: History) => T): (history: History) => T {
  const known = new WeakMap<History, T>();
  return (history) => {
    const made = known.get(history) ?? make(history);
    known.set(history, made);
    return made;
  };
}

function kept<T>(map: Map<number, T>, key: number, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function grouped(pairs: readonly (readonly [string, number])[]): ReadonlyMap<string, readonly number[]> {
  const groups = new Map<string, number[]>();
  for (const [key, index] of pairs) {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [index]);
    else group.push(index);
  }
  return groups;
}
