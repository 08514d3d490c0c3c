/**
 * The unit of display, the same from live events and from history. Fragments reduce to blocks.
 *
 * An item is addressed by `item`: its response and output index. A `…_start` begins it afresh, so that the finished item
 * from the log, told in the same fragments and `final`, takes the place of what was streamed.
 */

import type { ErrorInfo, ToolStatus, TurnStatus, Usage } from "../../base/events/index.ts";

export type Fragment =
  /** What was shown before is void. */
  | { readonly type: "reset" }
  | {
      readonly type: "user";
      readonly seq: number;
      readonly at: string;
      readonly text: string;
      readonly by: "person" | "runtime";
    }
  | {
      readonly type: "response_start";
      readonly seq: number;
      readonly response: string;
      readonly turn: string | undefined;
      readonly step: number;
      readonly attempt: number;
      readonly model: string;
      /** Item events this request left out because another model made them, as ranges of seq; undefined when it is as before. */
      readonly leftOut: readonly (readonly [from: number, to: number])[] | undefined;
    }
  | {
      readonly type: "reasoning_start";
      readonly item: string;
      readonly response: string;
      readonly final: boolean;
    }
  | {
      readonly type: "reasoning_part_start";
      readonly item: string;
      readonly part: number;
      readonly title: string | undefined;
    }
  | { readonly type: "reasoning_delta"; readonly item: string; readonly part: number; readonly text: string }
  | {
      readonly type: "reasoning_end";
      readonly item: string;
      readonly seq: number | undefined;
      readonly startedAt: string | undefined;
      readonly durationMs: number | undefined;
    }
  | {
      readonly type: "text_start";
      readonly item: string;
      readonly response: string;
      readonly final: boolean;
      readonly phase: string | undefined;
    }
  | { readonly type: "text_delta"; readonly item: string; readonly text: string }
  | { readonly type: "text_end"; readonly item: string; readonly seq: number | undefined }
  | {
      readonly type: "tool_call_start";
      readonly item: string;
      readonly response: string;
      readonly final: boolean;
      readonly name: string;
    }
  | { readonly type: "tool_call_delta"; readonly item: string; readonly text: string }
  | { readonly type: "tool_call_end"; readonly item: string; readonly seq: number; readonly callId: string }
  | { readonly type: "tool_start"; readonly response: string; readonly callId: string; readonly at: string }
  | {
      readonly type: "tool_progress";
      readonly response: string;
      readonly callId: string;
      readonly text: string;
    }
  | {
      readonly type: "tool_output";
      readonly response: string;
      readonly callId: string;
      readonly status: ToolStatus;
      readonly text: string;
      readonly durationMs: number | undefined;
    }
  | {
      readonly type: "permission_request";
      readonly response: string;
      readonly callId: string;
      readonly requestId: string;
    }
  | {
      readonly type: "permission_decision";
      readonly response: string;
      readonly callId: string;
      readonly decision: "allow" | "deny";
    }
  | {
      readonly type: "response_end";
      readonly response: string;
      readonly status: string;
      readonly usage: Usage | undefined;
    }
  /** What is shown is the path up to `to`, which may be one that was left before. */
  | { readonly type: "branch"; readonly seq: number; readonly to: number }
  | {
      readonly type: "notice";
      readonly seq: number | undefined;
      readonly key: string;
      readonly code: string;
      readonly text: string;
      readonly waitMs?: number;
    }
  | {
      readonly type: "turn_end";
      readonly seq: number;
      readonly turn: string;
      readonly status: TurnStatus;
      readonly reason: string | undefined;
      readonly error: ErrorInfo | undefined;
      readonly steps: number;
      readonly usage: Usage;
      readonly durationMs: number;
    };

export function itemKey(response: string, outputIndex: number): string {
  return `${response}/${outputIndex}`;
}
