/**
 * Which thoughts the next request does not carry, and why, in words for people. The marks follow from the decisions for
 * the next request to the model now chosen, so they disappear when a person switches back.
 */

import type { Decision, Origin, Reason } from "../../base/events/index.ts";
import { inertLine } from "../../base/support/index.ts";
import type { Block, ReasoningBlock } from "./block.ts";

/** Why a thought is not in the next request. */
export interface UnsentThought {
  readonly reason: Reason;
  /** "made for gpt-5 at another endpoint": follows "Not sent ·". */
  readonly words: string;
  /** "gpt-5 at api.example.com". */
  readonly madeBy: string;
  /** The model that the next request goes to, in the same form. */
  readonly nowInUse: string;
  /** When it goes along again: "when you switch back; nothing is lost". */
  readonly sentAgain: string;
}

/** How many thoughts are shown, and how many of them the next request carries. */
export interface ThoughtCount {
  readonly total: number;
  readonly going: number;
}

/** The marks of thoughts, computed from what `explain()` returns for the next request. */
export class ThoughtMarks {
  readonly #decisions = new Map<number, Decision>();
  readonly #inUse: Origin | undefined;

  /** `inUse` is the origin of the model now chosen: `handle.model.settings.target`. */
  constructor(decisions: readonly Decision[], inUse: Origin | undefined) {
    for (const one of decisions) if (one.type === "reasoning") this.#decisions.set(one.seq, one);
    this.#inUse = inUse;
  }

  /** Returns undefined if the thought goes along, is still generating, or is newer than the decisions. */
  of(block: ReasoningBlock): UnsentThought | undefined {
    const inUse = this.#inUse;
    const { ended } = block;
    // The decision about an open response would call it lost, although it may still end.
    if (inUse === undefined || block.generating || ended === undefined) return undefined;
    const omitted = block.seqs
      .map((seq) => this.#decisions.get(seq))
      .find((one) => one !== undefined && one.action !== "replay");
    if (omitted === undefined && block.seqs.length > 0) return undefined;
    const reason = omitted?.reason ?? OF_PARTIAL[ended];
    const { words, again } = WORDS[reason](block, inUse);
    const noted = omitted?.action === "translate" ? ", its summary goes along as a note" : "";
    return {
      reason,
      words: `${words}${noted}`,
      madeBy: reason === "foreign_origin" ? sealedFor(block.origin, inUse) : nameOf(block.origin, inUse),
      nowInUse: nameOf(inUse, block.origin),
      sentAgain: again,
    };
  }

  /** Counts the thoughts whose fate is known. */
  count(blocks: readonly Block[]): ThoughtCount {
    let total = 0;
    let going = 0;
    for (const block of blocks) {
      if (block.kind !== "reasoning" || this.#inUse === undefined) continue;
      if (block.generating || block.ended === undefined) continue;
      if (!block.seqs.every((seq) => this.#decisions.has(seq))) continue;
      total += 1;
      if (this.of(block) === undefined) going += 1;
    }
    return { total, going };
  }
}

/** The marks before anything is known: no thought has one. */
export const NO_MARKS = new ThoughtMarks([], undefined);

/** "3 of 3 thoughts go along", "1 of 7 thoughts goes along"; nothing without a thought. */
export function thoughtsGoingWords({ total, going }: ThoughtCount): string {
  if (total === 0) return "";
  const one = going === 1 || total === 1;
  return `${going} of ${total} ${total === 1 ? "thought" : "thoughts"} ${one ? "goes" : "go"} along`;
}

/** "Next request: 3 of 3 thoughts go along"; nothing without a thought. */
export function nextRequestWords(count: ThoughtCount): string {
  return count.total === 0 ? "" : `Next request: ${thoughtsGoingWords(count)}`;
}

/** A part of a thought that never finished is no item of the log, so nothing is decided about it. */
const OF_PARTIAL: Readonly<Record<NonNullable<ReasoningBlock["ended"]>, Reason>> = {
  cancelled: "response_cancelled",
  cut: "response_cut",
  failed: "response_failed",
  incomplete: "response_incomplete",
  never: "response_open",
  completed: "for_people",
};

interface Told {
  readonly words: string;
  readonly again: string;
}

const NEVER = "no; only whole responses are sent back. The log keeps it";
const KEPT = "no; the log keeps it";
const BACK = "when you switch back; nothing is lost";

const always =
  (words: string, again = KEPT) =>
  (): Told => ({ words, again });

/** "…, attempt 2 took its place". */
const replaced =
  (words: string) =>
  ({ replacedBy }: ReasoningBlock): Told => ({
    words: replacedBy === undefined ? words : `${words}, attempt ${replacedBy} took its place`,
    again: replacedBy === undefined ? NEVER : "no; the later attempt goes along instead",
  });

/** One entry for each reason, so that a new one cannot be forgotten. */
const WORDS: Readonly<Record<Reason, (block: ReasoningBlock, inUse: Origin) => Told>> = {
  override: always("refused by the provider, the request was repeated without it"),
  response_cancelled: always("the turn was stopped", NEVER),
  response_cut: replaced("the stream was cut"),
  response_failed: replaced("the response failed"),
  response_open: replaced("the response never ended"),
  superseded: replaced("another answer was taken instead"),
  response_incomplete: always("its response was cut off by a limit", NEVER),
  foreign_origin: ({ origin }, inUse) => ({ words: foreignWords(origin, inUse), again: BACK }),
  compacted: always("compacted, the summary stands for it", "no; the summary goes along instead"),
  no_follower: always("nothing of its response follows"),
  no_payload: always("came without its sealed part"),
  id_invalid: always("its id cannot be sent back"),
  id_repeated: always("its id is already in the request"),
  not_a_reasoning_model: always("this model takes no thoughts", "with a model that takes them"),
  replay_policy: always("left out by your replay setting", "when you change the setting"),
  prefix_changed: always(
    "the conversation before it has changed",
    "in the version it was made in; the log keeps it",
  ),
  left_branch: always("on another version", "when you return to that version"),
  item_not_replayable: always("a part of its response cannot be sent back"),
  unknown_type: always("a part of its response cannot be sent back"),
  empty: always("a part of its response is empty"),
  for_people: always("it never finished", NEVER),
  user_input: always("left out"),
  same_origin: always("left out"),
  call_result: always("left out"),
};

function foreignWords(origin: Origin, inUse: Origin): string {
  const model = inertLine(origin.model, 80);
  if (origin.endpoint !== inUse.endpoint) return `made for ${model} at another endpoint`;
  if (origin.model !== inUse.model) return `made by ${model}, this model cannot read it`;
  if (origin.dialect !== inUse.dialect || origin.provider !== inUse.provider)
    return `made for ${model} through another API`;
  return "made under another account";
}

function sealedFor(origin: Origin, inUse: Origin): string {
  const sealed = origin.endpoint !== inUse.endpoint ? "that endpoint" : "the account that asked for it";
  const isModel = origin.endpoint === inUse.endpoint && origin.model !== inUse.model;
  return `${nameOf(origin, inUse)}, sealed for ${isModel ? "that model" : sealed}`;
}

/** "gpt-5 at api.example.com"; with the whole address if the other one has the same host. */
function nameOf(origin: Origin, other: Origin): string {
  const host = hostOf(origin.endpoint);
  const sameHost = origin.endpoint !== other.endpoint && host === hostOf(other.endpoint);
  return `${inertLine(origin.model, 80)} at ${inertLine(sameHost ? origin.endpoint : host, 120)}`;
}

function hostOf(endpoint: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?([^/?#]+)/i.exec(endpoint)?.[1] ?? endpoint;
}
