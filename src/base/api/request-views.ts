/**
 * Requests as people look at them: the next one, a past one, and what a switch of model would leave behind.
 */

import type { Decision, ResponseStart, Settings } from "../events/index.ts";

export interface RequestPreview {
  /** The exact body. */
  readonly body: string;
  readonly bodyHash: string;
  readonly items: readonly PreviewItem[];
  readonly decisions: readonly Decision[];
  /** What the numbered rules object to; empty when the request is sound. */
  readonly violations: readonly { readonly rule: string; readonly index: number; readonly message: string }[];
}

export interface PreviewItem {
  readonly type: string;
  readonly role?: string | undefined;
  readonly bytes: number;
  readonly head: string;
}

export interface SwitchPreview {
  /** Reasoning that the other model will get. */
  readonly kept: number;
  /** Reasoning that will not travel, by reason. It stays in the log, for the model that made it. */
  readonly dropped: number;
  readonly reasons: Readonly<Record<string, number>>;
}

export interface ExplainOptions {
  /** The nth request of the session, from 1; default: the next one. */
  readonly request?: number | undefined;
}

export interface RebuiltRequest {
  /** From 1, over the whole log. */
  readonly request: number;
  readonly start: ResponseStart;
  readonly settings: Settings;
  /** The exact body that was sent, if `proof` is "same". */
  readonly body: string;
  /** "differs": the log does not give the bytes that were sent. "other_renderer": they were made by another version. */
  readonly proof: "same" | "differs" | "other_renderer";
  readonly decisions: readonly Decision[];
}
