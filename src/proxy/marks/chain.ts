/**
 * The place of an answer: hash chains over everything visible before it. A chain grows with the history, so an answer is
 * known again in every later request whose history begins in the same way.
 */

import type { InputPiece, Mark, ModelPiece, ResultPiece, VisiblePiece } from "./piece.ts";

/** What stands before a piece of the model, in five degrees of exactness. */
export interface Keys {
  /** Everything visible. */
  readonly place: string;
  /** Everything the model said, and the gist of everything that people said. */
  readonly loose: string;
  /** Everything the model said itself; empty if it said nothing. */
  readonly spine: string;
  /** The spine, and everything since the last of it: results, and the gist of what people said. */
  readonly near: string;
  /** Results and gists since the model's previous words; empty if there is nothing. */
  readonly local: string;
}

type Given = InputPiece | ResultPiece;

/** The state of a chain. It is a value: a copy goes on independently. */
interface State {
  readonly place: string;
  readonly loose: string;
  readonly spine: string;
  readonly local: string;
  /** What was said to the model since its last words. */
  readonly given: readonly Given[];
  /** Text of the model that may go on: a client may split or join it. */
  readonly text: string;
  /** The calls since the last input, for the numbers of their results. */
  readonly calls: readonly string[];
}

const START: State = { place: "", loose: "", spine: "", local: "", given: [], text: "", calls: [] };

export class Chain {
  readonly #mark: Mark;
  #state: State;

  /** `from` is the place that a conversation on the server goes on from. */
  constructor(mark: Mark, from = "") {
    this.#mark = mark;
    this.#state = from === "" ? START : { ...START, place: from, loose: from, spine: from };
  }

  copy(): Chain {
    const chain = new Chain(this.#mark);
    chain.#state = this.#state;
    return chain;
  }

  push(piece: VisiblePiece): void {
    const state = this.#state;
    if (piece.kind === "input" || piece.kind === "result") {
      const closed = this.#withoutOpenText(state);
      this.#state = { ...closed, given: [...closed.given, piece] };
      return;
    }
    const open = this.#withoutGiven(state);
    this.#state =
      piece.kind === "text" ? { ...open, text: open.text + piece.text } : this.#withCall(open, piece);
  }

  /** Where the model's next words stand. */
  keys(): Keys {
    const { place, loose, spine, local } = this.#withoutOpenText(this.#withoutGiven(this.#state));
    return { place, loose, spine, local, near: spine === "" ? "" : this.#mark(`near\n${spine}\n${local}`) };
  }

  #withoutGiven(state: State): State {
    if (state.given.length === 0) return state;
    const exact = segment(state.given, state.calls);
    const local = this.#mark(`local\n${segment(withGists(state.given), state.calls)}`);
    return {
      ...state,
      place: this.#mark(`${state.place}\ngiven\n${exact}`),
      loose: this.#mark(`${state.loose}\nloose\n${firstGists(state.given)}`),
      local,
      given: [],
      calls: [],
    };
  }

  #withoutOpenText(state: State): State {
    return state.text === "" ? state : { ...this.#said(state, `text\n${state.text}`), text: "" };
  }

  #withCall(state: State, call: ModelPiece & { readonly kind: "call" }): State {
    const closed = this.#withoutOpenText(state);
    return { ...this.#said(closed, `call\n${call.text}`), calls: [...closed.calls, call.callId] };
  }

  #said(state: State, what: string): State {
    const mark = this.#mark(what);
    return {
      ...state,
      place: this.#mark(`${state.place}\n${mark}`),
      loose: this.#mark(`${state.loose}\nloose ${mark}`),
      spine: this.#mark(`${state.spine}\nspine ${mark}`),
      local: state.local === "" ? "" : this.#mark(`${state.local}\n${mark}`),
    };
  }
}

/** Results stand in the order of their calls, and neighbouring messages of one role count as one. */
function segment(given: readonly Given[], calls: readonly string[]): string {
  const lines: string[] = [];
  const results: { readonly number: number; readonly text: string }[] = [];
  let role = "";
  for (const piece of given) {
    if (piece.kind === "result") {
      results.push({ number: calls.indexOf(piece.callId), text: piece.text });
      continue;
    }
    if (piece.text === "") continue;
    if (piece.role !== role) lines.push(`\u0000${piece.role}`);
    ({ role } = piece);
    lines.push(piece.text);
  }
  const sorted = results.toSorted((a, b) => a.number - b.number);
  return [...sorted.map(({ number, text }) => `\u0001${number}\n${text}`), ...lines].join("\n");
}

/** The first message of each role: reminders may be messages of their own. Results are left out: clients clear old ones. */
function firstGists(given: readonly Given[]): string {
  const first = new Map<string, string>();
  for (const piece of given)
    if (piece.kind === "input" && piece.gist !== "" && !first.has(piece.role))
      first.set(piece.role, piece.gist);
  return [...first].flat().join("\n");
}

function withGists(given: readonly Given[]): readonly Given[] {
  return given.map((piece) => (piece.kind === "input" ? { ...piece, text: piece.gist } : piece));
}

/** A piece of the model in a request, and what stands before it. */
export interface Atom {
  readonly piece: ModelPiece;
  readonly keys: Keys;
  readonly mark: string;
  /** Hashes of the ids in it that no other answer can have. */
  readonly ids: readonly string[];
  readonly weight: number;
  /** How much the model said before it, and how much was said in all. */
  readonly spineWeight: number;
  readonly historyWeight: number;
}
