/** Requests as people view them: the next one, a past one, and what a switch of model would drop. */

import type { Decision, ResponseStart, Settings } from "../events/index.ts";

/** The next request, as it would be sent. */
export interface RequestPreview {
  /** The exact body. */
  readonly body: string;
  /** SHA-256 of the body, in hex. */
  readonly bodyHash: string;
  readonly items: readonly PreviewItem[];
  readonly decisions: readonly Decision[];
  /** The numbered rules that the request would break. Empty if the request is sound. */
  readonly violations: readonly { readonly rule: string; readonly index: number; readonly message: string }[];
}

/** One item or message of a request. */
export interface PreviewItem {
  readonly type: string;
  readonly role?: string | undefined;
  /** The size of its JSON text. */
  readonly bytes: number;
  /** The beginning of its text. */
  readonly head: string;
}

/** How much reasoning another model would get. */
export interface SwitchPreview {
  /** How many reasoning items the other model will get. */
  readonly kept: number;
  /** How many it will not get. They stay in the log for the model that made them. */
  readonly dropped: number;
  /** The number of dropped items by reason. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** Options of `explain`. */
export interface ExplainOptions {
  /** The number of a request, counted from 1. Default: the next request. */
  readonly request?: number | undefined;
}

/** A past request, rebuilt from the log. */
export interface RebuiltRequest {
  /** Counted from 1 over the whole log. */
  readonly request: number;
  /** The event that recorded the request and its hash. */
  readonly start: ResponseStart;
  readonly settings: Settings;
  /** The exact body that was sent, if `proof` is "same". */
  readonly body: string;
  /**
   * `same`: the body has the recorded hash. `differs`: it has not. `other_renderer`: another version of the library
   * rendered it.
   */
  readonly proof: "same" | "differs" | "other_renderer";
  readonly decisions: readonly Decision[];
}
