/**
 * The unit of display, the same for live events and for history. Fragments reduce to blocks.
 *
 * `item` addresses an item by its response and output index. A `…_start` restarts the item, so that the finished item
 * from the log, made of the same fragments with `final`, replaces the streamed one.
 */

import type {
  Branch,
  Elicitation,
  ErrorInfo,
  McpToolName,
  Origin,
  Purpose,
  ResponseStatus,
  ResultPart,
  ToolStatus,
  TurnStatus,
  Usage,
} from "../../base/events/index.ts";

/** The unit of display, the same for live events and for history. */
export type Fragment =
  /** Discards everything shown before. */
  | { readonly type: "reset" }
  | {
      readonly type: "user";
      readonly seq: number;
      readonly at: string;
      readonly turn: string | undefined;
      readonly text: string;
      readonly by: "person" | "runtime";
      /** True if the message joined a running turn. */
      readonly steer?: boolean | undefined;
      /** Set if the runtime leaves the path with it, for a request of its own. */
      readonly purpose?: Purpose | undefined;
    }
  | {
      readonly type: "response_start";
      readonly seq: number;
      readonly at: string;
      readonly response: string;
      readonly turn: string | undefined;
      readonly step: number;
      readonly attempt: number;
      readonly origin: Origin;
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
  | {
      readonly type: "tool_start";
      readonly response: string;
      readonly callId: string;
      readonly at: string;
      /** What the tool runs with, if its arguments were repaired. */
      readonly arguments?: string | undefined;
    }
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
      readonly at: string;
      readonly status: ToolStatus;
      readonly text: string;
      readonly durationMs: number | undefined;
      readonly sessions?: readonly string[] | undefined;
      readonly images?: readonly ResultPart[] | undefined;
      readonly forPerson?: string | undefined;
    }
  | {
      readonly type: "permission_request";
      readonly response: string;
      readonly callId: string;
      readonly at: string;
      readonly requestId: string;
      readonly arguments: string;
      readonly argumentsHash: string;
      readonly rule: string | undefined;
      /** Set for a tool of an MCP server. */
      readonly mcp?: McpToolName | undefined;
      /** The server has changed the tool since a person last allowed a call of it. */
      readonly changed?: boolean | undefined;
    }
  | {
      readonly type: "permission_decision";
      readonly response: string;
      readonly callId: string;
      readonly at: string;
      readonly decision: "allow" | "deny" | undefined;
    }
  | {
      readonly type: "elicitation_request";
      readonly response: string;
      readonly callId: string;
      readonly at: string;
      readonly requestId: string;
      readonly asked: Elicitation;
    }
  | {
      readonly type: "elicitation_answer";
      readonly response: string;
      readonly callId: string;
      readonly at: string;
      readonly requestId: string;
      readonly action: "accept" | "decline" | "cancel";
      readonly by: "person" | "policy";
    }
  | {
      readonly type: "response_end";
      readonly response: string;
      readonly status: ResponseStatus;
      readonly usage: Usage | undefined;
    }
  /** Tools of MCP servers that later requests declare: what the name of each stands for. */
  | {
      readonly type: "tools";
      readonly tools: readonly { readonly name: string; readonly mcp: McpToolName }[];
    }
  /** Shows the path up to `to`, which may be on an abandoned branch. */
  | {
      readonly type: "branch";
      readonly seq: number;
      readonly to: number;
      readonly why: Branch["why"];
    }
  | {
      readonly type: "notice";
      readonly seq: number | undefined;
      readonly at?: string | undefined;
      readonly key: string;
      readonly code: string;
      readonly text: string;
      readonly waitMs?: number;
    }
  | {
      readonly type: "turn_end";
      readonly seq: number;
      readonly at: string;
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
