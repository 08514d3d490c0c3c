/** Requests as people view them: the next one, a past one, and what a switch of model would drop. */

import type { Decision, ResponseStart, Settings } from "../events/index.ts";

export interface RequestPreview {
  /** The exact body. */
  readonly body: string;
  readonly bodyHash: string;
  readonly items: readonly PreviewItem[];
  readonly decisions: readonly Decision[];
  /** Violations of the numbered rules. Empty if the request is sound. */
  readonly violations: readonly { readonly rule: string; readonly index: number; readonly message: string }[];
}

export interface PreviewItem {
  readonly type: string;
  readonly role?: string | undefined;
  readonly bytes: number;
  readonly head: string;
}

export interface SwitchPreview {
  /** Reasoning items that the other model will get. */
  readonly kept: number;
  /** Reasoning items that will not be sent, by reason. They stay in the log for the model that made them. */
  readonly dropped: number;
  readonly reasons: Readonly<Record<string, number>>;
}

export interface ExplainOptions {
  /** The nth request of the session, counted from 1. Default: the next one. */
  readonly request?: number | undefined;
}

export interface RebuiltRequest {
  /** Counted from 1 over the whole log. */
  readonly request: number;
  readonly start: ResponseStart;
  readonly settings: Settings;
  /** The exact body that was sent, if `proof` is "same". */
  readonly body: string;
  /** "differs": the log does not yield the bytes that were sent. "other_renderer": another version rendered them. */
  readonly proof: "same" | "differs" | "other_renderer";
  readonly decisions: readonly Decision[];
}
