/**
 * Blocks are what a viewer draws. `generating` says that more content is coming. Whether a block is unfolded is up to the
 * viewer and not part of it (law 9).
 */

import type { ErrorInfo, ToolStatus, TurnStatus, Usage } from "../../base/events/index.ts";

interface Base {
  readonly id: string;
  /** True while a writer is alive and the response is open or the tool is running. */
  readonly generating: boolean;
  /** True if a later attempt replaced it, so that viewers fold it away. */
  readonly superseded: boolean;
}

export interface BlockPart {
  readonly title: string | undefined;
  readonly body: string;
}

export interface UserBlock extends Base {
  readonly kind: "user";
  readonly seq: number;
  readonly text: string;
  readonly by: "person" | "runtime";
}

/** A run of adjacent reasoning items of one response. */
export interface ReasoningBlock extends Base {
  readonly kind: "reasoning";
  readonly seqs: readonly number[];
  readonly model: string;
  readonly startedAt: string | undefined;
  readonly durationMs: number | undefined;
  /** Its reasoning tokens, if the response reports them and has no other reasoning block. */
  readonly tokens: number | undefined;
  readonly parts: readonly BlockPart[];
  /** True if it never finished. */
  readonly cut: boolean;
  /** True if it is not sent to the current model and stays in the log for `model`. */
  readonly keptBack: boolean;
}

export interface TextBlock extends Base {
  readonly kind: "text";
  readonly seq: number | undefined;
  readonly text: string;
  readonly phase: string | undefined;
  readonly cut: boolean;
}

export interface ToolBlock extends Base {
  readonly kind: "tool";
  readonly seq: number | undefined;
  readonly callId: string | undefined;
  readonly name: string;
  readonly arguments: string;
  readonly progress: string;
  readonly permission:
    | { readonly requestId: string; readonly decision: "allow" | "deny" | undefined }
    | undefined;
  readonly result:
    | { readonly status: ToolStatus; readonly text: string; readonly durationMs: number | undefined }
    | undefined;
  readonly cut: boolean;
}

export interface NoticeBlock extends Base {
  readonly kind: "notice";
  readonly code: string;
  readonly text: string;
  /** The time to count down for a wait; only live. */
  readonly waitMs: number | undefined;
}

export interface TurnEndBlock extends Base {
  readonly kind: "turn_end";
  readonly status: TurnStatus;
  readonly reason: string | undefined;
  readonly error: ErrorInfo | undefined;
  readonly steps: number;
  readonly usage: Usage;
  readonly durationMs: number;
}

export type Block = UserBlock | ReasoningBlock | TextBlock | ToolBlock | NoticeBlock | TurnEndBlock;
